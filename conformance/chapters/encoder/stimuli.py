"""What the checks of the encoder share: layers and stacks as the subject has them, closed forms, the formula."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from attnconf.conformance.chapters.shared import layers
from attnconf.conformance.chapters.shared.layers import (
    Weights,
    absent,
    endings,
    padding,
    run,
    style_of,
    with_gradients,
)
from attnconf.conformance.chapters.shared.placements import behind, placement_of, placements
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.error_budget import error_budget, worst
from attnconf.conformance.engine.evidence import SINGLE, SINGLE_SOURCE, Measure, Unsupported, close
from attnconf.conformance.engine.request import Call
from attnconf.conformance.engine.subject import Subject
from attnconf.conformance.engine.translations.layers import layer_weights
from attnconf.reference.encoder import encoder, encoder_layer, under
from attnconf.reference.encoder import normed as norm_of_that_name
from attnconf.reference.masks import causal

# -- the cases

SHAPE = layers.shape("x({B}, {L}, {heads}·{head_width}), {hidden} hidden")
_LEARNT = replace(SHAPE, shown="x({B}, {L}, {width}), 200 steps")


USUAL = (
    SHAPE.case("encoder-1", B=2, heads=3, L=5, head_width=4, hidden=13),
    SHAPE.case("encoder-2", B=3, heads=2, L=6, head_width=8, hidden=7),
)
ONE = USUAL[:1]
SHARED = (  # neither the number of shared heads nor that of those that share one is 1
    SHAPE.case("encoder-shared-1", B=2, heads=6, L=5, head_width=4, hidden=13),
)
TURNED = (  # a part of each head has more than one pair, and what is left has some
    SHAPE.case("encoder-turned-1", B=2, heads=3, L=5, head_width=8, hidden=7),
)
FAR = (  # tokens so far apart that several distances share a bucket, where only earlier ones have any
    SHAPE.case("encoder-far-1", B=2, heads=3, L=31, head_width=4, hidden=7),
)
EDGES = (
    SHAPE.case("encoder-one-token-1", B=3, heads=2, L=1, head_width=4, hidden=5),
    SHAPE.case("encoder-one-sample-2", B=1, heads=3, L=5, head_width=4, hidden=11),
    SHAPE.case("encoder-one-head-3", B=2, heads=1, L=4, head_width=6, hidden=3),
)
# as many samples as tokens, where the two axes can be mixed up without an error
BATCHES = (SHAPE.case("encoder-batch-is-L-1", B=4, heads=2, L=4, head_width=6, hidden=5),)
# an even number of heads and more than one sample, or PyTorch's fast path is not taken
EVEN = (SHAPE.case("encoder-even-1", B=3, heads=4, L=5, head_width=6, hidden=11),)
MODES = ((True, "tracked"), (True, "no_grad"), (False, "no_grad"), (False, "inference_mode"))  # training, autograd
WIDE = (SHAPE.case("encoder-wide-1", B=2, heads=4, L=9, head_width=16, hidden=56),)
LEARN = (
    _LEARNT.case("encoder-learn-1", B=32, heads=4, L=10, head_width=8, hidden=64, dtype=torch.float32, fixed=True),
)


Evidence = Iterator[Measure]
ATTENTION, NETWORK = "attn.out", "ff.down"  # the last linear layers of the two sublayers
_SPOKEN = ("norm-kind", "activation", "gated", "layer-bias", "causality", "final-norm", "attention-scale",
           "rms-norm-weight", "glu-activated", "eps", "layer-norm-variance", "layer-norm-eps",
           "rms-norm-eps", "rotary-inside", "rotary-part", "qk-norm", "qk-norm-over", "qk-norm-place",
           "branch-scale", "score-bias")  # fmt: skip


# -- what is asked


def is_stack(subject: Subject) -> bool:
    return subject.offers("stack")


def declared(subject: Subject) -> str:
    """Return what a block or its formula depends on, besides the case."""
    return f"{subject.component} {[subject.choice(convention) for convention in _SPOKEN]}"


def one_layer(subject: Subject, case: Case, placement: str) -> Call:
    """Return a layer, or a stack of one; its branches have factors of 1, if any."""
    if is_stack(subject):
        return unscaled(layers.encoder(subject, case, placement, endings(subject)[0], layers=1))
    return unscaled(layers.encoder_layer(subject, case, placement))


def unscaled(block: Call) -> Call:
    """Return the block with factors of 1, where there are any on what sublayers add."""
    return block.with_weights({name: torch.ones_like(w) for name, w in parts(block, "scale1", "scale2").items()})


def whole(subject: Subject, case: Case, placement: str) -> Call:
    """Return a layer, or a stack of two, with a last norm where the subject can have one."""
    if is_stack(subject):
        return layers.encoder(subject, case, placement, endings(subject)[-1], layers=2)
    return layers.encoder_layer(subject, case, placement)


def three_layers(subject: Subject, case: Case, placement: str) -> Call:
    return layers.encoder(subject, case, placement, endings(subject)[0], layers=3)


def each(subject: Subject, case: Case, build: Callable[..., Call] = one_layer) -> Iterator[tuple[str, Call]]:
    """Yield what is built, once with the norms in every place that the subject has, with the place's name."""
    for placement in placements(subject):
        name = f"{build.__name__} {placement} {declared(subject)}"
        yield order_name(placement), case.once(name, lambda p=placement: build(subject, case, p))  # type: ignore[misc]


def order_name(placement: str) -> str:
    """Return how a place of norms is called in messages."""
    names = {"post": "post-norm", "pre": "pre-norm", "output": "output norm", "parallel-two": "parallel, two norms"}
    return names.get(placement, placement)


def parts(block: Call, *names: str) -> Weights:
    """Return the weights of the named parts, of every layer: "attn.out" has attn.out.weight and attn.out.bias."""
    return {n: w for n, w in block.weights.items() if any(f".{name}." in f".{n}" for name in names)}


def silenced(case: Case, block: Call, *names: str) -> Call:
    """Return the block with zeros for the weights of the named parts; without an output projection, for its values."""
    names = tuple("attn.v" if name == ATTENTION and not case.projects else name for name in names)
    return block.with_weights({name: torch.zeros_like(w) for name, w in parts(block, *names).items()})


def first_layer(block: Call) -> str:
    """Return what precedes the names of the weights of the first layer."""
    return "layers.0." if hasattr(block.config, "num_layers") else ""


def renewed(case: Case, x: Tensor, *tokens: int) -> Tensor:
    """Return x with other features in the given tokens, in all samples."""
    other = x.clone()
    other[:, list(tokens)] = case.draw("other tokens", *x.shape)[:, list(tokens)]
    return other


def where_supported(measures: Iterable[Callable[[], Measure]]) -> Evidence:
    """Yield the measures, but for what an adapter says it does not do. Raises Unsupported where it does nothing."""
    supported, words = False, None
    for measure in measures:
        try:
            yield measure()
            supported = True
        except Unsupported as unsupported:
            words = unsupported
    if words and not supported:
        raise words


# -- masks


def trailing(case: Case) -> Tensor:
    """Return a key mask (B, L) that keeps all tokens of the first sample, and some at the beginning of the others."""
    return padding(case, case.L, (case.L, max(1, case.L - 2), max(1, case.L - 1)))


def scattered(case: Case) -> Tensor:
    """Return a key mask (B, L) that keeps the first token, and hides others before the last ones."""
    keep = trailing(case).flip(1).roll(1, dims=1)
    keep[:, 0] = True
    return keep


def explicit(case: Case) -> Tensor:
    """Return a mask (L, L) that lets every token see itself and the first one, and some others."""
    drawn = case.draw("attn_mask", case.L, case.L) > 0
    drawn[:, 0] = True
    return drawn | torch.eye(case.L, dtype=torch.bool, device=case.device)


def repadded(case: Case, x: Tensor, keep: Tensor) -> Tensor:
    """Return x with other, larger numbers in the tokens that are not kept."""
    return torch.where(keep[..., None], x, 3 * case.draw("other padding", *x.shape))


def loud(block: Call) -> Call:
    """Return the block with scores so large that a token is not hidden by taking a hundred from its score."""
    return block.with_weights({name: 40 * w for name, w in parts(block, "attn.k").items()})


def unshifted(block: Call) -> Call:
    """Return the block without shifts in the norms of what sublayers give, which are there when these give nothing."""
    shifts = {n: w for n, w in parts(block, *behind(block.config)).items() if n.endswith(".bias")}
    return block.with_weights({name: torch.zeros_like(w) for name, w in shifts.items()})


# -- closed forms


def normed(subject: Subject, block: Call, x: Tensor, *names: str) -> Tensor:
    """Return x after the norms whose weights stand under these names in the block, one after another."""
    weights = layer_weights(block.weights, block.config, subject.choice)
    for name in names:
        x = norm_of_that_name(x, weights, name, style_of(block.config))
    return x


def ended(subject: Subject, block: Call, x: Tensor) -> Tensor:
    """Return x after the stack's last norm, where the block has one."""
    return normed(subject, block, x, "norm") if "norm.weight" in block.weights else x


def left_alone(subject: Subject, block: Call, x: Tensor) -> Tensor:
    """Return what is left of x where no sublayer gives anything: its norms, or x and the shifts of norms behind."""
    stacked = hasattr(block.config, "num_layers")
    for under_ in [f"layers.{i}." for i in range(block.config.num_layers)] if stacked else [""]:
        if placement_of(block.config) == "post":
            x = normed(subject, block, x, f"{under_}norm1", f"{under_}norm2")
        for i, name in enumerate(behind(block.config), 1):
            x = x + scales_of(block, f"{under_}scale{i}") * block.weights.get(f"{under_}{name}.bias", 0.0)
    return x


def scales_of(block: Call, name: str) -> Tensor | float:
    """Return the factors of a branch, "layers.0.scale1" say: 1 where there are none."""
    own = f"{name[:-1]}1" if block.config.branch_scale == "one-scalar" else name
    return block.weights.get(f"{own}.weight", 1.0)


def attended_alone(block: Call, x: Tensor) -> Tensor:
    """Return what attention adds to a token (B, 1, E) that is alone: its own value, through both projections."""
    for name in ("v", "out"):
        layer = f"{first_layer(block)}attn.{name}"
        x = x @ block.weights[f"{layer}.weight"].T + block.weights.get(f"{layer}.bias", 0.0)
    return x


# -- the whole formula


def seen_by(block: Call) -> Tensor:
    """Return which token sees which, (B, L, L), by padding and by causality."""
    x = block.inputs["x"]
    seen = torch.ones(len(x), x.shape[1], x.shape[1], dtype=torch.bool, device=x.device)
    if block.config.causal:
        seen = seen & causal(x.shape[1], x.shape[1]).to(x.device)
    return seen & block.inputs["key_mask"][:, None] if "key_mask" in block.inputs else seen


def in_formula(config: Any, weights: Weights, x: Tensor, seen: Tensor) -> Tensor:
    """Return the output of the reference."""
    encode = encoder if hasattr(config, "num_layers") else encoder_layer
    return encode(x, weights, style_of(config), seen[:, None])


Formula = Callable[[Any, Weights, Tensor, Tensor], Tensor]


def compare_all(subject: Subject, case: Case, block: Call, encode: Formula, what: str) -> Evidence:
    """Yield the measures of output and gradients of real tokens against those of a formula."""
    keep = block.inputs.get("key_mask", torch.ones(case.B, case.L, dtype=torch.bool, device=case.device))
    cotangent = case.draw("cotangent", *block.inputs["x"].shape) * keep[..., None]
    name = f"{encode.__name__} {block.config} {sorted(block.inputs)} {declared(subject)}"

    def compute(b: Call) -> Tensor:
        return encode(b.config, layer_weights(b.weights, b.config, subject.choice), b.inputs["x"], seen_by(b))

    want, grads = case.once(name, lambda: with_gradients(compute, block, cotangent))
    grads = {name: grad for name, grad in grads.items() if name not in absent(case, block)}
    reply = run(subject, block, cotangent=cotangent, wrt=tuple(grads))
    real = torch.where(keep[..., None], reply.out, want)  # not reply.out[keep]: so the place is one in the output
    # a norm of what a sublayer gives divides by its size: rounding before it counts in units of that
    looser: dict[str, Any] = {"bound": SINGLE, "source": SINGLE_SOURCE} if behind(block.config) else {}
    yield close(real, want, f"{what}: out", unit=float(want[keep].abs().max()), **looser)
    unit = max(float(g.abs().max()) for g in grads.values())  # that of k.bias is 0
    for name, grad in grads.items():
        text = f"{what}: gradient of {name}"
        yield close(reply.grads[name], grad, text, unit=unit, bound=SINGLE, source=SINGLE_SOURCE)


def as_configured(subject: Subject, case: Case, block: Call, what: str) -> Measure:
    """Return the measure of the output against the formula's, for a configuration that differs from what is usual."""
    weights = layer_weights(block.weights, block.config, subject.choice)
    name = f"as configured {block.config} {declared(subject)}"
    want = case.once(name, lambda: in_formula(block.config, weights, block.inputs["x"], seen_by(block)))
    return close(run(subject, block).out, want, f"{what}: out")


# -- half precision


def in_budget(subject: Subject, case: Case, block: Call) -> Measure:
    """Return the measure of the error against that of the formula in the same dtype, in two orders of its sums."""
    name = f"{case.dtype} {block.config} {declared(subject)}"
    want, baseline = case.once(name, lambda: with_errors(subject, case, block))
    sublayers = 2 * getattr(block.config, "num_layers", 1)
    return error_budget(run(subject, block).out, want, baseline, case.dtype, sublayers)


def with_errors(subject: Subject, case: Case, block: Call) -> tuple[Tensor, tuple[float, float]]:
    """Return the output in float64, and the worst errors in the block's own dtype."""
    x, weights = block.inputs["x"], layer_weights(block.weights, block.config, subject.choice)
    order = case.permutation("hidden features", case.hidden)
    turned = {n: w[order] if ".ff.up." in f".{n}" or ".ff.gate." in f".{n}" else w for n, w in weights.items()}
    turned |= {n: w[:, order] for n, w in weights.items() if n.endswith("ff.down.weight")}
    wide = {name: w.double() for name, w in weights.items()}
    want = in_formula(block.config, wide, x.double(), seen_by(block))
    errors = [in_formula(block.config, w, x, seen_by(block)).double() - want for w in (weights, turned)]
    return want, worst(errors)


def in_layer(block: Call, i: int) -> Weights:
    """Return the weights of layer i of a stack as those of a stack of one, with what all layers share."""
    return {f"layers.0.{name}": w for name, w in under(block.weights, f"layers.{i}").items()} | parts(block, "relative")
