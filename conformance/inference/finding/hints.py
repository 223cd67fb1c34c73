"""Which encoding of positions or coordinates something may be: by its name, by what its code calls, by its inputs."""

import inspect
import re
from collections.abc import Iterator
from typing import Any

from torch import nn

from attnconf.conformance.chapters.contents import appearances
from attnconf.conformance.chapters.sinusoidal.binding import GRID
from attnconf.conformance.inference.building.module_sizes import names_read
from attnconf.conformance.inference.trials.calling import parameters
from attnconf.conformance.inference.weights.function_forms import taken, takes_together
from attnconf.conformance.inference.words.keyword_arguments import constructor_parameters
from attnconf.conformance.inference.words.vocabulary import INPUTS, SIZES, meanings, snake
from attnconf.conformance.source.signatures import parameters_of

_CALLED = {component: known.called for component, known in appearances().items() if known.called}
ROTARY, ALIBI, RELATIVE = (_CALLED[component] for component in ("rotary", "alibi", "relative_bias"))
POSITION, RANDOM, COORDINATES = (_CALLED[component] for component in ("sinusoidal", "random_fourier", "fourier"))
ANGLES = ({"sin", "cos"}, {"polar"}, {"view_as_complex"})
LAYERS = {"Linear", "LazyLinear", "Conv1d", "Conv2d", "linear"}
SOFTMAX = {"softmax", "Softmax", "scaled_dot_product_attention"}
TABLES = {"Embedding", "Parameter", "embedding"}
QUERIES = {"query", "key", "value"}


_BIAS = re.compile(r"bias$|(^|_)(biais|sesgo|vies)(_|$)")


def positional(name: str, thing: Any) -> list[str]:
    """Return the components of positions and coordinates that something may be, the likeliest first."""
    plain = forms(name)
    code = names_read(thing)
    if isinstance(thing, type) and issubclass(thing, nn.Embedding):
        code = code | {"Embedding"}
    required = _required(thing)
    turns = any(names <= code for names in ANGLES)
    if _attends(required, code):
        return [] if code & LAYERS else list(dict.fromkeys(_attention(plain, code, turns, thing)))
    drawn = turns and "randn" in code and code & LAYERS == {"linear"}  # a projection by a matrix that no layer has
    if code & LAYERS and code & TABLES and not drawn and _says(POSITION, plain) and not code & SOFTMAX:
        return ["learned"]
    if code & LAYERS and not drawn:
        return ["coordinate_mlp"] if turns and isinstance(thing, type) and not code & (SOFTMAX | {"LayerNorm"}) else []
    if code & SOFTMAX:
        return []
    waves = turns or code >= {"sin", "pi"}  # a cosine is a sine a quarter turn on
    return list(dict.fromkeys(_encodings(plain, code, waves, required, thing)))


def named(name: str) -> bool:
    """Return whether a name says that something is for positions or coordinates."""
    return any(_says(p, forms(name)) for p in _CALLED.values())


def forms(name: str) -> tuple[str, str]:
    """Return a name in small letters, with its words apart and together: RoPE is rope, PosEnc is pos_enc."""
    return snake(name), name.lower()


def _says(pattern: str, names: tuple[str, str]) -> bool:
    return any(re.search(pattern, name) for name in names)


def _required(thing: Any) -> list[str]:
    """Return the names of what a call wants, but its weights and sizes."""
    wanted = [p.name for p in call_of(thing) if p.default is p.empty and p.kind is not p.VAR_KEYWORD]
    return [name for name in wanted if name not in taken(thing)]


def call_of(thing: Any) -> list[inspect.Parameter]:
    """Return the parameters of a call of a class's objects, or of a function."""
    if isinstance(thing, type) and not hasattr(thing, "forward"):
        return parameters_of(thing.__call__)[1:]
    return parameters(thing)


def _attends(required: list[str], code: set[str]) -> bool:
    """Return whether three inputs are queries, keys and values, by their names or because a softmax follows."""
    roles = {role for n in required for role in meanings(n, INPUTS)[:1]}
    return roles >= QUERIES or (len(required) == 3 and bool(code & SOFTMAX))


def _attention(plain: tuple[str, str], code: set[str], turns: bool, thing: Any) -> Iterator[str]:
    if turns or _says(ROTARY, plain):
        yield "rotary_attention"
    if _says(ALIBI, plain) or any("alibi" in name.lower() for name in code):
        yield "alibi_attention"
    if _says(RELATIVE, plain) or (code & TABLES and "log" in code):
        yield "relative_bias_attention"
    if not turns and not code & TABLES and "arange" in code and "heads" in _sizes(thing):
        yield "alibi_attention"


def _encodings(plain: tuple[str, str], code: set[str], turns: bool, required: list[str], thing: Any) -> Iterator[str]:
    pair = {role for n in required for role in meanings(n, INPUTS)[:1]} >= {"query", "key"}
    if _says(ROTARY, plain) or pair or code & {"polar", "view_as_complex"}:
        yield "rotary"
    if _says(ALIBI, plain):
        yield "alibi"
    table = code & TABLES or "table" in required or any("bucket" in name for name in code)
    if _says(RELATIVE, plain) or (_BIAS.search(plain[0]) and table):
        yield "relative_bias"
    if _BIAS.search(plain[0]) and not table:
        yield "alibi"
    elsewhere = any(_says(p, plain) for p in (ROTARY, ALIBI, RELATIVE))
    if turns and not _says(ROTARY, plain):
        yield from _angles(plain, code, required, thing)
    elif code & TABLES and isinstance(thing, type) and not elsewhere and not _of_tokens(plain, thing):
        yield "learned"
    if _says(POSITION, plain) and not elsewhere:
        rows = isinstance(thing, type) and bool(code & {"Embedding", "embedding"}) and not code & {"sin", "cos", "exp"}
        yield from ("learned",) if rows else ("sinusoidal", "learned") if isinstance(thing, type) else ("sinusoidal",)


def _angles(plain: tuple[str, str], code: set[str], required: list[str], thing: Any) -> Iterator[str]:
    """Yield what sines and cosines are taken of: positions, cells of a grid, coordinates, random projections."""
    if _says(GRID, plain) and not _says(COORDINATES, plain) and "meshgrid" in code:
        yield "sinusoidal_2d"
    if (
        _says(RANDOM, plain)
        or "randn" in code
        or takes_together(thing)  # with its projection
        or any(re.fullmatch(r"b|proj.*|basis|.*matrix", n.lower()) for n in required)
    ):
        yield "random_fourier"
    if _says(COORDINATES, plain):
        yield "fourier"
    yield from ("sinusoidal", "rotary", "fourier")
    if "meshgrid" in code or len(required) > 1:
        yield "sinusoidal_2d"


def _of_tokens(plain: tuple[str, str], thing: Any) -> bool:
    """Return whether a table is one of tokens: its constructor wants the size of a vocabulary."""
    return "vocab" in _sizes(thing) and not _says(POSITION, plain)


def _sizes(thing: Any) -> set[str]:
    return {meaning for p in constructor_parameters(thing) for meaning in meanings(p.name, SIZES)[:1]}
