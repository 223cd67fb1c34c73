"""Configuration objects that a constructor wants: classes of the file, or what is asked of one, filled in."""

import inspect
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from itertools import islice, permutations
from types import ModuleType, SimpleNamespace
from typing import Any, Literal, get_origin

from attnconf.conformance.inference.building.building import SIZES, Construction, Meanings, run
from attnconf.conformance.inference.building.made_configurations import made_by_functions
from attnconf.conformance.inference.trials.budgets import FEW
from attnconf.conformance.inference.trials.recorded import (
    Path,
    Recorder,
    ask_as_calls_do,
    called,
    is_of_a_section,
    names_of,
)
from attnconf.conformance.inference.words.asked import asked_of, may_be_none, sizes_asked_of
from attnconf.conformance.inference.words.records import class_named, entries_of, is_named_tuple, is_record, own_record
from attnconf.conformance.inference.words.vocabulary import MOST_SAMPLES, SAMPLES, meanings, snake
from attnconf.conformance.source import source_text
from attnconf.conformance.source.signatures import parameters_of
from attnconf.conformance.source.source_text import code_reached

LITERAL = r"""("[^"\n]*"|'[^'\n]*'|True|False|-?\d+(?:\.\d+)?(?:e-?\d+)?)"""
SEVERAL = 3  # sizes that are asked of one object: it is no part, which knows its own width
UNSAID = ("embed", "heads")  # what entries whose names say nothing may be
ROUNDS = 12  # looks at what is asked of a configuration


def is_configuration(p: inspect.Parameter, module: ModuleType, thing: Any) -> bool:
    """Return whether a parameter is an object that holds sizes: by its name, its default or its annotation.

    A letter is one only where the code of ``thing`` asks something of it.
    """
    if "config" in meanings(p.name) and (len(p.name) > 1 or asked_of(thing, p.name).entries):
        plain = isinstance(p.default, bool | int | float | str | tuple) and not hasattr(p.default, "_fields")
        return p.default is p.empty or not plain
    if p.default is p.empty and len(sizes_asked_of(thing, p.name)) >= SEVERAL:  # whatever it is called
        return True
    plain = isinstance(p.default, type) and not hasattr(p.default, "forward") and p.default is not p.empty
    plain = plain and not hasattr(p.default, "dtype")  # NumPy's types of numbers
    annotated = is_record(class_named(p.annotation, module))
    filled = isinstance(p.default, dict | SimpleNamespace) and bool(p.default)
    return plain or annotated or filled or is_record(type(p.default))


def configuration(p: inspect.Parameter, table: Meanings, module: ModuleType) -> list[str]:
    """Return expressions for a configuration object: a class that the file has for it, and one to be filled."""
    found = []
    own = class_named(p.annotation, module)
    there = [own] if own is not None else [v for v in vars(module).values() if isinstance(v, type)]
    for kind in there:
        entries = _entries_of(kind, module)
        whole = [name for name, kind in entries.items() if kind in (int, "int") or type(kind) is int]
        given = dict.fromkeys(entries) | entry_texts([n for n, t in entries.items() if not is_a_word(t)], table, whole)
        known = any(given.values()) or bool(_sections(entries, table, module)) or is_record(own)
        for each in (given, otherwise(given, table)) if known else ():
            sections = _sections(entries, table, module)
            found += [f"theirs.{kind.__name__}({words})" for words in _entries({**each, **sections}, table, entries)]
    annotated = own is not None and is_record(own) and own.__module__ == module.__name__
    same = [] if found and annotated else ["<namespace>"]  # a library's record may check what it is given
    return [*dict.fromkeys(found), *same, *_with_defaults(table, module)]


def is_a_word(kind: Any) -> bool:
    """Return whether an entry of this type is a word: ``positions: str`` is not their number."""
    of_words = isinstance(kind, str) and re.match(r"str\b|(typing\.)?Literal\[", kind)
    return kind is str or get_origin(kind) is Literal or bool(of_words)


def without_unread(text: str, thing: Any) -> str:
    """Return the text of a configuration without a dropout that the code of ``thing`` never reads.

    The configuration is that of a whole model, in which something else may drop.
    """
    code = code_reached(thing)
    named = re.findall(r"\b(\w+)=config\.dropout\b", text)
    if not code or re.search(r"[(,]\s*\*\*|asdict|vars\(|getattr", code):
        return text
    for name in {n for n in named if not re.search(rf"\.{n}\b|[\"']{n}[\"']", code)}:
        text = re.sub(rf", {name}=config\.dropout\b|\b{name}=config\.dropout(, )?", "", text)
    return text


def otherwise(given: Mapping[str, str | None], table: Meanings) -> dict[str, str | None]:
    """Return the entries with the other meaning of what may be the width of a head: ``key_dim`` may be the keys'."""
    found = dict(given)
    for name, text in given.items():
        known = [m for m in meanings(name) if m in table and m != "head_dim" and table[m]]
        if known and text in table.get("head_dim", ()):
            found[name] = table[known[0]][0]
    return found


def _with_defaults(table: Meanings, module: ModuleType) -> Iterator[str]:
    """Yield dicts of the file that name sizes, with what is asked for in place of theirs."""
    for name, there in vars(module).items():
        known = entry_texts([n for n in there if isinstance(n, str)], table) if isinstance(there, Mapping) else {}
        if any(text and set(SIZES) & set(meanings(entry)) for entry, text in known.items()):
            words = ", ".join(f'"{entry}": {text}' for entry, text in known.items() if text)
            yield f"{{**theirs.{name}, {words}}}"


def _entries_of(kind: type, module: ModuleType) -> dict[str, Any]:
    """Return the entries of a class of configurations by name, with their types or values; none where it is none."""
    if is_dataclass(kind):
        own = kind.__module__ == module.__name__ or "config" in kind.__name__.lower()
        return {entry.name: entry.type for entry in entries_of(kind)} if own else {}
    if is_named_tuple(kind):
        return {entry.name: entry.type or int for entry in entries_of(kind)}
    if not re.search(r"Config(uration)?$", kind.__name__) or getattr(module, kind.__name__, None) is not kind:
        return {}
    try:
        values = {name: value for name, value in vars(kind()).items() if not name.startswith("_")}
        return {name: str if isinstance(value, str) else value for name, value in values.items()}
    except Exception:  # a class of that name that wants arguments: they are whole numbers, as BERT's vocab_size
        wanted = {p.name: int if p.default is p.empty else p.default for p in parameters_of(kind)}
        return {name: str if isinstance(value, str) else value for name, value in wanted.items()}


def _sections(entries: Mapping[str, Any], table: Meanings, module: ModuleType) -> dict[str, str]:
    """Return the entries that are records of the file in turn, with what is asked for in them."""
    found = {}
    for name, kind in entries.items():
        inner = own_record(kind, module)
        there = _entries_of(inner, module) if inner else {}
        whole = [entry for entry, kind in there.items() if kind in (int, "int")]
        names = {entry: called((name, entry)) for entry in there}
        texts = entry_texts(list(names.values()), table, [names[entry] for entry in whole])
        words = ", ".join(f"{entry}={texts[names[entry]]}" for entry in there if texts[names[entry]])
        if inner and words:
            found[name] = f"theirs.{inner.__name__}({words})"
    return found


def _entries(given: Mapping[str, str | None], table: Meanings, types: Mapping[str, Any]) -> Iterator[str]:
    """Yield the arguments for a configuration's class; those whose names say nothing may be the sizes that none says.

    The size of the model comes before the number of heads, as a rule.
    """
    silent = [name for name, kind in types.items() if given[name] is None and kind in (int, "int")]
    missing = [table[m][0] for m in UNSAID if table.get(m) and table[m][0] not in given.values()]
    for n in range(min(len(silent), len(missing)), 0, -1):
        for names in islice(permutations(silent, n), FEW):
            guessed = dict(zip(names, missing, strict=False))
            yield ", ".join(f"{name}={text}" for name, text in {**given, **guessed}.items() if text)
    yield ", ".join(f"{name}={text}" for name, text in given.items() if text)


def said_by(text: str, table: Meanings) -> set[str]:
    """Return what an expression for a configuration object says, by what is in it."""
    return {meaning for meaning, texts in table.items() if any(f"={t}" in text or f'": {t}' in text for t in texts)}


def entry_texts(names: Sequence[str], table: Meanings, whole: Collection[str] = ()) -> dict[str, str | None]:
    """Return the expressions for the entries of a configuration; sizes that are told apart mean different things.

    ``whole``: those that are whole numbers, as a ratio or a window is the last of its expressions.
    """
    options = {n: [m for m in table if m in meanings(n) and m != "config" and table[m]] for n in names}
    taken: set[str] = set()
    found: dict[str, str | None] = {}
    for name in sorted(names, key=lambda n: len([m for m in options[n] if m in SIZES])):
        free = [m for m in options[name] if m not in SIZES or m not in taken]
        chosen = (free or options[name] or [""])[0]
        taken.add(chosen)
        last = chosen and name in whole and (chosen == "ratio" or table[chosen][:1] == ("None",))
        found[name] = table[chosen][-1 if last else 0] if chosen else None
    found |= {name: SAMPLES for name in names if re.fullmatch(MOST_SAMPLES, snake(name))}
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
    for value in (*vars(module).values(), *made_by_functions(module)):
        there = value.get(name) if isinstance(value, dict) else getattr(value, name, None)
        if isinstance(there, bool | int | float | str) and not isinstance(value, ModuleType):
            return repr(there)
        if _is_none(value, name):
            return "None"
    text = source_text.text_of_module(module)
    if text and may_be_none(name, text.text):
        return "None"
    written = re.search(
        rf"""(?:getattr\(\s*\w+,|\.get\()\s*["']{re.escape(name)}["'],\s*{LITERAL}\s*\)""", text.text if text else ""
    )
    if written:
        return written[1]
    return "0.0" if "drop" in name.lower() else repr(_first_key(name, module, text.text if text else "") or False)


def _first_key(name: str, module: ModuleType, text: str) -> str:
    """Return the first key of a mapping of words that code looks an entry up in; "" where it does so in none."""
    looked_up = rf"(\}}|\b\w+)\[\s*(?:\w+\.)+{re.escape(name)}\s*\]"
    for found in re.finditer(looked_up, text):
        written = re.findall(r"""\{\s*["'](\w+)["']\s*:[^{}]*\}$""", text[: found.end(1)])
        there = vars(module).get(found[1])
        words = written or [key for key in there if isinstance(key, str)] if isinstance(there, dict) else written
        if words:
            return words[0]
    return ""


def _is_none(value: Any, name: str) -> bool:
    """Return whether a mapping or a class has an entry that is None, which is not the same as to be off."""
    there = value if isinstance(value, dict) else vars(value) if isinstance(value, type) else {}
    return name in there and there[name] is None


def unpacked(table: Meanings, module: ModuleType) -> list[str]:
    """Return the entries that a configuration of the file has, by the first mapping of defaults that names sizes."""
    there = [*vars(module).values(), *written_keys(module)]
    for kind in vars(module).values():
        if isinstance(kind, type) and kind.__module__ == module.__name__:
            there += vars(kind).values()
    for one in there:
        names = [n for n in one if isinstance(n, str)] if isinstance(one, dict | tuple) else []
        known = entry_texts(names, table)
        if any(text and set(SIZES) & set(meanings(name)) for name, text in known.items()):
            return [name for name, text in known.items() if text]
    return []


def _keys_read(table: Meanings, module: ModuleType) -> list[str]:
    """Return the keys by which a file's code reads mappings, of which one knows what they are."""
    text = source_text.text_of_module(module)
    keys = re.findall(r"""(?:\.(?:pop|get)\(|\w\[)\s*["'](\w+)["']""", text.text if text else "")
    return [key for key in dict.fromkeys(keys) if entry_text(key, table) is not None]


def written_keys(module: ModuleType) -> Iterator[tuple[str, ...]]:
    """Yield the names that code of the file writes out in one place: the keys of a mapping of defaults."""
    for kind in vars(module).values():
        if getattr(kind, "__module__", None) == module.__name__ and isinstance(kind, type):
            for each in filter(inspect.isfunction, vars(kind).values()):
                yield from (c for c in each.__code__.co_consts if isinstance(c, tuple))


def filled(made: Construction, table: Meanings, module: ModuleType, space: dict[str, Any]) -> Construction:
    """Return the construction with its configuration objects written out, after a look at what is asked of them."""
    if "<namespace>" not in made.text:
        return made

    texts: dict[Path, str] = {}
    entries, whole, deep = unpacked(table, module), False, False

    def value(path: Path) -> Any:
        name = called(path)
        return eval(texts.get(path) or entry_text(name, table) or entry_default(name, module), space)

    for _ in range(ROUNDS):  # until no name is asked for that was not known
        recorder = Recorder(value, entries, deep)
        failure: Exception | None = None
        try:
            inside = {**space, "recorder": recorder}
            ask_as_calls_do(
                run(Construction(made.text.replace("<namespace>", "recorder"), made.before), inside), recorder
            )
        except Exception as error:
            failure = error
            lacking = error.args[0] if isinstance(error, KeyError) and error.args else None
            if isinstance(lacking, str) and lacking not in entries:  # of a copy, which does not tell what it is asked
                entries = list(dict.fromkeys((*entries, lacking, *_keys_read(table, module))))
                continue
            whole = whole or (isinstance(error, TypeError) and bool(re.search("float|NoneType", str(error))))
            if not deep and is_of_a_section(error):
                deep = True
                continue
        paths = list(recorder.leaves())
        known = entry_texts(names_of(paths), table, names_of(paths) if whole else ())
        before, texts = texts, {path: known[called(path)] or entry_default(called(path), module) for path in paths}
        if texts == before:
            break
    if failure is not None:
        raise failure
    given = {m for path in texts for m in meanings(called(path))[:1]}
    words = recorder.written(texts)
    return Construction(made.text.replace("<namespace>", words), made.before, made.given | given)
