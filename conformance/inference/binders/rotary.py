"""Bind what turns queries and keys by their positions: a class, a function, or one that makes tables and one that uses
them."""

import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from types import FunctionType
from typing import Any

import torch

from attnconf.adapters.contract import RotaryConfig
from attnconf.conformance.chapters.rotary.binding import APPEARANCES
from attnconf.conformance.engine.request import Request
from attnconf.conformance.inference.building.building import Construction, space_for
from attnconf.conformance.inference.building.module_sizes import names_read
from attnconf.conformance.inference.drafts.drafts import Choice, Family, called, makings, tensors_in
from attnconf.conformance.inference.drafts.seeking import seek
from attnconf.conformance.inference.drafts.texts import Text
from attnconf.conformance.inference.finding.hints import ANGLES
from attnconf.conformance.inference.positions.key_positions import with_key_positions
from attnconf.conformance.inference.positions.positions_options import says_positions, with_options
from attnconf.conformance.inference.positions.textbook_tables import BACKWARDS, LINES, handed, wanted
from attnconf.conformance.inference.trials.binding import Attempts, Bound, Place, Refusal
from attnconf.conformance.inference.trials.filling import Input, arguments_of, fillings
from attnconf.conformance.inference.trials.probing import Failed, attempt
from attnconf.conformance.inference.trials.slots import refuse
from attnconf.conformance.inference.trials.trial import drawn
from attnconf.conformance.inference.words.vocabulary import INPUTS, SIZES
from attnconf.conformance.worker.bodies import names

AT = "counted(x.shape[2], positions, x)"
POSITIONS = (
    r"(token_|given_|input_|q(uery)?_|k(ey)?_)?pos(ition)?s?(_?ids|_?idx|_?index|_?indices)?|index|indices|idx|ids|"
    r"time_?steps?|t|"
    r"start_pos"
)
OFFSETS = r"(.*_)?(offset|start)(_.*)?"
TABLES = r".*(cos|sin|freq|cis|angle|theta|table|rope|rot|cache|emb|phase).*|state|params?|consts?"
LAYOUTS = (
    ("x", "{r}"),
    ("x.transpose(1, 2)", "{r}.transpose(1, 2)"),
    ("x.flatten(0, 1)", "{r}.unflatten(0, x.shape[:2])"),
    ("x.permute(2, 0, 1, 3)", "{r}.permute(1, 2, 0, 3)"),
)
SHAPES = {"distinct": ((2, 3, 7, 8), (3, 2, 5, 4)), "one sample": ((1, 3, 7, 8), (1, 2, 5, 4))}
TABLE = APPEARANCES["rotary"].sizes
WIDTH = f"{SIZES['head_dim']}|{SIZES['embed']}"
X: Mapping[str, Input] = {
    "x": Input(f"{INPUTS['query']}|{INPUTS['x']}", ("{x}",)),
    "key": Input(INPUTS["key"], ("{x}.clone()",), free=False),
}
INPUTS_: Mapping[str, Input] = {
    **X,
    "positions": Input(POSITIONS, (AT, f"{AT}.expand(len(x), x.shape[2])", f"{AT}[:, None]"), free=False),
    "length": Input(SIZES["max_len"] + "|n|count", ("x.shape[2]",), free=False, optional=True),
    "rotary_dim": Input(SIZES["rotary_dim"], ("config.rotary_dim",), free=False, optional=True),
    "embed": Input(WIDTH, ("config.head_dim",), optional=True),
    "base": Input(SIZES["base"], ("config.base",), free=False),
    "device": Input("device", ("x.device",), free=False, optional=True),
}
# What makes tables gets these where it is called once, when all is built.
ONCE: Mapping[str, Input] = {
    "rotary_dim": Input(SIZES["rotary_dim"], ("config.rotary_dim",), free=False, optional=True),
    "embed": Input(WIDTH, ("config.head_dim",), optional=True),
    "length": Input(SIZES["max_len"] + "|n|count", ("config.max_len",), optional=True),
    "base": Input(SIZES["base"], ("config.base",), free=False),
    "positions": Input(POSITIONS, ("torch.arange(config.max_len, device=config.device)",), free=False),
    "device": Input("device", ("config.device",), free=False, optional=True),
}


ALONG_OTHERS = frozenset({"ROPE-along-heads", "ROPE-along-batch"})


def readers(raw: Any, request: Request) -> list[str]:
    """Return how x comes back; of two, queries and keys, both count."""
    found = tensors_in(raw)
    size = torch.Size(request.out_shape).numel()
    if not found or any(array.numel() != size or array.is_complex() for _, array in found):
        return []
    if len(found) == 2:
        return [f"(({found[0][0]} + {found[1][0]}) / 2)"]
    return [found[0][0]] if len(found) == 1 else []


def requests(fixed: Choice, way: str) -> list[Request]:
    found = []
    for size in SHAPES[way]:
        config = RotaryConfig(size[3], size[3], max_len=11, dtype=torch.float64)
        found.append(Request("rotary", config, {}, {"x": drawn(f"x {size}", *size)}, size))
    return found


def without(given: frozenset[str]) -> list[str]:
    lines = refuse("config.scaling is not None", "scaled frequencies")
    if "base" not in given:
        lines += refuse("config.base != 10000.0", "an argument for the base")
    if not {"rotary_dim", "fraction"} & given:
        lines += refuse("config.rotary_dim != config.head_dim", "features that do not turn")
    return lines


def unplaced(given: frozenset[str]) -> list[str]:
    return [] if "positions" in given else refuse("positions is not None", "an argument for positions")


# -- one that makes tables, and one that uses them


def with_tables(place: Place, family: Family) -> Iterator[Text]:
    """Yield texts in which another definition of the file makes what this one wants beside x."""
    parameters = arguments_of(place.thing)
    if isinstance(place.thing, type) or len(parameters) < 2:
        return
    request = requests({}, "distinct")[0]
    made = False
    for name, maker in list(vars(place.module).items()):
        own = getattr(maker, "__module__", None) == place.module.__name__ and isinstance(maker, type | FunctionType)
        if not own or maker is place.thing or place.name in names_read(maker) or name in names_read(place.thing):
            continue
        for base, tables in _tables(replace(place, name=name, thing=maker), family, request):
            for inputs in _handed(parameters, tables):
                made = made or any(words <= names_read(maker) for words in ANGLES)
                yield from called(family, base, place.thing, place.name_in_text, {**INPUTS_, **inputs})
    if not made:
        yield from _with_the_textbooks(place, family, wanted(parameters))


def _with_the_textbooks(place: Place, family: Family, names: list[str]) -> Iterator[Text]:
    """Yield texts in which what nothing in the file makes are the textbook's tables, at last with negative sines."""
    for line in LINES if names else ():
        base = Text("rotary", Construction(""), "function", limits=(line,), exact=False, given=frozenset({"max_len"}),
                    shown=f"{place.name}, with tables of the textbook")  # fmt: skip
        for inputs in handed(names):
            yield from called(family, base, place.thing, place.name_in_text, {**INPUTS_, **inputs})


Table = tuple[str, torch.Tensor, int]  # an expression of ``tables``, what it is, and how many rows are too many


def _tables(place: Place, family: Family, request: Request) -> Iterator[tuple[Text, list[Table]]]:
    """Yield how tables are made, and what they are."""
    if isinstance(place.thing, FunctionType):
        yield from _of_positions(place, request)
        for way in fillings(arguments_of(place.thing), ONCE):
            if "positions" in way.roles:  # whoever gives positions makes tables in every call
                continue
            line = f"tables = {place.name_in_text}({way.text})"
            found = _seen(place, request, (line,))
            if found:
                shown = f"{place.name}({way.text})"
                yield _with_table((line,), (), way.roles, shown), found
        return
    for base, thing, _ in makings(place, family, request, Attempts()):
        build = (*base.made.before, f"make = settle(lambda: {base.made.text}, config, weights)")
        if base.kind == "function":
            continue
        for way in fillings(arguments_of(thing), INPUTS_):
            line = f"tables = make({way.text.replace('{x}', 'x')})"
            found = _seen(place, request, (*build, "x, positions = inputs['x'], None", line))
            if found:
                yield _with_table(build, (line,), base.given | way.roles, base.shown), found


def _of_positions(place: Place, request: Request) -> Iterator[tuple[Text, list[Table]]]:
    """Yield how a function makes tables of the positions of one call."""
    for way in fillings(arguments_of(place.thing), INPUTS_):
        if "positions" not in way.roles or "x" in way.roles:
            continue
        call = f"{place.name_in_text}({way.text})"
        found = _seen(place, request, ("x, positions = inputs['x'], None", f"tables = {call}"))
        if found:
            shown = f"{place.name}({way.text})"
            yield _with_table((), (f"tables = {call}",), way.roles, shown), found


def _with_table(build: tuple[str, ...], limits: tuple[str, ...], given: frozenset[str], shown: str) -> Text:
    """Return the text of a function beside what makes its tables, once or in every call."""
    made = Construction("", build)
    return Text("rotary", made, "function", limits=limits, exact=False, given=given | {"max_len"}, shown=shown)


def _seen(place: Place, request: Request, lines: tuple[str, ...]) -> list[Table]:
    """Return the tables that some statements make, if they have a row for each position, or one for all of them."""
    space = space_for(request.config, place.module, weights={}, inputs=request.inputs)
    space = {**names(place.module), **space}
    try:
        attempt(lambda: exec("\n".join(lines), space))
    except Failed:
        return []
    arrays = [(text.replace("result", "tables"), x) for text, x in tensors_in(space["tables"])]
    L, most, frequencies = request.out_shape[2], request.config.max_len, (request.config.rotary_dim // 2,)
    if not arrays or any((x.ndim < 2 or not {L, most} & set(x.shape)) and x.shape != frequencies for _, x in arrays):
        return []
    return [(text, x, list(x.shape).index(most) if most in x.shape else -1) for text, x in arrays]


def _handed(parameters: list[inspect.Parameter], tables: list[Table]) -> Iterator[Mapping[str, Input]]:
    """Yield what the parameters that want tables get, cut to the tokens that there are, or whole.

    Whole first beside an offset: whoever has one cuts them. Beside positions they are cut where none are given: whoever
    gets some looks them up.
    """
    required = [p.name for p in parameters if p.default is p.empty]
    wanting = [name for name in required if _says(TABLES, name)]
    if not wanting:  # names that say nothing: what is no features, or stands behind them
        wanting = [n for n in required if not any(_says(X[role].names, n) for role in X)] or required[1:]
    cuts = any(_says(OFFSETS, p.name) for p in parameters if p.default is not p.empty)
    most = "x.shape[2] if positions is None else None" if any(map(says_positions, parameters)) else "x.shape[2]"
    for cut in (not cuts, cuts):
        texts = [_cut(table, most) if cut else table[0] for table in tables]
        if len(wanting) == len(tables) == 2:
            texts = _by_name(wanting, tables, texts)
        elif len(wanting) == 1 and len(tables) > 1:
            texts = [f"({', '.join(texts)})"]
        elif len(wanting) != len(tables):
            return
        yield {name: Input(name.lower().strip("_"), (text,)) for name, text in zip(wanting, texts, strict=True)}
    if len(wanting) == 1 and all("[" in text for text, _, _ in tables):  # as they are kept, in a dict
        yield {wanting[0]: Input(wanting[0].lower().strip("_"), ("tables",))}


def _says(pattern: str, name: str) -> bool:
    return re.fullmatch(pattern, name.lower().strip("_")) is not None


def _cut(table: Table, most: str) -> str:
    text, _, axis = table
    return text if axis < 0 else f"{text}[{':, ' * axis}: {most}]"


def _by_name(wanting: list[str], tables: list[Table], texts: list[str]) -> list[str]:
    """Return the texts in the order in which the names ask for cosines and sines, known by their first row."""
    says = ["cos" in wanting[0].lower(), "sin" in wanting[0].lower()]
    first = [bool((x.reshape(-1, x.shape[-1])[0] == 1).all()) for _, x, _ in tables]
    if says in ([True, False], [False, True]) and first in ([True, False], [False, True]):
        return texts if first[0] == says[0] else texts[::-1]
    return texts


FAMILY = Family(
    "rotary", TABLE, INPUTS_, readers, requests, without, unplaced, layouts=LAYOUTS, ways=("distinct", "one sample"),
    extra=with_tables, after=partial(with_options, request=requests({}, "distinct")[0], axis=2),
    explained=ALONG_OTHERS,
)  # fmt: skip


# What neighbours come back as, the first elements of all pairs before the second ones.
REORDERED = replace(
    FAMILY, fixed=({"rope-pairing": "interleaved", "rope-output": "firsts-first"},),
    layouts=tuple((into, f"in_pairs({back}, config.rotary_dim)") for into, back in LAYOUTS),
)  # fmt: skip


def bind(place: Place) -> Bound | Refusal:
    """Return the binding of a class or function as a rotation, in doubt where the direction is that of its tables."""
    found = seek(place, FAMILY)
    if isinstance(found, Bound) and found.certified is None:
        other = seek(place, REORDERED)
        found = other if isinstance(other, Bound) and other.certified == "reference" else found
    if isinstance(found, Bound) and found.certified and LINES[1] in found.draft.body:
        return replace(found, doubt=found.doubt or BACKWARDS)
    return with_key_positions(found) if isinstance(found, Bound) else found
