"""The layers of an encoder and of a decoder: what each side of a component is made of, and what names it has."""

from dataclasses import dataclass

from attnconf.adapters.contract import COMPONENTS

# The parts of one layer, in the order in which they are used: (attentions, norms).
ENCODER, DECODER = (("attn",), ("norm1", "norm2")), (("self", "cross"), ("norm1", "norm2", "norm3"))


@dataclass
class Side:
    """The layers of an encoder or a decoder: how they are named, and their units."""

    under: str
    count: str
    parts: tuple[tuple[str, ...], tuple[str, ...]]
    layers: int
    last: str  # the name of a last norm, or nothing


def sides_of(component: str, layers: tuple[int, int]) -> list[Side]:
    """Return the sides of a component with so many layers."""
    known = COMPONENTS[component]
    parts = DECODER if known.decodes else ENCODER
    if not known.layered:
        return [Side("", "", (("attn",), ()), 1, "")]
    if not known.stacked:
        return [Side("", "", parts, 1, "")]
    if "source" not in known.attends:
        return [Side("layers", "config.num_layers", parts, layers[known.decodes], "norm")]
    return [
        Side("encoder.layers", "config.num_encoder_layers", ENCODER, layers[0], "encoder.norm"),
        Side("decoder.layers", "config.num_decoder_layers", DECODER, layers[1], "decoder.norm"),
    ]
