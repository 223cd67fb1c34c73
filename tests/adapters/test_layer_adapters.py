"""The shipped adapters for norms, feed-forward networks, layers, stacks and embeddings, beside the reference.

In float64, outputs and gradients to all inputs and weights, without the suite. What an adapter declares is translated
here for the reference, in a few lines of its own.
"""

import math
from dataclasses import replace

import pytest
import torch
from shipped import having, shipped

from attnconf.adapters import contract, reference
from attnconf.conformance.chapters.decoder.stimuli import SHAPE
from attnconf.conformance.chapters.shared import layers as blocks
from attnconf.conformance.chapters.shared.placements import placements
from attnconf.conformance.engine.request import Call
from attnconf.conformance.engine.requirement import as_declared
from attnconf.conformance.engine.subject import Subject

torch.set_num_threads(1)
CASE = SHAPE.case("adapters-1", B=2, heads=2, L=5, S=7, head_width=4, hidden=11)
BOUND, SLOPE = 1e-6, 1e-5  # of outputs and of gradients: some compute parts in float32

LAYERS = ("encoder_layer", "encoder", "decoder_layer", "decoder", "encoder_decoder")
COMPONENTS = ("layer_norm", "rms_norm", "feed_forward", *LAYERS, "token_embedding")
PAIRS = [(name, c) for name, c in having(*COMPONENTS) if name != "reference"]

# What is known to differ, as adapters/*.deviations.toml say: (implementation, component, what was asked)
EXACT = "the fast path takes nn.GELU for the exact GELU, whatever its approximation"
NONE = "its norm has no ε"
RELU = "a copied decoder layer has forgotten an activation that is a module, and takes relu"
DIFFERENT = {
    ("torch_nn", "encoder_layer", "activation gelu-tanh"): EXACT,
    ("torch_nn", "encoder", "activation gelu-tanh"): EXACT,
    ("x_transformers_layers:rms", "rms_norm", "another epsilon"): NONE,
    ("torch_nn", "decoder", "activation gelu-tanh"): RELU,
    ("torch_nn", "encoder_decoder", "activation gelu-tanh"): RELU,
}

kept = torch.tensor([[True, True, True, True, False], [True, True, True, False, False]])
ahead = torch.tensor([[True] * 7, [True, True, True, True, True, False, False]])
some = CASE.draw("some", 5, 5) > -0.8
some |= torch.eye(5, dtype=torch.bool)
MASKS = {
    "encoder": {"key mask": {"key_mask": kept}, "mask": {"attn_mask": some}, "masks": {
        "key_mask": kept, "attn_mask": some[None, None]}, "head mask": {"attn_mask": torch.stack([some, some.T])}},
    "decoder": {"key mask": {"key_mask": kept}, "memory mask": {"memory_mask": ahead},
        "masks": {"key_mask": kept, "memory_mask": ahead}},
    "encoder_decoder": {"source mask": {"source_mask": ahead}, "masks": {"source_mask": ahead, "target_mask": kept}},
}  # fmt: skip


def a_call(config, weights, inputs):
    """Return a call of whatever component it is made for here; the shape of its output is not asked."""
    return Call("", config, weights, inputs, ())


def norms(subject):
    x = CASE.draw("x", 2, 5, 6)
    weight, bias = 1 + CASE.draw("weight", 6) / 2, CASE.draw("bias", 6)
    if subject.component == "rms_norm":
        block = a_call(contract.RmsNormConfig(6), {"weight": weight}, {"x": x})
        return {"plain": block, "another epsilon": block.with_config(eps=0.5), "flat": block.with_inputs(x=x[0])}
    block = a_call(contract.LayerNormConfig((6,)), {"weight": weight, "bias": bias}, {"x": x})
    two = {"weight": 1 + CASE.draw("two", 5, 6) / 2, "bias": CASE.draw("two'", 5, 6)}
    unbiased = replace(block, weights={"weight": weight}).with_config(bias=False)
    return {
        "plain": unbiased if subject.choice("layer-bias") == "no" else block,
        "another epsilon": block.with_config(eps=0.5),
        "flat": block.with_inputs(x=x[0]),
        "bias": block,
        "no bias": unbiased,
        "no weights": replace(block, weights={}).with_config(affine=False),
        "two axes": replace(block, weights=two).with_config(shape=(5, 6)),
    }


def feed_forward(subject):
    def block(activation, gated, bias):
        config = contract.FeedForwardConfig(8, 11, activation, gated, bias)
        weights = blocks.draw_feed_forward(CASE, "ff", gated, bias)
        return a_call(config, {name[3:]: w for name, w in weights.items()}, {"x": CASE.draw("x", 2, 5, 8)})

    manner = blocks.manner(subject, False)
    asked = {"plain": block(manner["activation"], manner["gated"], manner["bias"])}
    for activation in ("relu", "gelu", "gelu-tanh", "quick-gelu", "silu", "sigmoid", "none"):
        asked |= {f"{activation} {g} {b}": block(activation, g, b) for g in (False, True) for b in (False, True)}
    return asked


def layers(subject):
    make = getattr(blocks, subject.component)
    single = subject.component.endswith("layer")
    orders = placements(subject) if subject.component in ("encoder_layer", "encoder") else blocks.orders(subject)
    found = {
        f"{first}{'' if last is None else f' {last}'}": make(
            subject, as_declared(CASE, subject), first, *([] if last is None else [last])
        )
        for first in orders
        for last in ([None] if single else blocks.endings(subject))
    }
    kind = subject.component.removesuffix("_layer")
    asked = {"plain": next(iter(found.values())), **found}
    for name, block in found.items():
        asked |= {f"{name} {what}": block.with_inputs(**given) for what, given in MASKS[kind].items()}
        if kind == "encoder":
            causal = block.with_config(causal=True)
            asked |= {f"{name} causal": causal, f"{name} causal, key mask": causal.with_inputs(key_mask=kept)}
    first = asked["plain"]
    others = {"activation": ("relu", "gelu", "gelu-tanh", "quick-gelu", "silu"), "eps": (0.5,)}
    return asked | {f"{key} {v}": first.with_config(**{key: v}) for key, values in others.items() for v in values}


def embedding(subject):
    ids = torch.tensor([[3, 0, 5, 5], [1, 2, 0, 3]])
    block = a_call(contract.TokenEmbeddingConfig(6, 8), {"table.weight": CASE.draw("t", 6, 8)}, {"ids": ids})
    return {"plain": block, "padding": block.with_config(padding_id=0)}


MENUS = {"layer_norm": norms, "rms_norm": norms, "feed_forward": feed_forward, "token_embedding": embedding}


def call(build, block, component):
    """Return the output of a component."""
    first = contract.COMPONENTS[component].inputs
    named = {name: x for name, x in block.inputs.items() if name not in first}
    return build(block.config, block.weights)(*(block.inputs[name] for name in first), **named)


def wanted(subject, block):
    """Return what the reference gives in the conventions that are declared."""
    choice, weights = subject.choice, dict(block.weights)
    for name, w in block.weights.items():
        layer, kind = name.split(".")[-2:] if "." in name else ("norm", name)
        if layer == "q" and choice("attention-scale") == "none":
            weights[name] = w * math.sqrt(CASE.head_width)
        if "norm" in layer and choice("rms-norm-weight") == "one-plus" and subject.component != "layer_norm":
            weights[name] = 1 + w
        if layer == "up" and block.config.gated and choice("glu-activated") == "up":
            gate = f"{name.removesuffix(f'up.{kind}')}gate.{kind}"
            weights[name], weights[gate] = block.weights[gate], w
    out = call(getattr(reference, subject.component), replace(block, weights=weights), subject.component)
    scaled = subject.component == "token_embedding" and choice("embedding-scale") == "sqrt"
    return out * math.sqrt(block.config.dim) if scaled else out


def tokens(block, out):
    """Return the output at what is no padding."""
    mask = block.inputs.get("target_mask", block.inputs.get("key_mask"))
    return out if mask is None else out[mask]


def results(run, block):
    """Return the output, and the gradients to floating inputs and to weights, by name, where there are any."""

    def leaves(tensors):
        return {n: x.clone().requires_grad_() if x.is_floating_point() else x for n, x in tensors.items()}

    block = replace(block, weights=leaves(block.weights), inputs=leaves(block.inputs))
    wrt = {name: x for name, x in {**block.weights, **block.inputs}.items() if x.is_floating_point()}
    out = tokens(block, run(block))
    if not out.requires_grad:
        return {"out": out}
    grads = torch.autograd.grad(
        (out * CASE.draw("slope", *out.shape)).sum(), list(wrt.values()), materialize_grads=True
    )
    return {"out": out.detach(), **dict(zip(wrt, grads, strict=True))}


def apart(got, want):
    """Return by name what differs by more than its bound, of the largest number among the outputs and gradients."""
    size = 1 + max(float(x.abs().max()) for x in want.values())
    bounds = {name: (BOUND if name.startswith("out") else SLOPE) * size for name in want}
    return [name for name, x in got.items() if not float((x - want[name]).abs().max()) <= bounds[name]]


@pytest.mark.filterwarnings("ignore")  # its warnings are its own affair
@pytest.mark.parametrize(("name", "component"), PAIRS)
def test_as_the_reference(name, component):
    subject = Subject(shipped(name), component, "direct")
    build = subject.implementation.components[component]
    for what, block in MENUS.get(component, layers)(subject).items():
        try:
            with torch.no_grad():
                without = call(build, block, component)
            got = results(lambda block: call(build, block, component), block)
        except NotImplementedError:
            assert what != "plain", "what is declared is not supported"
            continue
        want = results(lambda block: wanted(subject, block), block)
        assert (len(got) == 1) == (subject.implementation.profile == "inference-1")  # it is never trained
        got["out without gradients"] = tokens(block, without)
        want["out without gradients"] = want["out"]
        assert bool(apart(got, want)) == ((name, component, what) in DIFFERENT), (what, apart(got, want))
