"""Ways to get encoder, decoder and Transformer together wrong: from vectors to logits."""

import torch

from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import transformer

softmaxed = Mutant(
    "TRF-softmax",
    story="probabilities come out, not logits",
    breaks={"TRF-HEAD-1"},
    hint="leave the softmax to the loss: nn.functional.cross_entropy takes logits",
    replace={transformer.logits: lambda x, table: torch.softmax(x @ table.T, dim=-1)},
    source="stanford-cs336/assignment1-basics#37",
)

log_softmaxed = Mutant(
    "TRF-log-softmax",
    story="log-probabilities come out, not logits",
    breaks={"TRF-HEAD-1"},
    hint="leave the softmax to the loss",
    replace={transformer.logits: lambda x, table: torch.log_softmax(x @ table.T, dim=-1)},
    source="the Annotated Transformer, on purpose",
)

logits_scaled = Mutant(
    "TRF-logits-scaled",
    story="logits are divided by √E",
    breaks={"TRF-HEAD-1"},
    hint="the head is a product, without a factor",
    replace={transformer.logits: lambda x, table: x @ table.T / x.shape[-1] ** 0.5},
)


def tied_to_source(weights):
    source, target, head = transformer.tables(weights)
    return source, target, source if "head.weight" not in weights else head


head_of_source = Mutant(
    "TRF-head-of-source",
    story="the tied head is the source's table",
    breaks={"TRF-TIE-1"},
    hint="what comes out are ids of the target",
    replace={transformer.tables: tied_to_source},
)


def smaller_where_tied(weights):
    source, target, head = transformer.tables(weights)
    return source, target, head if "head.weight" in weights else head / head.shape[1] ** 0.5


tied_scaled = Mutant(
    "TRF-tied-scaled",
    story="logits are divided by √E where the head is tied",
    breaks={"TRF-TIE-1"},
    hint="tie the table as it is",
    replace={transformer.tables: smaller_where_tied},
    source="the T5 of transformers, on purpose",
)


def copied_where_tied(weights):
    source, target, head = transformer.tables(weights)
    return source, target, head if "head.weight" in weights else head.detach().clone()


tied_copy = Mutant(
    "TRF-tied-copy",
    story="the tied head is a copy of the table, through which no gradient reaches it",
    breaks={"TRF-TIE-2"},
    hint="one parameter, used twice: head.weight = embedding.weight, not .data or a clone",
    replace={transformer.tables: copied_where_tied},
)
