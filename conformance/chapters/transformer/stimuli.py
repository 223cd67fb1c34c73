"""The encoder-decoder and the Transformer as data: drawn from a case, changed, run, and computed by the reference.

In a case B is the batch, S the source tokens, L the target tokens. A subject is one component or the other: its tokens
are vectors, or ids.
"""

import math
import warnings
from collections.abc import Mapping
from dataclasses import asdict, replace

import torch
from torch import Tensor

from attnconf.adapters.contract import COMPONENTS, TransformerConfig
from attnconf.conformance.chapters.shared.in_torch import called_with
from attnconf.conformance.chapters.shared.layers import (
    encoder_decoder,
    endings,
    orders,
    papers_norm,
    run,
    shape,
    style_of,
)
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import Unsupported
from attnconf.conformance.engine.request import Call
from attnconf.conformance.engine.subject import Subject
from attnconf.conformance.engine.translations.layers import layer_weights
from attnconf.conformance.engine.translations.models import model_weights
from attnconf.conformance.engine.translations.order import side_by_side
from attnconf.reference.sinusoidal import encode
from attnconf.reference.transformer import encoder_decoder as compute

# -- the cases

SHAPE = replace(
    shape("source({B}, {S}), target({B}, {L}), {heads} heads of {head_width}, {hidden} hidden", "S"),
    multiples={"head_width": 2},
)
_LEARNT = replace(SHAPE, shown="source({B}, {L}), target({B}, {L}), 400 steps")


LEARN = (
    _LEARNT.case(
        "transformer-learn-1", B=32, heads=4, L=5, head_width=8, hidden=64, S=7, dtype=torch.float32, fixed=True
    ),
)
USUAL = (SHAPE.case("transformer-1", B=3, heads=2, L=5, head_width=4, hidden=7, S=6),)
# a source shorter than the target; one token, one sample
EDGES = (
    SHAPE.case("transformer-shorter-1", B=4, heads=3, L=6, head_width=2, hidden=7, S=5),
    SHAPE.case("transformer-one-target-2", B=3, heads=2, L=1, head_width=4, hidden=7, S=6),
    SHAPE.case("transformer-one-source-3", B=3, heads=2, L=5, head_width=4, hidden=7, S=1),
    SHAPE.case("transformer-one-sample-4", B=1, heads=2, L=5, head_width=4, hidden=7, S=6),
)
# as many samples as targets, and as source tokens
BATCHES = (
    SHAPE.case("transformer-batch-is-L-1", B=4, heads=2, L=4, head_width=6, hidden=7, S=5),
    SHAPE.case("transformer-batch-is-S-2", B=5, heads=2, L=4, head_width=6, hidden=7, S=5),
)
# a source as long as the target, where one's mask fits the other
SQUARE = (SHAPE.case("transformer-square-1", B=3, heads=2, L=5, head_width=4, hidden=7, S=5),)
# more positions than bfloat16 counts
LONG = (SHAPE.case("transformer-long-1", B=1, heads=2, L=261, head_width=4, hidden=7, S=3),)


TABLES = ("source.weight", "target.weight", "head.weight")


def vocabulary(case: Case) -> int:
    """Return the number of ids: three more than features, so that these can be read off the logits, and at least 11."""
    return max(11, case.width + 3)


def reads_ids(subject: Subject) -> bool:
    """Return whether tokens are ids, and outputs logits."""
    return COMPONENTS[subject.component].reads_ids


def ties(subject: Subject) -> tuple[str, ...]:
    """Return the values of ``tying`` that the subject has."""
    choice = subject.choice("tying")
    return ("none", "head", "all") if choice == "any" else (choice,)


# -- drawing


def model(
    subject: Subject, case: Case, layers: tuple[int, int] = (1, 1), norm_first: bool | None = None,
    final_norm: bool | None = None, tying: str = "",
) -> Call:  # fmt: skip
    """Return a model in the subject's manner: unless told otherwise as in the paper, without last norms."""
    order = orders(subject)[0] if norm_first is None else norm_first
    block = encoder_decoder(subject, case, order, endings(subject)[0] if final_norm is None else final_norm, layers)
    if not reads_ids(subject):
        return block
    tying, width = tying or ties(subject)[0], case.width
    config = TransformerConfig(**asdict(block.config), vocab_size=vocabulary(case), tying=tying)
    names = {"none": TABLES, "head": TABLES[:2], "all": TABLES[1:2]}[tying]
    drawn = {name: case.draw(name, vocabulary(case), width) for name in names}
    if "head.weight" in drawn:
        drawn["head.weight"] = drawn["head.weight"] / math.sqrt(width)
    ids = {"source": ids_of(case, "source", case.S), "target": ids_of(case, "target", case.L)}
    return replace(block, config=config, weights={**block.weights, **drawn}, inputs=ids).shaped()


def models(subject: Subject, case: Case, layers: tuple[int, int] = (1, 1)) -> list[Call]:
    """Return a model of each order of norms: post-norm without last norms, pre-norm with them, where there is both."""
    return [model(subject, case, layers, order, endings(subject)[-1 if order else 0]) for order in orders(subject)]


def depths(subject: Subject, case: Case, layers: tuple[int, int]) -> tuple[int, int]:
    """Return numbers of layers, or equal ones where the subject takes no others. Raises Failure."""
    try:
        run(subject, model(subject, case, layers))
    except Unsupported:
        return (max(layers), max(layers))
    return layers


def ids_of(case: Case, what: str, length: int) -> Tensor:
    """Return ids (B, length), none of them 0: whether that means padding is a question of its own."""
    share = (case.but(dtype=torch.float64).draw(f"{what} ids", case.B, length) / math.sqrt(3) + 1) / 2
    return 1 + (share * (vocabulary(case) - 1)).long().clamp(max=vocabulary(case) - 2)


def other(case: Case, x: Tensor, at: Tensor, size: float = 1.0) -> Tensor:
    """Return tokens x, (B, T) or (B, T, E), with others at the places (B, T) that are marked."""
    if x.is_floating_point():
        return torch.where(at[..., None], size * case.draw("other tokens", *x.shape), x)
    return torch.where(at, 1 + (x + x % 3) % (vocabulary(case) - 1), x)


def one_by_one(case: Case, x: Tensor) -> Tensor:
    """Return the tokens of the first sample T + 1 times: as they are, then each with one other token, in order."""
    length = x.shape[1]
    at = torch.cat([torch.zeros(1, length, dtype=torch.bool), torch.eye(length, dtype=torch.bool)])
    return other(case, x[:1].expand(length + 1, *x.shape[1:]), at.to(x.device))


def alike(x: Tensor, samples: int) -> Tensor:
    """Return the first sample so many times."""
    return x[:1].expand(samples, *x.shape[1:])


# -- changing


def gain(subject: Subject, weight: Tensor, value: float) -> Tensor:
    """Return the weight of a norm that multiplies by ``value``."""
    one_plus = subject.choice("norm-kind") == "rms" and subject.choice("rms-norm-weight") == "one-plus"
    return torch.full_like(weight, value - one_plus)


def silent(block: Call, *without: str) -> dict[str, Tensor]:
    """Return weights with which no sublayer adds anything, but for those whose names begin with one of ``without``."""
    ends = ("out.weight", "out.bias", "down.weight", "down.bias")
    return {
        name: torch.zeros_like(w)
        for name, w in block.weights.items()
        if name.endswith(ends) and not (without and name.startswith(without))
    }


def plain_norms(subject: Subject, block: Call) -> dict[str, Tensor]:
    """Return weights with which norms have gain 1 and shift 0."""
    norms = {name: w for name, w in block.weights.items() if name.split(".")[-2].startswith("norm")}
    return {n: gain(subject, w, 1.0) if n.endswith("weight") else torch.zeros_like(w) for n, w in norms.items()}


def transparent(subject: Subject, block: Call) -> Call:
    """Return the block with layers that add nothing, and plain norms."""
    return block.with_weights({**silent(block), **plain_norms(subject, block)})


def averaging(block: Call) -> dict[str, Tensor]:
    """Return weights with which the first decoder layer adds the mean of the memory to each token."""
    name = "decoder.layers.0.cross"
    own = {n: torch.zeros_like(w) for n, w in block.weights.items() if n.startswith(f"{name}.")}
    eye = torch.eye(block.config.embed_dim).to(own[f"{name}.v.weight"])
    return {**own, f"{name}.v.weight": eye, f"{name}.out.weight": eye}


# -- running, and what is wanted


def encoded(subject: Subject, length: int, width: int) -> Tensor:
    """Return the encoding of the positions 0, 1, …, (length, width), as declared."""
    half, there = width // 2, side_by_side(subject.choice("sinusoidal-layout"), width)
    endpoint = subject.choice("sinusoidal-frequencies") == "endpoint" and half > 1
    return encode(torch.arange(length), width, 10000.0 ** (half / (half - 1)) if endpoint else 10000.0)[:, there]


def placed(subject: Subject, ids: Tensor, table: Tensor) -> Tensor:
    """Return the vectors of ids (B, T), at their positions, as declared: (B, T, E)."""
    size = math.sqrt(table.shape[1]) if subject.choice("transformer-scale") == "sqrt" else 1.0
    return size * table[ids] + encoded(subject, ids.shape[1], table.shape[1]).to(table)


def wanted(
    subject: Subject, block: Call, vectors: dict[str, Tensor] | None = None, order: Tensor | None = None
) -> Tensor:
    """Return what the reference's encoder-decoder makes of the block in the declared conventions, differentiable.

    ``vectors``: those of source and target, in place of what their ids stand for. ``order``: that of the features
    while it is computed, which makes no difference but in rounding.
    """
    c = block.config
    order = torch.arange(c.embed_dim) if order is None else order
    weights = model_weights(layer_weights(block.weights, c, subject.choice), order.tolist())
    tokens = vectors or (vectors_of(subject, block) if reads_ids(subject) else block.inputs)
    masks = [block.inputs.get(name) for name in ("source_mask", "target_mask")]
    out = compute(tokens["source"][..., order], tokens["target"][..., order], weights, style_of(c), *masks)
    if not reads_ids(subject):
        return out[..., torch.argsort(order)]
    return out @ weights.get("head.weight", weights["target.weight"]).T


def vectors_of(subject: Subject, block: Call) -> dict[str, Tensor]:
    """Return what the ids of source and target stand for: vectors at their positions."""
    target = block.weights["target.weight"]
    tables = {"source": block.weights.get("source.weight", target), "target": target}
    return {name: placed(subject, block.inputs[name], table) for name, table in tables.items()}


def in_double(block: Call) -> Call:
    """Return the block in float64, rounded as it is."""
    inputs = {name: x.double() if x.is_floating_point() else x for name, x in block.inputs.items()}
    return replace(block, weights={name: w.double() for name, w in block.weights.items()}, inputs=inputs)


# -- in torch


def has_torch(subject: Subject, block: Call) -> bool:
    """Return whether nn.Transformer computes this: with last norms, and in none but its own conventions."""
    c = block.config
    own = c.final_norm and c.norm == "layer" and not c.gated and c.activation in ("relu", "gelu")
    return not reads_ids(subject) and own and papers_norm(c) and subject.choice("attention-scale") == "sqrt"


def run_in_torch(block: Call) -> Tensor:
    """Return the output of nn.Transformer, differentiable. Its boolean masks are True where a key is hidden."""
    c, source, target = block.config, block.inputs["source"], block.inputs["target"]
    options = {"layer_norm_eps": c.eps, "norm_first": c.norm_first, "bias": c.bias, "batch_first": True}
    sizes = (c.embed_dim, c.num_heads, c.num_encoder_layers, c.num_decoder_layers, c.hidden_dim, 0.0, c.activation)
    with warnings.catch_warnings(action="ignore"):  # that pre-norm layers have no fast path
        module = torch.nn.Transformer(*sizes, **options, dtype=target.dtype, device=target.device)
    everything = {
        f"{name}_mask": torch.ones(x.shape[:2], dtype=torch.bool, device=x.device)
        for name, x in (("source", source), ("target", target))
    }
    hidden, real = ({**everything, **block.inputs}[name] for name in everything)
    rows = {"src_mask": (hidden, source), "memory_mask": (hidden, target), "tgt_mask": (real, target)}
    masks = {n: key[:, None, None].expand(-1, c.num_heads, x.shape[1], -1) for n, (key, x) in rows.items()}
    masks["tgt_mask"] = masks["tgt_mask"].tril()
    given = {name: ~mask.flatten(0, 1) for name, mask in masks.items()}
    return called_with(module, torch_names(block.weights), (source, target), given)


# Parts of names, ours and torch's.
TORCH_NAMES = {
    ".attn.": ".self_attn.", ".self.": ".self_attn.", ".cross.": ".multihead_attn.", ".out.": ".out_proj.",
    ".ff.up.": ".linear1.", ".ff.down.": ".linear2.", ".q.weight": ".in_proj_weight", ".q.bias": ".in_proj_bias",
}  # fmt: skip


def torch_names(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the weights of an encoder-decoder by the names that nn.Transformer gives them."""
    state = {}
    for name, weight in weights.items():
        if ".k." in name or ".v." in name:
            continue
        if ".q." in name:
            weight = torch.cat([weights[name.replace(".q.", f".{part}.")] for part in "qkv"])
        for ours, theirs in TORCH_NAMES.items():
            name = name.replace(ours, theirs)
        state[name] = weight
    return state
