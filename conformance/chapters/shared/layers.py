"""Layers and stacks as data: configuration, weights and inputs, drawn from a case, changed, and run.

In a case B is the batch, L the tokens (or targets), S the tokens of the memory.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from attnconf.adapters.contract import (
    DecoderConfig,
    DecoderLayerConfig,
    EncoderConfig,
    EncoderDecoderConfig,
    EncoderLayerConfig,
)
from attnconf.conformance.chapters.shared.members import (
    draw_relative,
    draw_scales,
    entries_of_encoders,
    inside,
    with_member,
)
from attnconf.conformance.chapters.shared.placements import norms_of, placed
from attnconf.conformance.engine.case import REGIMES, Case, Shape
from attnconf.conformance.engine.evidence import Failure, Unsupported
from attnconf.conformance.engine.request import Call, Reply
from attnconf.conformance.engine.subject import Subject
from attnconf.conformance.engine.translations.layers import divisors, eps_in_code, rotation
from attnconf.conformance.worker.slopes import slopes
from attnconf.reference.encoder import Style
from attnconf.reference.layer_norm import Divisor

BIAS = 0.5  # standard deviation of a bias and of a gain, where that of a feature is about 1
Weights = dict[str, Tensor]
_PROJECTIONS = ["attn", "out"], ["self", "out"], ["cross", "out"]  # of attention's output, by their place in a name


def as_the_tokens(call: Call) -> tuple[int, ...]:
    """Return the shape of the output of layers: that of the target, or of x."""
    return tuple(call.inputs["target" if "target" in call.inputs else "x"].shape)


def as_the_target(call: Call) -> tuple[int, ...]:
    """Return the shape of the output of a model: as long as the target, as wide as the model or its vocabulary."""
    return (*call.inputs["target"].shape[:2], getattr(call.config, "vocab_size", call.config.embed_dim))


def call_of(subject: Subject, config: Any, weights: Mapping[str, Tensor], inputs: Mapping[str, Tensor]) -> Call:
    """Return the call of a layer or stack, which returns as many and as wide tokens as it is given."""
    return Call(subject.component, config, weights, inputs, (), shape_of=as_the_tokens).shaped()


def run(subject: Subject, block: Call, **options: Any) -> Reply:
    """Return the subject's reply. Options (mode, cotangent, wrt, before, …) as in Request.

    Raises Failure or Unsupported.
    """
    return subject.call(block.asked(**options))


def run_unless_refused(subject: Subject, block: Call) -> Tensor | None:
    """Return the output for a sample without tokens, or None where the implementation's own code refuses that."""
    try:
        return run(subject, block).out
    except Failure as failure:
        if not failure.meant:
            raise
        return None


def masked_if_taken(subject: Subject, block: Call, **masks: Tensor) -> Call:
    """Return the block with masks, or without where the subject takes none: for what is asked of who takes none, too.

    Raises Failure.
    """
    masked = block.with_inputs(**masks)
    try:
        run(subject, masked)
    except Unsupported:
        return block
    return masked


def with_gradients(
    compute: Callable[[Call], Tensor], block: Call, cotangent: Tensor
) -> tuple[Tensor, dict[str, Tensor]]:
    """Return the output, and its gradients with respect to all weights and inputs by name."""

    def leaf(x: Tensor) -> Tensor:
        return x.clone().requires_grad_() if x.is_floating_point() else x

    weights, inputs = ({name: leaf(x) for name, x in group.items()} for group in (block.weights, block.inputs))
    out = compute(replace(block, weights=weights, inputs=inputs))
    leaves = {name: x for name, x in {**weights, **inputs}.items() if x.requires_grad}
    return out.detach(), dict(zip(leaves, slopes([(out, cotangent)], list(leaves.values())), strict=True))


# -- what is declared


def orders(subject: Subject) -> tuple[bool, ...]:
    """Return the values of ``norm_first`` that a decoder or a model has."""
    return {"post": (False,), "pre": (True,)}.get(subject.choice("norm-order"), (False, True))


def endings(subject: Subject) -> tuple[bool, ...]:
    """Return the values of ``final_norm`` that the subject has."""
    return {"either": (False, True), "always": (True,), "never": (False,)}[subject.choice("final-norm")]


def manner(subject: Subject, norm_first: bool) -> dict[str, Any]:
    """Return the entries of a configuration that say what is declared, for one value of ``norm_first``."""
    return {"norm_first": norm_first, **manner_besides(subject)}


def manner_besides(subject: Subject) -> dict[str, Any]:
    """Return those entries without the place of the norms."""
    return {
        "norm": subject.choice("norm-kind"),
        "activation": subject.choice("activation"),
        "gated": subject.choice("gated") == "yes",
        "bias": subject.choice("layer-bias") == "yes",
        **divisors(subject.choice),
        **rotation(subject.choice),
        **({} if subject.choice("eps") == "free" else {"eps": eps_in_code(subject.choice("eps"), torch.float64)}),
    }


def style_of(config: Any) -> Style:
    """Return the reference's style of a layer, stack or model; without dropout."""
    norms, divided = (config.norm_first, config.norm, config.eps), Divisor(config.norm_variance, config.norm_eps)
    besides = entries_of_encoders(config) if hasattr(config, "placement") else {}
    return Style(config.num_heads, *norms, config.activation, 0.0, divided, config.rms_eps, **besides)


def papers_norm(config: Any) -> bool:
    """Return whether layer norms divide by what the paper says, as torch's do."""
    return style_of(config).divisor == Divisor()


def causality(subject: Subject) -> bool:
    """Return whether an encoder is causal because it always is."""
    return subject.choice("causality") == "always"


# -- drawing


def shape(shown: str, *more: str) -> Shape:
    """Return the shape of cases of layers, as wide as all their heads; ``more``: further sizes."""
    sizes = " ".join(("B heads L head_width hidden", *more))
    return Shape(sizes, shown, {"width": "heads head_width"}, heads="heads", model="width", hidden="hidden")


def draw_linear(case: Case, name: str, rows: int, columns: int, bias: bool, size: float = 1.0) -> Weights:
    """Return the weights of a linear layer whose outputs have variance about size²."""
    weights = {f"{name}.weight": case.draw(f"{name}.weight", rows, columns) * (size / math.sqrt(columns))}
    if bias:
        weights[f"{name}.bias"] = case.draw(f"{name}.bias", rows) * BIAS
    return weights


def draw_attention(case: Case, name: str, bias: bool) -> Weights:
    width = case.width
    sizes = {"q": REGIMES[case.regime], "k": 1.0, "v": 1.0, "out": 1.0}
    drawn = [
        draw_linear(case, f"{name}.{part}", width, width, bias and part[0] in case.biases, size)
        for part, size in sizes.items()
    ]
    weights = {key: w for weights in drawn for key, w in weights.items()}
    return weights if case.projects else {**weights, **not_projecting(weights, f"{name}.out")}


def not_projecting(weights: Mapping[str, Tensor], name: str) -> Weights:
    """Return the weights of a linear layer, of this name among those given, that gives what it gets."""
    weight, bias = f"{name}.weight", weights.get(f"{name}.bias")
    identity = {weight: torch.eye(len(weights[weight])).to(weights[weight])}
    return identity if bias is None else {**identity, f"{name}.bias": torch.zeros_like(bias)}


def absent(case: Case, block: Call) -> set[str]:
    """Return the names of weights of a block that nobody has: those of an output projection, where there is none."""
    return set() if case.projects else {name for name in block.weights if name.split(".")[-3:-1] in _PROJECTIONS}


def draw_feed_forward(case: Case, name: str, gated: bool, bias: bool) -> Weights:
    width, bias = case.width, bias and "f" in case.biases
    weights = draw_linear(case, f"{name}.up", case.hidden, width, bias)
    if gated:
        weights |= draw_linear(case, f"{name}.gate", case.hidden, width, bias)
    return weights | draw_linear(case, f"{name}.down", width, case.hidden, bias)


def draw_norm(case: Case, name: str, config: Any) -> Weights:
    """Return a gain around 1 and, where the norm has one, a shift."""
    weights = {f"{name}.weight": 1 + BIAS * case.draw(f"{name}.weight", case.width)}
    if config.bias and config.norm == "layer" and "n" in case.biases:
        weights[f"{name}.bias"] = BIAS * case.draw(f"{name}.bias", case.width)
    return weights


def encoder_layer_weights(case: Case, config: Any, under: str = "") -> Weights:
    """Return the weights of an encoder layer; ``under`` ends with a point."""
    weights = with_member(case, config, draw_attention(case, f"{under}attn", config.bias), f"{under}attn")
    weights |= draw_feed_forward(case, f"{under}ff", config.gated, config.bias)
    for name in norms_of(config):
        weights |= draw_norm(case, f"{under}{name}", config)
    return weights | draw_scales(case, config, under)


def encoder_weights(case: Case, config: Any) -> Weights:
    """Return the weights of an encoder layer, or of a stack of them; a relative bias is that of all its layers."""
    if not hasattr(config, "num_layers"):
        return encoder_layer_weights(case, config) | draw_relative(case, config, "attn.")
    layers = stack_weights(case, config, config.num_layers, encoder_layer_weights)
    return layers | draw_relative(case, config, "")


def decoder_layer_weights(case: Case, config: Any, under: str = "") -> Weights:
    """Return the weights of a decoder layer; ``under`` ends with a point."""
    weights = draw_attention(case, f"{under}self", config.bias) | draw_attention(case, f"{under}cross", config.bias)
    weights |= draw_feed_forward(case, f"{under}ff", config.gated, config.bias)
    for i in (1, 2, 3):
        weights |= draw_norm(case, f"{under}norm{i}", config)
    return weights


def stack_weights(case: Case, config: Any, layers: int, layer: Any, under: str = "") -> Weights:
    """Return the weights of so many layers, drawn by ``layer``, each its own, and of a last norm."""
    weights: Weights = {}
    for i in range(layers):
        weights |= layer(case, config, f"{under}layers.{i}.")
    return weights | draw_norm(case, f"{under}norm", config) if config.final_norm else weights


def inputs_of(case: Case) -> Tensor:
    return case.draw("x", case.B, case.L, case.width)


def memory_of(case: Case) -> Tensor:
    return case.draw("memory", case.B, case.S, case.width)


def encoder_layer(subject: Subject, case: Case, placement: str) -> Call:
    """Return an encoder layer in the subject's manner, its norms in this place."""
    style = {**manner_besides(subject), **placed(placement), **inside(subject, case)}
    config = EncoderLayerConfig(case.width, case.heads, case.hidden, **style, causal=causality(subject))
    return call_of(subject, config, encoder_weights(case, config), {"x": inputs_of(case)})


def encoder(subject: Subject, case: Case, placement: str, final_norm: bool, layers: int = 2) -> Call:
    """Return an encoder in the subject's manner, the norms of its layers in this place."""
    width, style = case.width, {**manner_besides(subject), **placed(placement), **inside(subject, case)}
    config = EncoderConfig(
        width, case.heads, case.hidden, **style, causal=causality(subject), num_layers=layers, final_norm=final_norm
    )
    return call_of(subject, config, encoder_weights(case, config), {"x": inputs_of(case)})


def decoder_layer(subject: Subject, case: Case, norm_first: bool) -> Call:
    """Return a decoder layer in the subject's manner."""
    config = DecoderLayerConfig(case.width, case.heads, case.hidden, **manner(subject, norm_first))
    inputs = {"x": inputs_of(case), "memory": memory_of(case)}
    return call_of(subject, config, decoder_layer_weights(case, config), inputs)


def decoder(subject: Subject, case: Case, norm_first: bool, final_norm: bool, layers: int = 2) -> Call:
    """Return a decoder in the subject's manner."""
    style = manner(subject, norm_first)
    config = DecoderConfig(case.width, case.heads, case.hidden, **style, num_layers=layers, final_norm=final_norm)
    inputs = {"x": inputs_of(case), "memory": memory_of(case)}
    return call_of(subject, config, stack_weights(case, config, layers, decoder_layer_weights), inputs)


def encoder_decoder(
    subject: Subject, case: Case, norm_first: bool, final_norm: bool, layers: tuple[int, int] = (2, 2)
) -> Call:
    """Return an encoder and a decoder, of so many layers, in the subject's manner."""
    width, style = case.width, manner(subject, norm_first)
    config = EncoderDecoderConfig(
        width,
        case.heads,
        case.hidden,
        **style,
        num_encoder_layers=layers[0],
        num_decoder_layers=layers[1],
        final_norm=final_norm,
    )
    weights = stack_weights(case, config, layers[0], encoder_layer_weights, "encoder.")
    weights |= stack_weights(case, config, layers[1], decoder_layer_weights, "decoder.")
    inputs = {"source": memory_of(case), "target": inputs_of(case)}
    return Call(subject.component, config, weights, inputs, (), shape_of=as_the_target).shaped()


def padding(case: Case, length: int, kept: tuple[int, ...]) -> Tensor:
    """Return a mask (B, length) that keeps the first so many tokens of each sample; the last count is for the rest."""
    counts = torch.tensor([*kept, *[kept[-1]] * case.B][: case.B], device=case.device)
    return torch.arange(length, device=case.device) < counts[:, None]
