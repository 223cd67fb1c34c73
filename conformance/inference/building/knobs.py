"""Where a class has its sizes: arguments, entries of a configuration, numbers in globals, defaults of inner classes."""

import inspect
import re
import sysconfig
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, dataclass
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from torch import nn

from attnconf.conformance.inference.building.building import Construction, Meanings
from attnconf.conformance.inference.building.configurations import is_configuration
from attnconf.conformance.inference.building.construction import FLAGS, Part, choices_of
from attnconf.conformance.inference.building.module_sizes import names_read
from attnconf.conformance.inference.trials.budgets import KNOBS
from attnconf.conformance.inference.words import keyword_arguments
from attnconf.conformance.inference.words.asked import asked_of, codes_of, may_be_none, start_of
from attnconf.conformance.inference.words.records import Entry, entries_of, own_record
from attnconf.conformance.inference.words.vocabulary import meanings
from attnconf.conformance.source.signatures import parameters_of
from attnconf.conformance.source.source_text import code_reached

ARGUMENT, ENTRY, GLOBAL = "argument", "entry", "global"
# What is tried first where a size has no value of its own: heads divide the width, no two sizes are equal.
USUAL = {"embed": 24, "heads": 4, "hidden": 40, "layers": 2, "decoder_layers": 2, "vocab": 30, "head_dim": 6,
         "max_len": 50, "ratio": 4}  # fmt: skip
SILENT = 8  # where its name says nothing
LIBRARY = sysconfig.get_path("stdlib")
FLOATS = ("dropout", "eps")
OPTIONS = {"norm_first", "eps"}  # of which a binding says what it can be asked for


@dataclass(frozen=True)
class Knob:
    """A size. ``where`` it stands: an argument, an entry, a global, or the class whose constructor has it as a default.

    ``free``: it has no value of its own, so that one has to be given.
    """

    where: str
    name: str
    value: int
    free: bool = False


@dataclass(frozen=True)
class Holder:
    """A configuration object: its entries, and how one with some of them replaced is written."""

    entries: Mapping[str, Any]
    write: Callable[[Mapping[str, str]], str]
    required: frozenset[str] = frozenset()  # entries without a default


@dataclass(frozen=True)
class Panel:
    """All sizes of a class, and how it is built with some of them set."""

    name: str
    table: Meanings
    module: ModuleType
    parameters: tuple[inspect.Parameter, ...]
    starred: bool  # it takes arguments by any name
    holders: Mapping[str, Holder]  # by the parameter that wants one
    others: Mapping[str, str]  # texts for parameters that are no sizes
    inner: Mapping[str, type]  # classes that it builds
    knobs: tuple[Knob, ...]
    fraction: Knob | None = None  # what may be a probability, although nothing says so
    options: frozenset[str] = frozenset()  # what is asked for by a parameter that is no size

    def meaning(self, knob: Knob) -> str:
        """Return what the name of a size says, or nothing."""
        return meaning_of(knob.name, self.table)

    def construction(self, texts: Mapping[Knob, str], given: frozenset[str]) -> Construction:
        """Return the construction with these expressions for some sizes; the others are as they are."""
        entries = {k.name: text for k, text in texts.items() if k.where == ENTRY}
        arguments = dict(self.others) | {k.name: text for k, text in texts.items() if k.where == ARGUMENT}
        arguments |= {k.name: str(k.value) for k in self.knobs if k.free and k.where == ARGUMENT and k not in texts}
        arguments |= {name: holder.write(entries) for name, holder in self.holders.items()}
        words = [
            arguments[p.name] if p.kind is p.POSITIONAL_ONLY else f"{p.name}={arguments[p.name]}"
            for p in self.parameters
            if p.name in arguments
        ]
        extra = set(arguments) - {p.name for p in self.parameters}  # of **kwargs
        words += [f"{name}={arguments[name]}" for name in sorted(extra)]
        before = [f"theirs.{k.name} = {text}" for k, text in texts.items() if k.where == GLOBAL]
        before += [line for name, kind in self.inner.items() for line in _defaults_set(name, kind, texts)]
        return Construction(f"{self.name}({', '.join(words)})", tuple(before), given | self.options)

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Undo afterwards what the statements of constructions set."""
        there = {k.name: getattr(self.module, k.name) for k in self.knobs if k.where == GLOBAL}
        starts: list[Any] = [kind.__init__ for kind in self.inner.values()]  # type: ignore[misc]  # of the class itself
        defaults = [(start, start.__defaults__, dict(start.__kwdefaults__ or {})) for start in starts]
        try:
            yield
        finally:
            for name, value in there.items():
                setattr(self.module, name, value)
            for start, positional, named in defaults:
                start.__defaults__ = positional
                if start.__kwdefaults__ is not None:
                    start.__kwdefaults__.update(named)


def meaning_of(name: str, table: Meanings) -> str:
    """Return what a name says of a size, or nothing."""
    return next((m for m in meanings(name) if m in table and m in USUAL), "")


def panel_of(
    called: str, thing: Any, table: Meanings, module: ModuleType, part: Part, fraction: str = ""
) -> Panel | None:
    """Return the sizes of a class; None where something has to be given that is neither a size nor known.

    ``fraction`` is the name of what is no size but a probability, although nothing says so.
    """
    every = parameters_of(thing)
    parameters = tuple(p for p in every if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD))
    holders: dict[str, Holder] = {}
    others: dict[str, str] = {}
    knobs: list[Knob] = []
    options: set[str] = set()
    for p in parameters:
        wanted = is_configuration(p, module, thing)
        holder = (_holder(p, module, table) or _asked(p, thing, table, fraction)) if wanted else None
        if holder is not None:
            holders[p.name] = holder
            knobs += _of_entries(holder)
            code = code_reached(thing)  # an entry that nobody reads is no option
            flags = {n: v for n, v in holder.entries.items() if type(v) is bool and re.search(rf"\W{n}\b", code)}
            options |= OPTIONS & {meaning for _, meaning in _named_entries(flags, table)}
        elif p.name == fraction:
            others[p.name] = "0.0"
        elif type(p.default) is int or _may_be_a_size(p, table, part):
            free = p.default is p.empty
            knobs.append(Knob(ARGUMENT, p.name, _usual(p.name, table) if free else p.default, free))
        elif (first := choices_of(p, table, module, part, thing)[0])[0]:
            others[p.name], meaning = first
            options |= {meaning} & OPTIONS
    if any("<namespace>" in text for text in others.values()):
        return None
    starred = any(p.kind is p.VAR_KEYWORD for p in every)
    if starred:
        known, more = {p.name for p in parameters}, keyword_arguments.starred(thing)
        words = dict.fromkeys([*_words_of(thing, module), *more])
        named = [n for n in words if meaning_of(n, table) and n not in known]
        knobs += [Knob(ARGUMENT, name, _usual(name, table), True) for name in named]
        others |= dict(_other_entries({n: p.default for n, p in more.items() if n not in named}, table))
    read = names_read(thing)
    knobs += [Knob(GLOBAL, name, v) for name in sorted(read) if type(v := vars(module).get(name)) is int and v > 1]
    own: dict[str, Any] = {name: vars(module).get(name) for name in sorted(read)}
    inner = {name: kind for name, kind in own.items() if _is_inner(kind, thing, module)}
    knobs += [
        Knob(name, p.name, p.default)
        for name, kind in inner.items() for p in parameters_of(kind) if type(p.default) is int and p.default > 1
    ]  # fmt: skip
    unsure = Knob(ARGUMENT if fraction in others else ENTRY, fraction, 0) if fraction else None
    asked = frozenset(options)
    panel = Panel(called, table, module, parameters, starred, holders, others, inner, tuple(knobs), unsure, asked)
    return panel if len(knobs) <= KNOBS else None


def _usual(name: str, table: Meanings) -> int:
    return USUAL.get(meaning_of(name, table), SILENT)


def _may_be_a_size(p: inspect.Parameter, table: Meanings, part: Part) -> bool:
    """Return whether a parameter without a default may be a size: nothing says that it is something else."""
    if p.default is not p.empty or p.annotation not in (p.empty, int, "int") or part(p.name, p):
        return False
    known = meanings(p.name)
    return bool(meaning_of(p.name, table)) or not known


def _words_of(thing: Any, module: ModuleType) -> list[str]:
    """Return the words that a constructor, or one that it calls, may ask its keyword arguments for."""
    kinds = [thing, *(v for n in sorted(names_read(thing)) if _is_inner(v := vars(module).get(n), thing, module))]
    starts = [getattr(getattr(kind, "__init__", None), "__code__", None) for kind in kinds]
    words = (word for start in starts if start for code in codes_of(start) for word in code.co_consts)
    return list(dict.fromkeys(word for word in words if isinstance(word, str) and word.isidentifier()))


def _is_inner(kind: Any, thing: Any, module: ModuleType) -> bool:
    part = isinstance(kind, type) and issubclass(kind, nn.Module) and kind is not thing
    return part and hasattr(kind.__init__, "__code__") and (kind.__module__ == module.__name__ or _is_beside(kind))


def _is_beside(kind: Any) -> bool:
    """Return whether a class comes from another file of the user's: from no library."""
    path = Path(kind.__init__.__code__.co_filename)
    return not {"site-packages", "dist-packages"} & set(path.parts) and not path.is_relative_to(LIBRARY)


def _defaults_set(name: str, kind: type, texts: Mapping[Knob, str]) -> Iterator[str]:
    """Yield statements that give a class other defaults."""
    own = {k.name: text for k, text in texts.items() if k.where == name}
    start: Any = kind.__init__  # type: ignore[misc]  # of the class itself
    late = {n: text for n, text in own.items() if n in (start.__kwdefaults__ or {})}
    if late:
        words = ", ".join(f"{n}={text}" for n, text in late.items())
        yield f"theirs.{name}.__init__.__kwdefaults__.update({words})"
    if len(late) < len(own):
        defaults = [p for p in parameters_of(kind) if p.default is not p.empty and p.kind is not p.KEYWORD_ONLY]
        before = f"theirs.{name}.__init__.__defaults__"
        yield f"{before} = ({', '.join(own.get(p.name, f'{before}[{i}]') for i, p in enumerate(defaults))},)"


# -- configuration objects


def _holder(p: inspect.Parameter, module: ModuleType, table: Meanings) -> Holder | None:
    """Return the configuration object that a parameter wants; None where nothing of the file tells its entries."""
    kind = own_record(p.annotation, module) or own_record(p.default, module) or own_record(type(p.default), module)
    there = [kind] if kind else list(filter(None, (own_record(v, module) for v in vars(module).values())))
    if kind is None and isinstance(p.default, dict | SimpleNamespace):
        there = []
    for one in there:
        entries = {entry.name: _start_of(entry, table) for entry in entries_of(one)}
        if any(type(v) is int for v in entries.values()):
            required = [entry.name for entry in entries_of(one) if not entry.optional]
            return _of_class(one, entries, required, table)
    for name, value in vars(module).items():
        if value is p.default or (p.default is p.empty and isinstance(value, dict | SimpleNamespace)):
            entries = value if isinstance(value, dict) else getattr(value, "__dict__", {})
            if any(type(v) is int for v in entries.values()) and all(isinstance(key, str) for key in entries):
                return _of_object(f"theirs.{name}", value, entries, table)
    return None


def _asked(p: inspect.Parameter, thing: Any, table: Meanings, fraction: str) -> Holder | None:
    """Return a configuration object with what the code asks of it; None where it asks for nothing."""
    if p.default is not p.empty:
        return None
    asked = asked_of(thing, p.name)
    usual, code = {name: _usual(name, table) for name in asked.entries}, code_reached(thing)
    none = {name for name in asked.entries if not meanings(name) and may_be_none(name, code)}
    entries = {
        name: start_of(name, usual[name]) if v is None and name not in none else v for name, v in asked.entries.items()
    }
    entries |= {fraction: 0.0} if fraction in entries else {}

    def write(texts: Mapping[str, str]) -> str:
        words = {n: repr(v) for n, v in entries.items()} | dict(_other_entries(entries, table)) | dict(texts)
        if asked.by_item:
            return "{" + ", ".join(f'"{n}": {text}' for n, text in words.items()) + "}"
        return f"SimpleNamespace({', '.join(f'{n}={text}' for n, text in words.items())})"

    return Holder(entries, write) if entries else None


def _start_of(entry: Entry, table: Meanings) -> Any:
    if entry.default is not MISSING:
        return entry.default
    return _usual(entry.name, table) if entry.type in (int, "int") else None


def _of_class(kind: type, entries: Mapping[str, Any], required: Sequence[str], table: Meanings) -> Holder:
    def write(texts: Mapping[str, str]) -> str:
        known = {name: str(entries[name]) for name in required if type(entries[name]) is int}
        words = known | dict(_other_entries(entries, table)) | dict(texts)
        return f"theirs.{kind.__name__}({', '.join(f'{n}={words[n]}' for n in entries if n in words)})"

    return Holder(entries, write, frozenset(required))


def _of_object(name: str, value: Any, entries: Mapping[str, Any], table: Meanings) -> Holder:
    def write(texts: Mapping[str, str]) -> str:
        words = dict(_other_entries(entries, table)) | dict(texts)
        listed = "".join(f', "{n}": {text}' for n, text in words.items())
        if isinstance(value, dict):
            return f"{{**{name}{listed}}}"
        return f"SimpleNamespace(**{{**vars({name}){listed}}})"

    return Holder(dict(entries), write)


def _other_entries(entries: Mapping[str, Any], table: Meanings) -> Iterator[tuple[str, str]]:
    """Yield expressions for entries that are no sizes, where name and value agree on what they are."""
    for name, meaning in _named_entries(entries, table):
        yield name, table[meaning][0]


def _named_entries(entries: Mapping[str, Any], table: Meanings) -> Iterator[tuple[str, str]]:
    """Yield the entries that are no sizes, where name and value agree on what they are, with that."""
    for name, value in entries.items():
        allowed = {float: FLOATS, bool: FLAGS}.get(type(value), ())
        meaning = next((m for m in meanings(name) if m in table and m in allowed and table[m]), "")
        if meaning:
            yield name, meaning


def _of_entries(holder: Holder) -> list[Knob]:
    sizes = {name: value for name, value in holder.entries.items() if type(value) is int and value > 1}
    return [Knob(ENTRY, name, value, name in holder.required) for name, value in sizes.items()]
