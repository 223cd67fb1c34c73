"""Ways to get a language model wrong: the call."""

import torch

from attnconf.adapters import reference as adapter
from attnconf.conformance.chapters.language_model.mutants.shared import counted
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import language_model
from attnconf.reference.masks import causal, key_padding

last_only = Mutant(
    "LM-last-only",
    story="only the logits at the last id come back",
    breaks={"CALL-SHAPE-1"},
    hint="return all logits: who generates takes the last, who trains needs them all",
    replace={
        language_model.logits: lambda h, head, bias: h[:, -1:] @ head.T + (0 if bias is None else bias),
    },
)


def going_on(config, weights):
    seen = [0]

    def forward(ids, *, key_mask=None):
        style, frame = adapter.style_of(config), adapter.frame_of(config)
        x = language_model.rows_of(ids, weights["table.weight"], frame.scaled)
        x = counted(x, weights, frame.positions, torch.arange(ids.shape[1]) + seen[0])
        seen[0] += ids.shape[1]
        h = language_model.through_layers(x, weights, style, language_model.earlier(ids, key_mask))
        out = language_model.logits(h, language_model.head_of(weights), weights.get("head.bias"))
        return language_model.capped(out, frame.softcap)

    return forward


positions_go_on = Mutant(
    "LM-positions-go-on",
    story="positions are counted on from call to call",
    breaks={"CALL-REPEAT-1"},
    hint="count from 0 in every call, or keep the count with the caller's cache",
    replace={adapter.language_model: going_on},
)


def unmasked_without_gradients(ids, mask):
    before = causal(ids.shape[1], ids.shape[1])
    return before if mask is None or not torch.is_grad_enabled() else before & key_padding(mask)


fast_path_unmasked = Mutant(
    "LM-fast-path-unmasked",
    story="without gradients a faster path is taken, which forgets padding",
    breaks={"CALL-MODE-1"},
    hint="every path takes the same masks",
    replace={language_model.earlier: unmasked_without_gradients},
)


def first_sample_alone(x, weights, positions):
    return torch.cat([language_model.with_positions(x[:1], weights, positions), x[1:]])


positions_of_the_first = Mutant(
    "LM-positions-of-the-first",
    story="positions are added to the first sample of a batch, and to no other",
    breaks={"LM-BATCH-1"},
    hint="x + positions[None]: the same positions for every sample",
    replace={language_model.with_positions: first_sample_alone},
)
