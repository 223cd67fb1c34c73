"""Ways to get a language model wrong: from vectors to logits."""

import torch

from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import language_model


def after(change):
    """Return logits that are changed by a function of logits and their head."""
    return lambda h, head, bias: change(language_model.logits(h, head, bias), head)


softmaxed = Mutant(
    "LM-softmax",
    story="probabilities come out, not logits",
    breaks={"LM-HEAD-1"},
    hint="leave the softmax to the loss: nn.functional.cross_entropy takes logits",
    replace={language_model.logits: after(lambda out, head: out.softmax(dim=-1))},
    source="stanford-cs336/assignment1-basics#37",
)

log_softmaxed = Mutant(
    "LM-log-softmax",
    story="log-probabilities come out, not logits",
    breaks={"LM-HEAD-1"},
    hint="leave the softmax to the loss",
    replace={language_model.logits: after(lambda out, head: out.log_softmax(dim=-1))},
)

logits_scaled = Mutant(
    "LM-logits-scaled",
    story="logits are divided by √E",
    breaks={"LM-HEAD-1"},
    hint="the head is a product, without a factor",
    replace={language_model.logits: after(lambda out, head: out / head.shape[1] ** 0.5)},
)

bias_forgotten = Mutant(
    "LM-head-bias-forgotten",
    story="the bias of the head is not added",
    breaks={"LM-HEAD-2"},
    hint='x @ head.T + bias, or declare head-bias = "no"',
    replace={language_model.logits: lambda h, head, bias: h @ head.T},
)

bias_subtracted = Mutant(
    "LM-head-bias-subtracted",
    story="the bias of the head is subtracted",
    breaks={"LM-HEAD-2"},
    hint="x @ head.T + bias",
    replace={language_model.logits: lambda h, head, bias: h @ head.T - (0 if bias is None else bias)},
)

cap_missing = Mutant(
    "LM-cap-missing",
    story="the cap is ignored",
    breaks={"LM-CAP-1"},
    hint="cap * tanh(logits / cap), or raise NotImplementedError",
    replace={language_model.capped: lambda out, softcap: out},
)

cap_undivided = Mutant(
    "LM-cap-undivided",
    story="logits are not divided by the cap before the tangent",
    breaks={"LM-CAP-1"},
    hint="cap * tanh(logits / cap)",
    replace={language_model.capped: lambda out, softcap: out if softcap is None else softcap * out.tanh()},
)

clamped = Mutant(
    "LM-logits-clamped",
    story="logits are cut off at the cap",
    breaks={"LM-CAP-1"},
    hint="cap * tanh(logits / cap): a cut passes no gradient on",
    replace={language_model.capped: lambda out, softcap: out if softcap is None else out.clamp(-softcap, softcap)},
)

tied_scaled = Mutant(
    "LM-tied-scaled",
    story="logits are divided by √E where the head is tied",
    breaks={"LM-TIE-1"},
    hint="tie the table as it is",
    replace={
        language_model.head_of: lambda weights: weights.get(
            "head.weight", weights["table.weight"] / weights["table.weight"].shape[1] ** 0.5
        ),
    },
    source="the T5 of transformers, on purpose",
)

tied_upside_down = Mutant(
    "LM-tied-shifted",
    story="the rows of a tied head are those of the ids before",
    breaks={"LM-TIE-1"},
    hint="head.weight = table.weight",
    replace={
        language_model.head_of: lambda weights: weights.get("head.weight", weights["table.weight"].roll(1, dims=0)),
    },
)

tied_copy = Mutant(
    "LM-tied-copy",
    story="the tied head is a copy of the table, through which no gradient reaches it",
    breaks={"LM-TIE-2"},
    hint="one parameter, used twice: head.weight = table.weight, not .data or a clone",
    replace={
        language_model.head_of: lambda weights: weights.get("head.weight", weights["table.weight"].detach().clone()),
    },
)


def halves_bound(h, head, bias):
    out = language_model.logits(h, head, bias)
    return out if out.dtype == torch.float64 else out.bfloat16().to(out.dtype)


logits_rounded = Mutant(
    "LM-logits-rounded",
    story="logits are computed in bfloat16, whatever the weights are",
    breaks={"CALL-FLOAT-1"},
    hint="autocast is the caller's choice",
    replace={language_model.logits: halves_bound},
)
