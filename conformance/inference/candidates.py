"""What in a file is to be judged, and as what: classes and functions that look like a component, by their names."""

import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from types import FunctionType, ModuleType
from typing import Any

from attnconf.conformance.inference.calling import parameters
from attnconf.conformance.inference.construction import names_read
from attnconf.conformance.inference.vocabulary import INPUTS, SIZES, meanings

# What the name of a class or function says, the most telling words first: a norm in an encoder is a norm.
NAMES = (
    ("rms_norm", r"rms"),
    ("layer_norm", r"layer_?norm|^ln$|^norm"),
    ("random_fourier", r"random.*fourier|gaussian.*(fourier|encod|feature)|rff"),
    ("coordinate_mlp", r"coord.*(mlp|net)|nerf|implicit|siren"),
    ("fourier", r"fourier|nerf_?enc|freq.*enc"),
    ("rotary", r"rope|rotary|rotat"),
    ("alibi", r"alibi"),
    ("relative_bias", r"rel.*bias|t5.*bias|bucket"),
    ("sinusoidal", r"sin(us|e|cos)"),
    ("learned", r"learn.*pos|pos.*learn"),
    ("bpe_trainer", r"train.*(bpe|merges)|(bpe|merges).*train|learn.*(bpe|merges)"),
    ("detokenizer", r"detoken|decode_?ids"),
    ("tokenizer", r"tokeni[sz]"),
    ("feed_forward", r"feed_?forward|ffn|^ff$|mlp|glu|pointwise|position_?wise"),
    ("decoder_layer", r"dec(oder)?_?(layer|block|cell|unit)"),
    (
        "encoder_layer",
        r"(enc(oder)?|transformer|attention|residual|gpt|vit|self_?attn)_?(layer|block|cell|unit)|^block|^layer$|block$",
    ),
    ("multi_head_attention", r"att(entio)?n|att$|mha|head|msa$|mhsa|causal"),
    ("sinusoidal", r"pos(ition)?(al)?_?(enc|emb)|^pe$|positional"),
    ("learned", r"pos(ition)?(al)?_?emb"),
    ("token_embedding", r"embed"),
    ("encoder", r"encoder|encode|bert|vit|stack|gpt"),
    ("decoder", r"decoder"),
    ("encoder_decoder", r"encoder_?decoder|seq2seq"),
    ("transformer", r"transformer|seq2seq|encoder_?decoder"),
)


@dataclass(frozen=True)
class Candidate:
    """A class or function that may be a component, and which, the likeliest first."""

    name: str
    thing: Any
    components: tuple[str, ...]
    uses: frozenset[str]  # the names of the file that its code reads


def candidates(module: ModuleType, chosen: str | None, component: str | None) -> list[Candidate]:
    """Return what may be judged, in the order of the file; only ``chosen`` where a name was given."""
    found = []
    for name, thing in list(vars(module).items()):
        if chosen is not None and name != chosen:
            continue
        if chosen is None and (getattr(thing, "__module__", None) != module.__name__ or name.startswith("_")):
            continue
        if not isinstance(thing, type | FunctionType) and chosen is None:
            continue
        components = (component,) if component else tuple(dict.fromkeys(looks_like(name, thing)))
        if components:
            found.append(Candidate(name, thing, components, frozenset(names_read(thing))))
    return sorted(found, key=lambda c: _line(c.thing))


def looks_like(name: str, thing: Any) -> Iterator[str]:
    """Yield the components that a class or function may be."""
    if isinstance(thing, type) and not any({"forward", "__call__"} & set(vars(kind)) for kind in thing.__mro__[:-1]):
        return
    plain = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).lower()
    by_name = [component for component, pattern in NAMES if re.search(pattern, plain)]
    by_call = list(_by_call(thing))
    if isinstance(thing, type):
        yield from (c for c in by_name if c != "attention")
        yield from by_call
        return
    if by_call[:1] == ["attention"]:
        yield "attention"
    yield from (c for c in by_name if c in FUNCTIONS)


FUNCTIONS = (
    "attention", "sinusoidal", "rotary", "alibi", "relative_bias", "fourier", "layer_norm", "rms_norm", "tokenizer",
    "detokenizer", "bpe_trainer",
)  # fmt: skip


def _by_call(thing: Any) -> Iterator[str]:
    """Yield what a call's parameters, and those of the constructor, say."""
    names = [p.name for p in parameters(thing)]
    roles = [role for n in names for role in meanings(n, INPUTS)[:1]]
    if {"query", "key", "value"} <= set(roles):
        yield "multi_head_attention" if isinstance(thing, type) and "heads" in _sizes(thing) else "attention"
    elif isinstance(thing, type) and "heads" in _sizes(thing):
        yield "encoder_layer" if "hidden" in _sizes(thing) or "ratio" in _sizes(thing) else "multi_head_attention"


def _sizes(thing: type) -> set[str]:
    try:
        return {m for n in inspect.signature(thing).parameters for m in meanings(n, SIZES)[:1]}
    except (TypeError, ValueError):
        return set()


def _line(thing: Any) -> int:
    code = getattr(thing, "__code__", None)
    if code is not None:
        return int(code.co_firstlineno)
    lines = (
        [v.__code__.co_firstlineno for v in vars(thing).values() if isinstance(v, FunctionType)]
        if isinstance(thing, type)
        else []
    )
    return min(lines, default=0)
