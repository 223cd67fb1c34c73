"""A decoder's block changed so that a law shows, and computed by others: by the formula, by torch, in two orders."""

import math
from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnconf.conformance.chapters.shared.in_torch import called_with
from attnconf.conformance.chapters.shared.layers import shape, style_of
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.error_budget import worst
from attnconf.conformance.engine.request import Call
from attnconf.conformance.engine.subject import Subject
from attnconf.conformance.engine.translations.layers import layer_weights
from attnconf.reference import decoder as reference
from attnconf.reference.encoder import Style, Weights, count_layers, normed, position_wise, under
from attnconf.reference.layer_norm import Divisor, correction
from attnconf.reference.masks import causal, key_padding

# -- the cases

SHAPE = shape("x({B}, {L}, {heads}·{head_width}), memory({B}, {S}, {heads}·{head_width}), {hidden} hidden", "S")


ONE = (SHAPE.case("decoder-1", B=2, heads=3, L=5, head_width=4, hidden=11, S=7),)
# memory longer and shorter than the targets, and as long, where a causal mask fits both attentions
LENGTHS = (
    SHAPE.case("decoder-longer-1", B=2, heads=3, L=4, head_width=5, hidden=7, S=6),
    SHAPE.case("decoder-shorter-2", B=2, heads=3, L=5, head_width=6, hidden=7, S=4),
    SHAPE.case("decoder-square-3", B=2, heads=3, L=5, head_width=4, hidden=7, S=5),
)
EDGES = (
    SHAPE.case("decoder-one-target-1", B=3, heads=2, L=1, head_width=4, hidden=5, S=7),
    SHAPE.case("decoder-one-memory-2", B=3, heads=2, L=5, head_width=4, hidden=7, S=1),
    SHAPE.case("decoder-one-sample-3", B=1, heads=3, L=5, head_width=4, hidden=11, S=7),
    SHAPE.case("decoder-one-head-4", B=3, heads=1, L=4, head_width=6, hidden=7, S=5),
)
SQUARE = LENGTHS[2:]
SHORT = (SHAPE.case("decoder-short-1", B=2, heads=3, L=4, head_width=5, hidden=7, S=6),)
# as many samples as targets, where both axes fit a mask
BATCHES = (SHAPE.case("decoder-batch-is-L-1", B=4, heads=2, L=4, head_width=3, hidden=5, S=6),)
WIDE = (SHAPE.case("decoder-wide-1", B=2, heads=4, L=6, head_width=8, hidden=27, S=7),)


SUBLAYERS = ("self", "cross", "ff")
_LAST = {"self": "self.out", "cross": "cross.out", "ff": "ff.down"}
_READS = {1: ("self.q", "self.k", "self.v"), 2: ("cross.q",), 3: ("ff.up", "ff.gate")}  # by the norm before them
LARGE = 300.0  # ε = 1e-5 is 1e-10 of its square


# -- weights


def named(name: str, *ends: str) -> bool:
    """Return whether a weight has one of these names, in whichever layer."""
    return any(name == end or name.endswith(f".{end}") for end in ends)


def of(name: str, *linears: str) -> bool:
    """Return whether a weight is the matrix or the bias of one of these linear layers, in whichever layer."""
    return named(name, *(f"{linear}.{kind}" for linear in linears for kind in ("weight", "bias")))


def silent(block: Call, *parts: str) -> Call:
    """Return the block in which these sublayers give 0."""
    last = [_LAST[part] for part in parts]
    return block.with_weights({n: torch.zeros_like(w) for n, w in block.weights.items() if of(n, *last)})


def only(block: Call, part: str) -> Call:
    """Return the block in which all sublayers but one give 0."""
    return silent(block, *(other for other in SUBLAYERS if other != part))


def chained(block: Call) -> Call:
    """Return a stack of one layer as one of three, of which each has one of its sublayers."""
    weights = {n: w for n, w in block.weights.items() if not n.startswith("layers.")}
    for i, part in enumerate(SUBLAYERS):
        layer = {n: w for n, w in only(block, part).weights.items() if n.startswith("layers.0.")}
        weights |= {n.replace("layers.0.", f"layers.{i}."): w for n, w in layer.items()}
    return replace(block, weights=weights).with_config(num_layers=3)


def one_plus(subject: Subject, block: Call) -> float:
    """Return what a norm adds to its weight: 1 where that is declared, else 0."""
    return 1.0 if subject.choice("rms-norm-weight") == "one-plus" and block.config.norm == "rms" else 0.0


def without_effect(subject: Subject, block: Call, *norms: str, gain: float = 1.0) -> Call:
    """Return the block in which these norms have the same gain everywhere, and no shift."""
    weights = {}
    for name, w in block.weights.items():
        if of(name, *norms):
            number = 0.0 if name.endswith(".bias") else gain - one_plus(subject, block)
            weights[name] = torch.full_like(w, number)
    return block.with_weights(weights)


def enlarged(subject: Subject, block: Call) -> Call:
    """Return the block in units so small that ε is nothing, with norms that change nothing a second time."""
    reads = [name for names in _READS.values() for name in names]
    weights = {n: w / LARGE for n, w in block.weights.items() if named(n, *(f"{name}.weight" for name in reads))}
    weights |= {n: w * LARGE for n, w in block.weights.items() if of(n, *_LAST.values())}
    alike = without_effect(subject, block, "norm1", "norm2", "norm3", gain=LARGE)
    return alike.with_weights(weights).with_inputs(x=LARGE * block.inputs["x"])


def foldable(block: Call, i: int) -> Call:
    """Return the block without the shift of norm i, where a projection that reads it has no bias to take it in."""
    reads = [name for name in block.weights if named(name, *(f"{linear}.weight" for linear in _READS[i]))]
    if all(f"{name.removesuffix('.weight')}.bias" in block.weights for name in reads):
        return block
    shifts = {n: torch.zeros_like(w) for n, w in block.weights.items() if named(n, f"norm{i}.bias")}
    return block.with_weights(shifts)


def folded(subject: Subject, block: Call, i: int) -> Call:
    """Return the block, which is foldable, with the gain and shift of norm i in the projections that read it."""
    weights = {}
    for name, w in block.weights.items():
        if named(name, *(f"{linear}.weight" for linear in _READS[i])):
            norm = ".".join([*name.split(".")[:-3], f"norm{i}"])  # layers.0.self.q.weight: layers.0.norm1
            weights[name] = w * (block.weights[f"{norm}.weight"] + one_plus(subject, block))
            bias = f"{name.removesuffix('.weight')}.bias"
            if f"{norm}.bias" in block.weights and bias in block.weights:
                weights[bias] = block.weights[bias] + w @ block.weights[f"{norm}.bias"]
    return without_effect(subject, block, f"norm{i}").with_weights(weights)


def scaled(case: Case) -> Tensor:
    """Return factors of either sign, a half or two, one for each feature."""
    sign, power = (torch.sign(case.draw(f"{what} of factors", case.width)) for what in ("sign", "power"))
    return sign * torch.exp2(power)


# -- what others give


def style(block: Call) -> Style:
    return style_of(block.config)


def masks(block: Call) -> tuple[Tensor, Tensor | None]:
    """Return the masks of the two attentions, broadcastable to (B, H, L, L) and (B, H, L, S)."""
    x, hidden = block.inputs["x"], block.inputs.get("memory_mask")
    return causal(x.shape[1], x.shape[1]).to(x.device), None if hidden is None else key_padding(hidden)


def layers_of(weights: Weights) -> list[Weights]:
    """Return the weights of each layer: of the one, or of those of a stack."""
    count = count_layers(weights)
    return [under(weights, f"layers.{i}") for i in range(count)] if count else [weights]


def norms_alone(subject: Subject, block: Call) -> Tensor:
    """Return what is left of a block whose sublayers give 0."""
    x, weights, s = block.inputs["x"], layer_weights(block.weights, block.config, subject.choice), style(block)
    for layer in layers_of(weights):
        for name in () if s.norm_first else ("norm1", "norm2", "norm3"):
            x = normed(x, layer, name, s)
    return reference.last_norm(x, weights, s)


def formula(subject: Subject, block: Call) -> Tensor:
    """Return the output of the reference, differentiable."""
    weights = layer_weights(block.weights, block.config, subject.choice)
    compute = reference.decoder if count_layers(weights) else reference.decoder_layer
    return compute(block.inputs["x"], block.inputs["memory"], weights, style(block), *masks(block))


_ACTIVATIONS = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu-tanh": lambda x: F.gelu(x, approximate="tanh"),
    "quick-gelu": lambda x: F.silu(1.702 * x) / 1.702,
    "silu": F.silu,
}


def in_torch(subject: Subject, block: Call) -> Tensor:
    """Return the output of nn.TransformerDecoderLayer or nn.TransformerDecoder, differentiable.

    torch's boolean masks are True where a key is hidden. Padding is not given as such: torch imports 500 modules
    (0.35 s) to look at it.
    """
    c, weights = block.config, layer_weights(block.weights, block.config, subject.choice)
    x, memory = block.inputs["x"], block.inputs["memory"]
    options = {"layer_norm_eps": c.eps, "norm_first": c.norm_first, "bias": c.bias, "dtype": x.dtype, "dropout": 0.0}
    options |= {"activation": _ACTIVATIONS[c.activation], "batch_first": True}
    module: nn.Module = nn.TransformerDecoderLayer(c.embed_dim, c.num_heads, c.hidden_dim, **options)
    state = in_names_of_torch(weights)
    if count_layers(weights):
        last = nn.LayerNorm(c.embed_dim, c.eps, bias=c.bias, dtype=x.dtype) if c.final_norm else None
        module = nn.TransformerDecoder(module, c.num_layers, last)  # type: ignore[arg-type]
    seen, kept = masks(block)
    shape = (len(x), c.num_heads, x.shape[1], memory.shape[1])
    hidden = torch.zeros(shape, dtype=torch.bool, device=x.device) if kept is None else ~kept.expand(shape)
    asked = {"tgt_mask": ~seen, "memory_mask": hidden.flatten(0, 1), "tgt_is_causal": False}
    out: Tensor = called_with(module.to(x.device), state, (x, memory), asked)
    return out


def in_names_of_torch(weights: Weights) -> dict[str, Tensor]:
    """Return the weights by torch's names, q, k and v as one."""
    heads = {"self.": "self_attn.", "cross.": "multihead_attn."}
    linears = {"ff.up": "linear1", "ff.down": "linear2", "self.out": "self_attn.out_proj"}
    linears["cross.out"] = "multihead_attn.out_proj"
    state = {}
    for name, w in weights.items():
        *above, kind = name.split(".")
        prefix = f"layers.{above[1]}." if above[0] == "layers" else ""
        part = name.removeprefix(prefix).removesuffix(f".{kind}")
        if part in ("self.q", "cross.q"):
            three = [weights[f"{name[: -len(f'q.{kind}')]}{letter}.{kind}"] for letter in "qkv"]
            state[f"{prefix}{heads[part[:-1]]}in_proj_{kind}"] = torch.cat(three)
        elif part[-2:] not in (".k", ".v"):
            state[f"{prefix}{linears.get(part, part)}.{kind}"] = w
    return state


# -- precision


def two_textbooks(subject: Subject, block: Call) -> tuple[Tensor, tuple[float, float]]:
    """Return the output in float64 on the rounded numbers, and how far off two textbooks in the block's dtype are."""
    double = replace(
        block,
        weights={n: w.double() for n, w in block.weights.items()},
        inputs={n: x.double() for n, x in block.inputs.items()},
    )
    want = formula(subject, double)
    errors = [compute(subject, block).double() - want for compute in (formula, plainly)]
    return want, worst(errors)


def plainly(subject: Subject, block: Call) -> Tensor:
    """Return the output, with every step in the block's dtype, the scores scaled last; without masks but causality."""
    weights, s = layer_weights(block.weights, block.config, subject.choice), style(block)
    x, memory = block.inputs["x"], block.inputs["memory"]
    for w in layers_of(weights):
        for i, part in enumerate(SUBLAYERS, 1):
            norm = under(w, f"norm{i}")
            x = x + add_plainly(norm_plainly(x, norm, s) if s.norm_first else x, memory, w, s, part)
            x = x if s.norm_first else norm_plainly(x, norm, s)
    last = under(weights, "norm")
    return norm_plainly(x, last, s) if last else x


def add_plainly(x: Tensor, memory: Tensor, weights: Weights, style: Style, part: str) -> Tensor:
    """Return what a sublayer adds to the residual."""
    if part == "ff":
        return position_wise(x, weights, style)
    return attend_plainly(x, x if part == "self" else memory, under(weights, part), style, part == "self")


def attend_plainly(x: Tensor, memory: Tensor, weights: Weights, style: Style, is_causal: bool) -> Tensor:
    def project(y: Tensor, name: str) -> Tensor:
        return F.linear(y, weights[f"{name}.weight"], weights.get(f"{name}.bias"))

    q, k, v = (
        project(y, name).unflatten(-1, (style.num_heads, -1)).transpose(1, 2)
        for y, name in ((x, "q"), (memory, "k"), (memory, "v"))
    )
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if is_causal:
        scores = scores.masked_fill(~causal(*scores.shape[-2:]).to(x.device), -torch.inf)
    return project((torch.softmax(scores, dim=-1) @ v).transpose(1, 2).flatten(2), "out")


def divided_by(centred: Tensor, style: Style) -> Tensor:
    """Return what the deviations are divided by, in their own dtype."""
    how = Divisor(eps=style.rms_eps) if style.norm == "rms" else style.divisor
    square = centred.square().mean(dim=-1, keepdim=True) * correction(centred, (-1,), how)
    return torch.sqrt(square + style.eps) if how.eps == "inside" else torch.sqrt(square) + style.eps


def norm_plainly(x: Tensor, weights: Weights, style: Style) -> Tensor:
    centred = x if style.norm == "rms" else x - x.mean(dim=-1, keepdim=True)
    y = centred / divided_by(centred, style) * weights["weight"]
    return (y + weights["bias"] if "bias" in weights else y).to(x.dtype)  # a gain of 1 + w is not rounded
