"""Tables of angles that whoever calls a layer is to hand in: made as the file makes them, so that rotation is judged.

A layer is understood with tables that turn nothing first. Then it gets those of the function, or class, of its own file
that makes them, and where there is none the textbook's, in every layout; it is judged with those where they fit.
"""

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from types import FunctionType
from typing import Any, TypeVar

import torch
from torch import Tensor

from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.engine.request import Request
from attnconf.conformance.inference.building.building import Construction
from attnconf.conformance.inference.building.module_sizes import names_read
from attnconf.conformance.inference.finding.hints import ANGLES
from attnconf.conformance.inference.trials.angles import AXES, SPACE
from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.trials.budgets import COMPARED, FEW, LIKELIEST
from attnconf.conformance.inference.trials.calling import Form, parameters
from attnconf.conformance.inference.trials.filling import Input, arguments_of, fillings
from attnconf.conformance.inference.trials.probing import Failed, attempt
from attnconf.conformance.inference.trials.trial import Certificate
from attnconf.conformance.inference.words.angle_names import ROLE, is_table, kind_of
from attnconf.conformance.inference.words.keyword_arguments import constructor_parameters
from attnconf.conformance.inference.words.vocabulary import SIZES, meanings
from attnconf.conformance.source.syntax import expression_of

T = TypeVar("T", bound=Any)  # a text of attention, or of a layer
POSITIONS = r"(token_|position_)?pos(ition)?s?(_?ids|_?idx|_?index|_?indices)?|index|indices|idx|ids|t|time_?steps?"
LENGTHS = rf"{SIZES['max_len']}|n|count"
TURNS = "rotations(x[:, None], E)"
COLUMNS = ("{}", "torch.cat([{0}, {0}], -1)", "{}.repeat_interleave(2, -1)")
OF_NOTHING = "tables of angles"
WIDTH = 6  # of a head in a look at the tables
SIZES_THERE = {"embed_dim": 2 * WIDTH, "num_heads": 2, "num_kv_heads": 2, "head_dim": WIDTH, "hidden_dim": 8,
               "base": 10000.0, "eps": 1e-5, "dropout": 0.0}  # fmt: skip
FLOAT64 = 1e-10  # farther off is what was float32 in between


@dataclass(frozen=True)
class Tables:
    """What the arguments get: by their kind, cos, sin or both; and who makes it."""

    texts: Mapping[str, str]
    made_by: str


def with_tables(
    place: Place, text: T, base: str, ways: Sequence[Callable[[T], T]], asked: Callable[[T], Sequence[Request]]
) -> tuple[T, str | None]:
    """Return the text with tables that turn, and the known mistake that it then has; the text as it was where none fit.

    ``base``: the base of the angles, as text. ``ways``: what declares that queries and keys are turned, in which pairs.
    A text is in doubt that is neither right nor a known mistake with the tables of its own file.
    """
    names = _names(place, text.form)
    if not names:
        return text, None
    own = list(_of_the_file(place, text.made, base))
    there = {kind_of(name) for name in names}
    mistaken: list[tuple[T, str]] = []
    ran = 0
    for tables in own or _of_the_textbook():
        if not there <= tables.texts.keys() or ran >= COMPARED:
            continue
        turned = _given(text, names, tables)
        for way in ways:
            one = way(turned)
            certificate = Certificate(one.component, asked(one))
            given = certificate.replies(one.implementation(place))
            if any(isinstance(each, Failure) for each in given):
                break
            ran += 1
            if certificate.agrees(given, one.conventions()):
                rough = _adds(text) and certificate.distance(given, one.conventions()) > FLOAT64
                return (_as_it_was(text, names, tables) if rough else one), None
            if own and len(mistaken) < LIKELIEST and (found := certificate.mistake(given, one.conventions())):
                mistaken.append((one, found.id))
    if mistaken:
        return mistaken[0]
    return (text.but(doubt=text.doubt or _neither(names, own)) if ran and own else text), None


def _neither(names: Sequence[str], own: Sequence[Tables]) -> str:
    return f"with what {own[0].made_by} makes for {', '.join(names)} it is neither rotation nor a known mistake in it"


def _adds(text: Any) -> bool:
    """Return whether masks are added to the scores, of which some are asked that are large."""
    return any(getattr(mask, "additive", False) for mask in text.masks.values())


def _as_it_was(text: T, names: Sequence[str], tables: Tables) -> T:
    """Return the text with its tables that turn nothing, where large scores would show how few digits float32 has."""
    words = f"{', '.join(names)}: turns right with what {tables.made_by} makes, in float32; the rest is judged unturned"
    found: T = text.but(left_alone=(*(one for one in text.left_alone if OF_NOTHING not in one), words))
    return found


def _names(place: Place, form: Form) -> list[str]:
    """Return the arguments that are tables of angles: those that have to be given, else those that may be."""
    needed = [slot.name for slot in form.slots if slot.role.startswith(ROLE)]
    return needed or [p.name for p in parameters(place.thing) if p.default is None and is_table(p.name)]


def _given(text: T, names: Sequence[str], tables: Tables) -> T:
    """Return the text in which arguments get tables, and that says who made them."""
    form = text.form
    for name in names:
        form = form.giving(name, ROLE + tables.texts[kind_of(name)])
    others = tuple(words for words in text.left_alone if OF_NOTHING not in words)
    found: T = text.but(form=form, left_alone=(*others, f"{', '.join(names)}: made by {tables.made_by}"))
    return found


# -- the file's own


def _of_the_file(place: Place, made: Construction, base: str) -> Iterator[Tables]:
    """Yield the tables that definitions of the file make of a length and a width, in every shape that code may want."""
    for name, maker in list(vars(place.module).items()):
        own = getattr(maker, "__module__", None) == place.module.__name__ and isinstance(maker, type | FunctionType)
        if own and maker is not place.thing and any(words <= names_read(maker) for words in ANGLES):
            if name in names_read(place.thing) or place.name in names_read(maker):
                continue
            calls = _calls(f"theirs.{name}", maker, _inputs(made, base))
            yield from (t for call in islice(calls, FEW) for t in _seen(place, call, f"{name}()"))


def _inputs(made: Construction, base: str) -> dict[str, Input]:
    config = _configuration(made)
    found = {
        "length": Input(LENGTHS, ("x.shape[1]",), optional=False),
        "embed": Input(f"{SIZES['head_dim']}|{SIZES['rotary_dim']}|{SIZES['embed']}", ("E",)),
        "base": Input(SIZES["base"], (base,), free=False, optional=True),
        "positions": Input(POSITIONS, ("torch.arange(x.shape[1])", "torch.arange(x.shape[1])[None]"), free=False),
        "x": Input(r"x|like|hidden_?states|inputs?|q|query", ("x",), free=False),
        "device": Input("device", ("x.device",), free=False),
    }
    return {**({"config": Input(SIZES["config"], (config,), free=False)} if config else {}), **found}


def _configuration(made: Construction) -> str:
    """Return the configuration that something is built with, as text; nothing where it has none."""
    try:
        words = expression_of(made.text)
    except SyntaxError:
        return ""
    for node in ast.walk(words):
        for keyword in node.keywords if isinstance(node, ast.Call) else ():
            if keyword.arg and "config" in meanings(keyword.arg) and not isinstance(keyword.value, ast.Constant):
                return ast.unparse(keyword.value)
    return ""


def _calls(called: str, maker: Any, inputs: Mapping[str, Input]) -> Iterator[str]:
    """Yield calls of a function that makes tables, or of what a class that makes them builds."""
    if isinstance(maker, FunctionType):
        ways = fillings(arguments_of(maker), inputs)
        yield from (f"{called}({way.text})" for way in ways if not {"length", "positions"} <= way.roles)
        return
    for built in islice(fillings(constructor_parameters(maker), inputs), FEW):
        for way in islice(fillings(parameters(maker), inputs), FEW):
            yield f"{called}({built.text})({way.text})"


def _seen(place: Place, call: str, made_by: str) -> Iterator[Tables]:
    """Yield what a call gives as tables: cosines are those that are 1 where no token is turned."""
    space = {**SPACE, "theirs": place.module, "E": WIDTH, "x": torch.zeros(2, 5, 4 * WIDTH)}
    space["config"] = _AnySize()
    try:
        made = attempt(partial(eval, call, space))
    except Failed:
        return
    if isinstance(made, tuple | list) and len(made) == 2 and all(isinstance(one, Tensor) for one in made):
        one, other = (f"{call}[{i}].to(x.dtype)" for i in (0, 1))
        cos, sin = (one, other) if _is_cosine(made[0]) else (other, one)
        for axes in _axes(made[0]):
            both = f"({one}{axes}, {other}{axes})"
            yield Tables({"cos": cos + axes, "sin": sin + axes, "both": both}, made_by)
    elif isinstance(made, Tensor):
        yield from (Tables({"both": call + axes}, made_by) for axes in _axes(made))


def _axes(made: Tensor) -> Sequence[str]:
    """Return how a table may stand: as it is where it has axes for samples or heads."""
    return AXES if made.ndim == 2 or (made.ndim == 3 and made.shape[0] == 5 and made.shape[-1] == 2) else ("",)


def _is_cosine(table: Tensor) -> bool:
    """Return whether what stands for the first token is 1."""
    rows = table.reshape(-1, table.shape[-1]) if table.ndim > 1 else table[None]
    return bool((rows[0] == 1).all())


class _AnySize:
    """Stands for a configuration: whatever size is asked for goes with a head's width."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return SIZES_THERE.get(name, True)


# -- the textbook's


def _of_the_textbook() -> Iterator[Tables]:
    for axes in AXES:
        for columns in COLUMNS:
            cos, sin = (f"{columns.format(f'{TURNS}[{i}]')}{axes}" for i in (0, 1))
            yield Tables({"cos": cos, "sin": sin, "both": f"({cos}, {sin})"}, "the textbook")
        yield Tables({"both": f"torch.complex(*{TURNS}){axes}"}, "the textbook")
