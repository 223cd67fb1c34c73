"""Ways to get a language model wrong: half precision."""

import torch

from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import language_model


def filled(x, weights, style, mask):
    torch.zeros_like(x[:1, :1, 0]).masked_fill(mask[..., :1, :1].reshape(-1, 1)[:1], -1e9)  # what it does to the scores
    return language_model.through_layers(x, weights, style, mask)


fill_too_large = Mutant(
    "LM-fill-too-large",
    story="hidden scores become -1e9, a number that float16 does not have",
    breaks={"LM-HALF-1"},
    hint='fill with float("-inf")',
    replace={language_model.through_layers: filled},
    raises={"LM-HALF-1"},
)
