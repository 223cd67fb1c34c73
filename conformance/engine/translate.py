"""Translate the reference, or a mutant, into the conventions that an implementation declares.

The reference and its mutants keep the first choice of each convention in contract.CONVENTIONS. To compare their numbers
with those of an implementation, inputs are translated on the way in and outputs on the way out. Example: with
``rope-pairing`` "half" declared, the features of x are reordered into pairs, and the output's back into halves.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import product

from attnconf.adapters.contract import COMPONENTS, CONVENTIONS, Build
from attnconf.conformance.engine.request import Implementation
from attnconf.conformance.engine.translations import Choice, attention, coordinates, layers, masks, models, positions


def in_conventions(implementation: Implementation, declares: Mapping[str, str]) -> Implementation:
    """Return an implementation that keeps the declared conventions, from one that keeps the reference's."""

    def choice(convention: str) -> str:
        return declares.get(convention, CONVENTIONS[convention][0])

    components, said = dict(implementation.components), _IN_CONFIGURATIONS & declares.keys()
    for name, translate in _TRANSLATED.items():
        if name in components and any(c in said or choice(c) != CONVENTIONS[c][0] for c in translated(name)):
            components[name] = translate(components[name], choice)
    if choice("mask-arguments") == "one":
        components |= {name: masks.one_mask(components[name], choice) for name in _MASKED if name in components}
    return replace(implementation, components=components, declares={**implementation.declares, **declares})


_MASKED = ("attention", "multi_head_attention")
# The conventions that change a component's numbers; the functions below translate them.
_OF_NUMBERS = frozenset(
    {
        "sinusoidal-output", "sinusoidal-layout", "sinusoidal-frequencies", "sinusoidal-offset", "grid-axes",
        "grid-layout", "learned-output", "learned-offset", "rope-pairing", "offset-rows", "t5-scale", "fourier-factor",
        "fourier-input", "fourier-order", "random-fourier-order", "rms-norm-weight", "rms-norm-cast", "rms-norm-eps",
        "word-end", "norm-order", "attention-scale", "glu-activated", "layer-norm-variance", "layer-norm-eps",
        "layer-norm-weight", "embedding-scale", "padding-row", "transformer-scale", "symbols",
        "rotary-inside", "padded-positions",
    }
)  # fmt: skip

# Of these, what a configuration says, too: a call that was made for another choice is translated into the first.
_IN_CONFIGURATIONS = frozenset({"layer-norm-variance", "layer-norm-eps", "rms-norm-eps"})


def translated(component: str) -> tuple[str, ...]:
    """Return the conventions of a component into which the reference is translated."""
    known = COMPONENTS[component].conventions if component in _TRANSLATED else ()
    return tuple(name for name in known if name in _OF_NUMBERS)


def telling(component: str, declares: Mapping[str, str]) -> frozenset[tuple[str, str]]:
    """Return the declared (convention, choice) pairs that change the component's numbers."""
    names = (*translated(component), *(("masks", "mask-arguments") if component in _MASKED else ()))
    return frozenset((name, choice) for name, choice in declares.items() if name in names)


def choices_of(component: str, convention: str) -> list[str]:
    """Return the choices of a convention that are one each: "any" is several."""
    return [choice for choice in COMPONENTS[component].choices(convention) if choice != "any"]


def others_than(component: str, declares: Mapping[str, str]) -> list[dict[str, str]]:
    """Return every other combination of conventions, smallest first.

    A combination is a dict of the choices that differ from the declared (or default) ones.
    """
    names = translated(component)
    sets = (
        dict(zip(names, choices, strict=True)) for choices in product(*(choices_of(component, name) for name in names))
    )
    now = {name: declares.get(name, CONVENTIONS[name][0]) for name in names}
    differences = ({name: choice for name, choice in each.items() if choice != now[name]} for each in sets)
    return sorted((d for d in differences if d), key=len)


_TRANSLATED: Mapping[str, Callable[[Build, Choice], Build]] = {
    "multi_head_attention": attention.multi_head_attention,
    "cached_attention": attention.multi_head_attention,
    "packed_attention": attention.multi_head_attention,
    "sinusoidal": positions.sinusoidal,
    "sinusoidal_2d": positions.sinusoidal_2d,
    "learned": positions.learned,
    "rotary": positions.rotary,
    "rotary_attention": positions.rotary_attention,
    "relative_bias_attention": positions.t5_attention,
    "fourier": coordinates.fourier,
    "coordinate_mlp": coordinates.coordinate_mlp,
    "random_fourier": coordinates.random_fourier,
    "layer_norm": layers.layer_norm,
    "rms_norm": layers.rms_norm,
    "bpe_trainer": models.bpe_trainer,
    "tokenizer": models.tokenizer,
    "detokenizer": models.detokenizer,
    "encoder_layer": layers.layer,
    "encoder": layers.layer,
    "decoder_layer": layers.layer,
    "decoder": layers.layer,
    "feed_forward": layers.feed_forward,
    "token_embedding": models.token_embedding,
    "token_attention": models.token_attention,
    "encoder_decoder": layers.layer,
    "transformer": models.transformer,
    "language_model": models.language_model,
}
