"""How a class is built: its parameters matched to a configuration by what their names may mean, then tried.

A construction is text, an expression of ``config`` and of the user's classes, so that it can be tried here and written
into an adapter there.
"""

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from itertools import islice, permutations, product
from types import CodeType, FunctionType, ModuleType, SimpleNamespace
from typing import Any

from attnconf.adapters.wiring import functional
from attnconf.conformance.inference.vocabulary import meanings

Meanings = Mapping[str, Sequence[str]]  # what a parameter may mean -> expressions of ``config`` for it
Set = tuple[tuple[str, ...], frozenset[str]]  # statements that set sizes in globals, and what these mean
Part = Callable[[str, inspect.Parameter], Sequence[str]]  # expressions for a parameter that wants a module
AT_MOST = 48  # constructions tried of one class
BASES = (10000,)  # defaults that say what they are, whatever the name
_SIZES = ("embed", "heads", "hidden", "layers")  # what has to agree in all parts of a file
_LAYERS = {"layers", "decoder_layers"}
FEW = 24  # heads and layers are fewer, widths are more
ACTIVATIONS = ("relu", "gelu", "silu", "swish", "tanh")


@dataclass(frozen=True)
class Construction:
    """``text`` builds the object, after the statements of ``before``; ``given``: what the parameters were taken for."""

    text: str
    before: tuple[str, ...] = ()
    given: frozenset[str] = frozenset()


def constructions(name: str, thing: Any, table: Meanings, module: ModuleType, part: Part) -> Iterator[Construction]:
    """Yield ways to call ``thing``, which is called ``name`` in the text, the likeliest first."""
    try:
        parameters = [
            p for p in inspect.signature(thing).parameters.values() if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
        ]
    except (TypeError, ValueError):
        parameters = []
    choices = _with_hidden([_choices(p, table, module, part) for p in parameters], table)
    for before, globals_given in _afresh(list(_globals(thing, table, module)), module):
        for chosen in islice(_by_rank(choices), AT_MOST):
            arguments = [
                f"{p.name}={text}" if p.kind is not p.POSITIONAL_ONLY else text
                for p, (text, _) in zip(parameters, chosen, strict=True)
                if text
            ]
            arguments = arguments if "hidden" in table else _one_dropout(arguments)  # a layer has one for all its parts
            given = {m for m, texts in table.items() for t, _ in chosen if texts and t == texts[0]} | globals_given
            given |= {m for text, meaning in chosen if meaning == "config" for m in _said_by(text, table)}
            yield Construction(f"{name}({', '.join(arguments)})", before, frozenset(given))


def _with_hidden(choices: list[list[tuple[str, str]]], table: Meanings) -> list[list[tuple[str, str]]]:
    """Return the choices such that what is called as the model's width may be the hidden one.

    Only where nothing else is called so, and the model's width may be what is called by a name that says nothing.
    """
    meant = [{m for _, m in c} for c in choices]
    silent = [len(m & set(_SIZES)) > 2 for m in meant]
    named = set().union(*(m for m, quiet in zip(meant, silent, strict=True) if not quiet))
    if "hidden" not in table or not any(silent) or {"hidden", "ratio", "config"} & named:
        return choices
    return [[*c, (table["hidden"][0], "hidden")] if m == {"embed"} else c for c, m in zip(choices, meant, strict=True)]


def _one_dropout(arguments: list[str]) -> list[str]:
    """Return the arguments with one dropout, that of the attention weights where one is called so; the others are 0."""
    drops = [a for a in arguments if a.endswith("=config.dropout")]
    if len(drops) < 2:
        return arguments
    kept = next((a for a in drops if "att" in a.lower()), drops[0])
    return [a if a == kept or a not in drops else a.replace("config.dropout", "0.0") for a in arguments]


def _by_rank(choices: list[list[tuple[str, str]]]) -> Iterator[tuple[tuple[str, str], ...]]:
    """Yield one choice for each parameter, those first whose ranks add up to little."""
    ranks = [range(len(c)) for c in choices]
    every = islice(product(*ranks), 20_000)
    wanted = {m for c in choices for _, m in c if m in ("embed", "heads", "hidden")}
    any_side = [{m for _, m in c} >= _LAYERS for c in choices]  # layers, of which side nobody says

    def cost(picked: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
        meant = [c[i][1] for c, i in zip(choices, picked, strict=True)]
        sizes = [m for m in meant if m in _SIZES]
        sides = [m for m, either in zip(meant, any_side, strict=True) if either and m in _LAYERS]
        twice = len(sizes) - len(set(sizes)) + (len(sides) > 1 and len(set(sides)) > 1)
        missing = len(wanted - set(sizes))
        return sum(picked) + 3 * twice + 2 * missing, picked  # two parameters seldom mean the same

    for picked in sorted(every, key=cost):
        yield tuple(c[i] for c, i in zip(choices, picked, strict=True))


def _choices(p: inspect.Parameter, table: Meanings, module: ModuleType, part: Part) -> list[tuple[str, str]]:
    """Return (expression, meaning) for a parameter, the likeliest first; ("", "") leaves it at its default."""
    known = meanings(p.name)
    if isinstance(p.default, float) and 0 < p.default < 0.01 and "eps" not in known:  # whatever it is called
        known = [*known, "eps"]
    if type(p.default) is int and 1 < p.default <= 8 and "ratio" in table and "hidden" in known:  # times the width
        known = ["ratio"]
    if _own_dataclass(p.annotation, module) is not None:
        known = ["config", *known]
    optional = p.default is not p.empty
    configured = []
    if "config" in table and _is_configuration(p, module, named="config" in known):
        configured = [(text, "config") for text in _configuration(p, table, module)]
        if optional or not any(m in table for m in known if m != "config"):
            return configured
    parts = [(text, "part") for text in part(p.name, p)]
    if type(p.default) in (int, float) and p.default in BASES and "base" in table and "max_len" not in known:
        return [(table["base"][0], "base")]
    found = [(text, meaning) for meaning in table if meaning in known and meaning != "any" for text in table[meaning]]
    if optional and p.default is not None:  # a constant of ours is no better than theirs
        found = [(text, m) for text, m in found if m != "padding" or "config." in text]
    if optional and isinstance(p.default, bool):
        found = [
            (text, m) for text, m in found if m in ("bias", "causal", "norm_first", "bidirectional", "final", "affine")
        ]
    elif optional and (p.default is None or isinstance(p.default, str) or callable(p.default)):
        found = [(text, m) for text, m in found if m not in ("bias", "causal", "norm_first")]
        parts = parts if p.default is None or callable(p.default) else []
    if optional:
        first = [] if not parts else [("", "")]
        short = type(p.default) is int and len(p.name) <= 2
        others = [g for g in _guesses(p, table, False) if short and g not in found]
        if short:  # its name says little, its default something
            found, others = ([g for g in some if _may_be_as_large(g[1], p.default)] for some in (found, others))
        if not short and type(p.default) is int and any(m in ("vocab", "embed", "heads", "layers") for _, m in found):
            return found  # somebody's own size does not fit ours
        return [*first, *found, *(parts or [("", "")]), *others]
    weak = [(text, m) for m in table.get("any", ()) for text in table[m] if (text, m) not in found]
    if found and len(p.name) > 2:  # a name that says something is the contract
        weak = []
    return [*parts, *found, *configured, *(weak or _guesses(p, table, bool(parts or found)))] or [("None", "")]


def _may_be_as_large(meaning: str, default: int) -> bool:
    """Return whether something has a size like this default."""
    if meaning in ("heads", *_LAYERS):
        return default <= FEW
    return default >= FEW or meaning not in ("vocab", "embed", "hidden")


def _guesses(p: inspect.Parameter, table: Meanings, known: bool) -> list[tuple[str, str]]:
    """Return values for a required parameter whose name says little, by its annotation."""
    kind = p.annotation if isinstance(p.annotation, str) else getattr(p.annotation, "__name__", "")
    if "Optional" in kind or "None" in str(p.annotation):
        return [("None", "")]
    if kind == "bool":
        return [("False", "")]
    if kind == "float":
        return [("0.0", "")]
    if kind == "str":
        return [(repr(word), "") for word in ACTIVATIONS[:2]]
    if known or "config" in meanings(p.name):
        return []
    sizes = [(text, m) for m in ("vocab", *_SIZES, "head_dim", "max_len") for text in table.get(m, ())]
    return sizes or [("None", "")]


# -- configuration objects


def _is_configuration(p: inspect.Parameter, module: ModuleType, named: bool) -> bool:
    """Return whether a parameter is an object that holds sizes: by its name, its default or its annotation."""
    if named:
        plain = isinstance(p.default, bool | int | float | str | tuple) and not hasattr(p.default, "_fields")
        return p.default is p.empty or not plain
    plain = isinstance(p.default, type) and not hasattr(p.default, "forward") and p.default is not p.empty
    annotated = p.annotation is not p.empty and isinstance(p.annotation, type) and is_dataclass(p.annotation)
    filled = isinstance(p.default, dict | SimpleNamespace) and bool(p.default)
    return plain or annotated or filled or (is_dataclass(p.default) and not isinstance(p.default, type))


def _own_dataclass(annotation: Any, module: ModuleType) -> type | None:
    """Return the dataclass of the file that an annotation names, or None."""
    kind = annotation if isinstance(annotation, type) else vars(module).get(str(annotation))
    own = isinstance(kind, type) and is_dataclass(kind) and kind.__module__ == module.__name__
    return kind if own and isinstance(kind, type) else None


class Recorder(dict[str, Any]):
    """Stands in for a configuration, and remembers what is asked of it, as an attribute or as an item."""

    def __init__(self, value: Callable[[str], Any]):
        super().__init__()
        self.__dict__["asked"] = {}
        self.__dict__["by_item"] = set()
        self.__dict__["value"] = value

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._answer(name)

    def __getitem__(self, name: str) -> Any:
        self.by_item.add(name)
        return self._answer(name)

    def get(self, name: str, default: Any = None) -> Any:
        self.by_item.add(name)
        return self._answer(name)

    def __contains__(self, name: object) -> bool:
        return True

    def _answer(self, name: str) -> Any:
        self.asked.setdefault(name, self.value(name))
        return self.asked[name]


def _configuration(p: inspect.Parameter, table: Meanings, module: ModuleType) -> list[str]:
    """Return expressions for a configuration object: a class that the file has for it, and one to be filled."""
    found = []
    annotated = isinstance(p.annotation, type) and p.annotation is not p.empty
    own = p.annotation if annotated else getattr(module, str(p.annotation), None)
    there = [own] if isinstance(own, type) else [v for v in vars(module).values() if isinstance(v, type)]
    for kind in there:
        entries = _entries_of(kind, module)
        given = entry_texts(list(entries), table)
        if any(given.values()):
            found += [f"theirs.{kind.__name__}({words})" for words in _entries(given, table, entries)]
    return [*found, "<namespace>"]


def _entries_of(kind: type, module: ModuleType) -> dict[str, Any]:
    """Return the entries of a class of configurations by name, with their types or values; none where it is none."""
    if is_dataclass(kind):
        own = kind.__module__ == module.__name__ or "config" in kind.__name__.lower()
        return {f.name: f.type for f in fields(kind) if f.init} if own else {}
    if hasattr(kind, "_fields"):
        return dict.fromkeys(kind._fields, int)
    if not re.search(r"Config(uration)?$", kind.__name__) or getattr(module, kind.__name__, None) is not kind:
        return {}
    try:
        return {name: value for name, value in vars(kind()).items() if not name.startswith("_")}
    except Exception:  # a class of that name that wants arguments
        return {}


def _entries(given: Mapping[str, str | None], table: Meanings, types: Mapping[str, Any]) -> Iterator[str]:
    """Yield the arguments for a configuration's class; one whose name says nothing may be the size of the model."""
    words = ", ".join(f"{name}={text}" for name, text in given.items() if text)
    if "embed" in table and table["embed"][0] not in given.values():
        for name, kind in types.items():
            if given[name] is None and kind in (int, "int"):
                yield ", ".join(filter(None, [words, f"{name}={table['embed'][0]}"]))
    yield words


def _said_by(text: str, table: Meanings) -> set[str]:
    """Return what an expression for a configuration object says, by what is in it."""
    return {meaning for meaning, texts in table.items() if any(f"={t}" in text for t in texts)}


def entry_texts(names: Sequence[str], table: Meanings) -> dict[str, str | None]:
    """Return the expressions for the entries of a configuration; sizes that are told apart mean different things."""
    options = {n: [m for m in table if m in meanings(n) and m != "config" and table[m]] for n in names}
    taken: set[str] = set()
    found: dict[str, str | None] = {}
    for name in sorted(names, key=lambda n: len([m for m in options[n] if m in _SIZES])):
        free = [m for m in options[name] if m not in _SIZES or m not in taken]
        chosen = (free or options[name] or [""])[0]
        taken.add(chosen)
        found[name] = table[chosen][0] if chosen else None
    return {name: found[name] for name in names}


def entry_text(name: str, table: Meanings) -> str | None:
    """Return the expression for an entry of a configuration, or None where its name says nothing."""
    known = meanings(name)
    for meaning in table:
        if meaning in known and meaning != "config":
            return table[meaning][0]
    return None


def entry_default(name: str, module: ModuleType) -> str:
    """Return what an entry of a configuration is when its name says nothing: the file's own value, or nothing much."""
    for value in vars(module).values():
        there = value.get(name) if isinstance(value, dict) else getattr(value, name, None)
        if isinstance(there, bool | int | float | str) and not isinstance(value, ModuleType):
            return repr(there)
    return "0.0" if "drop" in name.lower() else "False"


# -- sizes in globals of the module


def _globals(thing: Any, table: Meanings, module: ModuleType) -> Iterator[Set]:
    """Yield statements that set the sizes that the code of ``thing`` reads from its module, and what they say.

    Sizes whose names say nothing may be any that is left; heads and their width make up the model where they are told.
    """
    known: dict[str, str] = {}
    unknown: list[str] = []
    read = {name: vars(module).get(name) for name in sorted(names_read(thing))}
    for name, value in read.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            continue
        meaning = next((m for m in meanings(name) if m in table and _may_be_set(m, table)), None)
        if meaning:
            known[name] = meaning
        elif not meanings(name) and isinstance(value, int):
            unknown.append(name)
    yield _set(known, table)
    left = [m for m in (*_SIZES, "head_dim") if m in table and m not in known.values()]
    for told in permutations(left, len(unknown)) if 0 < len(unknown) <= 3 else ():
        guess = {**known, **dict(zip(unknown, told, strict=True))}
        values = {meaning: read[name] for name, meaning in guess.items()}
        parts = [values.get(m) for m in ("embed", "heads", "head_dim")]
        if None in parts or parts[0] == parts[1] * parts[2]:  # type: ignore[operator]  # none of them is None
            yield _set(guess, table)


def _afresh(every: Sequence[Set], module: ModuleType) -> Iterator[Set]:
    """Yield statements, each with the module as it was before the others were run, and leave it so."""
    names = {statement.split(" = ")[0].removeprefix("theirs.") for before, _ in every for statement in before}
    kept = {name: getattr(module, name) for name in names}
    try:
        for each in every:
            yield each
            vars(module).update(kept)
    finally:
        vars(module).update(kept)


def _set(told: Mapping[str, str], table: Meanings) -> Set:
    statements = tuple(f"theirs.{name} = {table[meaning][0]}" for name, meaning in told.items())
    return statements, frozenset(told.values())


def _may_be_set(meaning: str, table: Meanings) -> bool:
    """Return whether a global may be given this meaning: a longest length only where a configuration says it."""
    return meaning != "max_len" or any("config." in text for text in table[meaning])


def names_read(thing: Any) -> set[str]:
    """Return the global names that a class or function reads, and those that what it names reads."""
    found: set[str] = set()
    todo, seen = [thing], set()
    while todo:
        this = todo.pop()
        if id(this) in seen:
            continue
        seen.add(id(this))
        for function in _functions(this):
            names = _code_names(function.__code__)
            found |= names
            todo += [v for n in names if isinstance(v := function.__globals__.get(n), type | FunctionType)
                     and getattr(v, "__module__", "") == function.__module__]  # fmt: skip
    return found


def integers_of(thing: Any) -> list[int]:
    """Return the small integers that the code of a class knows, from its module or written into it."""
    found = {n for function in _functions(thing) for n in function.__code__.co_consts if type(n) is int}
    for function in _functions(thing)[:1]:
        found |= {v for name in names_read(thing) if type(v := function.__globals__.get(name)) is int}
    return sorted(n for n in found if 3 < n <= 64)


def _functions(thing: Any) -> list[FunctionType]:
    if isinstance(thing, FunctionType):
        return [thing]
    if not isinstance(thing, type):
        return []
    own = [v for kind in thing.__mro__ if kind.__module__ == thing.__module__ for v in vars(kind).values()]
    return [inspect.unwrap(v) for v in own if isinstance(v, FunctionType)]


def _code_names(code: CodeType) -> set[str]:
    inner = [c for c in code.co_consts if isinstance(c, CodeType)]
    return set(code.co_names).union(*(_code_names(c) for c in inner))


# -- running a construction


def run(made: Construction, space: dict[str, Any]) -> Any:
    """Return what a construction builds in ``space``, which has config, theirs, …"""
    for statement in made.before:
        exec(statement, space)
    return eval(made.text, space)


def filled(made: Construction, table: Meanings, module: ModuleType, space: dict[str, Any]) -> Construction:
    """Return the construction with its configuration objects written out, after a look at what is asked of them."""
    if "<namespace>" not in made.text:
        return made

    texts: dict[str, str] = {}

    def value(name: str) -> Any:
        return eval(texts.get(name) or entry_text(name, table) or entry_default(name, module), space)

    for _ in range(3):  # until no name is asked for that was not known
        recorder = Recorder(value)
        failure: Exception | None = None
        try:
            inside = {**space, "recorder": recorder}
            run(Construction(made.text.replace("<namespace>", "recorder"), made.before), inside)
        except Exception as error:
            failure = error
        known = entry_texts(list(recorder.asked), table)
        before, texts = texts, {name: text or entry_default(name, module) for name, text in known.items()}
        if texts == before:
            break
    if failure is not None:
        raise failure
    if recorder.by_item:
        words = "{" + ", ".join(f'"{name}": {text}' for name, text in texts.items()) + "}"
    else:
        words = "SimpleNamespace(" + ", ".join(f"{name}={text}" for name, text in texts.items()) + ")"
    given = {m for name in texts for m in meanings(name)[:1]}
    return Construction(made.text.replace("<namespace>", words), made.before, made.given | given)


def space_for(config: Any, module: ModuleType, **more: Any) -> dict[str, Any]:
    """Return the names that a construction's text may use."""
    import torch

    return {
        "config": config,
        "theirs": module,
        "torch": torch,
        "nn": torch.nn,
        "functional": functional,
        "SimpleNamespace": SimpleNamespace,
        **more,
    }
