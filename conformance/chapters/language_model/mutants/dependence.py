"""Ways to get a language model wrong: which logits read what."""

import torch

from attnconf.conformance.chapters.language_model.mutants.shared import at, layer_by_layer
from attnconf.conformance.engine.mutant import Mutant
from attnconf.conformance.engine.translations.models import padding_last
from attnconf.reference import encoder as encoders
from attnconf.reference import language_model
from attnconf.reference.masks import causal, key_padding


def seeing(before):
    """Return an earlier in which ``before(length)`` is seen, less padding."""

    def earlier(ids, mask):
        seen = before(ids.shape[1])
        return seen if mask is None else seen & key_padding(mask)

    return earlier


sees_ahead = Mutant(
    "LM-sees-ahead",
    story="ids see later ids",
    breaks={"LM-CAUSAL-1"},
    hint="give every layer a causal mask: it is not made by itself",
    replace={language_model.earlier: seeing(lambda length: torch.ones(length, length, dtype=torch.bool))},
)

one_ahead = Mutant(
    "LM-one-ahead",
    story="every id sees the one after it",
    breaks={"LM-CAUSAL-1"},
    hint="the diagonal is the last that is seen: torch.tril(ones), or hide torch.triu(ones, 1)",
    replace={language_model.earlier: seeing(lambda length: causal(length, length, 1))},
)

last_layer_open = Mutant(
    "LM-last-layer-open",
    story="the causal mask is forgotten in the last layer",
    breaks={"LM-CAUSAL-1"},
    hint="pass the mask to every layer",
    replace={
        language_model.through_layers: layer_by_layer(
            mask_of=lambda i, n, mask: torch.ones_like(mask) if i == n - 1 else mask
        ),
    },
)

later_layers_open = Mutant(
    "LM-later-layers-open",
    story="the causal mask reaches the first layer only",
    breaks={"LM-CAUSAL-1"},
    hint="pass the mask to every layer",
    replace={
        language_model.through_layers: layer_by_layer(mask_of=lambda i, n, mask: torch.ones_like(mask) if i else mask)
    },
)

centred_over_ids = Mutant(
    "LM-centred-over-ids",
    story="the mean over all ids is subtracted from each",
    breaks={"LM-CAUSAL-1"},
    hint="normalize over features; over the sequence later ids leak",
    replace={
        language_model.through_layers: lambda x, weights, style, mask: encoders.encoder(
            x - x.mean(dim=1, keepdim=True), weights, style, mask
        ),
    },
)

padding_instead = Mutant(
    "LM-padding-instead",
    story="where ids are padded, the padding mask takes the place of the causal one",
    breaks={"LM-CAUSAL-2"},
    hint="both hold: causal & padding",
    replace={
        language_model.earlier: lambda ids, mask: (
            causal(ids.shape[1], ids.shape[1]) if mask is None else key_padding(mask)
        ),
    },
)


def windowed(width):
    return seeing(lambda length: causal(length, length) & ~causal(length, length, -width))


only_itself = Mutant(
    "LM-only-itself",
    story="an id sees itself and no other",
    breaks={"LM-PAST-1"},
    hint="the mask is a triangle, not its diagonal",
    replace={language_model.earlier: windowed(1)},
)

two_ids = Mutant(
    "LM-two-ids",
    story="only the last two ids are seen in a layer",
    breaks={"LM-PAST-1"},
    hint="no window unless it is asked for",
    replace={language_model.earlier: windowed(2)},
)


def late(ids, weights, style, frame, mask):
    out = language_model.language_model(ids, weights, style, frame, mask)
    return torch.cat([torch.zeros_like(out[:, :1]), out[:, :-1]], dim=1)


logits_late = Mutant(
    "LM-logits-late",
    story="logits come out one place late: those at an id do not know it yet",
    breaks={"LM-PAST-1"},
    hint="the logits at id i are for id i + 1: shift the targets, not the logits",
    replace={language_model.language_model: late},
)

counted_backwards = Mutant(
    "LM-counted-backwards",
    story="positions are counted from the end, so that an id moves when one is added",
    breaks={"LM-PREFIX-1", "LM-POS-1"},
    hint="count from the beginning: 0, 1, 2, …",
    replace={language_model.with_positions: at(lambda x: torch.arange(x.shape[1]).flip(0))},
)

divided_by_length = Mutant(
    "LM-divided-by-length",
    story="the layers' input is divided by the root of the length",
    breaks={"LM-PREFIX-1", "LM-POS-1"},
    hint="nothing may depend on how many ids follow",
    replace={
        language_model.through_layers: lambda x, weights, style, mask: encoders.encoder(
            x / x.shape[1] ** 0.5, weights, style, mask
        ),
    },
)

no_positions = Mutant(
    "LM-no-positions",
    story="no positions are added",
    breaks={"LM-ORDER-1"},
    hint='add positions, or declare added-positions = "none": a causal model tells order by itself, but in one layer',
    replace={language_model.with_positions: lambda x, weights, positions: x},
)

one_position = Mutant(
    "LM-one-position",
    story="every id has position 0",
    breaks={"LM-ORDER-1"},
    hint="torch.arange(length)",
    replace={language_model.with_positions: at(lambda x: torch.zeros(x.shape[1], dtype=torch.long))},
)

undeclared_positions = Mutant(
    "LM-undeclared-positions",
    story="sinusoidal positions are added where none are declared",
    breaks={"LM-ORDER-1"},
    hint='declare added-positions = "sinusoidal"',
    replace={
        language_model.with_positions: lambda x, weights, positions: language_model.with_positions(
            x, weights, "sinusoidal" if positions == "none" else positions
        ),
    },
)

padding_ignored = Mutant(
    "LM-padding-ignored",
    story="the padding mask is ignored",
    breaks={"LM-PAD-1"},
    hint="join it with the causal mask",
    replace={language_model.earlier: lambda ids, mask: causal(ids.shape[1], ids.shape[1])},
)

padding_inverted = Mutant(
    "LM-padding-inverted",
    story="padding is what is seen, and ids are hidden",
    breaks={"LM-PAD-1"},
    hint="here True is an id; other code wants True where there is padding",
    replace={
        language_model.earlier: lambda ids, mask: (
            causal(ids.shape[1], ids.shape[1])
            if mask is None
            else causal(ids.shape[1], ids.shape[1]) & key_padding(~mask)
        ),
    },
)

padding_not_counted = Mutant(
    "LM-padding-not-counted",
    story="ids behind padding have the positions that they have without it, though each is said to keep its place",
    breaks={"LM-ORACLE-1"},
    hint='count places: torch.arange(length); or declare padded-positions = "counted"',
    replace={
        language_model.language_model: lambda ids, weights, style, frame, mask: padding_last(
            lambda ids, key_mask=None: language_model.language_model(ids, weights, style, frame, key_mask),
            ids,
            key_mask=mask,
        ),
    },
)
