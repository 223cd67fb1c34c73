"""Classes of a file that hold sizes, each under a name: dataclasses and named tuples."""

import inspect
import re
from collections.abc import Iterator
from dataclasses import MISSING, dataclass, fields, is_dataclass
from types import ModuleType, UnionType
from typing import Any, TypeGuard, Union, get_args, get_origin


@dataclass(frozen=True)
class Entry:
    """What a record holds under a name: what its annotation says, and its default, MISSING without one."""

    name: str
    type: Any
    default: Any
    optional: bool  # it may be left out


def entries_of(kind: Any) -> list[Entry]:
    """Return what a dataclass or a named tuple is built of; nothing of anything else."""
    if isinstance(kind, type) and is_dataclass(kind):
        return [Entry(f.name, f.type, f.default, f.default is not MISSING or f.default_factory is not MISSING)
                for f in fields(kind) if f.init]  # fmt: skip
    if not is_named_tuple(kind):
        return []
    types, defaults = inspect.get_annotations(kind), kind._field_defaults
    return [Entry(n, types.get(n), defaults.get(n, MISSING), n in defaults) for n in kind._fields]


def is_named_tuple(kind: Any) -> bool:
    """Return whether something is a class of named tuples."""
    return isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields")


def is_record(kind: Any) -> TypeGuard[type]:
    """Return whether something is a dataclass, or a named tuple with whole numbers; others hold weights, or results."""
    if not isinstance(kind, type) or holds_tensors(kind):
        return False
    whole = (entry.type in (int, "int") or type(entry.default) is int for entry in entries_of(kind))
    return is_dataclass(kind) or (is_named_tuple(kind) and any(whole))


def holds_tensors(kind: Any) -> bool:
    """Return whether a dataclass or a named tuple says that it holds tensors, and nothing that a setting may be."""
    types = [entry.type if isinstance(entry.type, str) else str(entry.type) for entry in entries_of(kind)]
    settings = (re.search(r"\b(int|float|bool|str)\b", said) for said in types)
    return any(re.search(r"Tensor|[Aa]rray|Parameter", said) for said in types) and not any(settings)


def own_record(annotation: Any, module: ModuleType) -> type | None:
    """Return the record of the file that an annotation names, or None."""
    kind = class_named(annotation, module)
    return kind if is_record(kind) and kind.__module__ == module.__name__ else None


def records_made(module: ModuleType, text: str) -> Iterator[type]:
    """Yield the records of a file that a text makes."""
    for kind in list(vars(module).values()):
        if is_record(kind) and f"theirs.{kind.__name__}(" in text:
            yield kind


def class_named(annotation: Any, module: ModuleType) -> type | None:
    """Return the class that an annotation names, the one beside None where it is optional; None where it names none."""
    if isinstance(annotation, str):
        words = re.sub(r"^(?:typing\.)?Optional\[(.*)\]$|\s*\|\s*None$|^None\s*\|\s*", r"\1", annotation.strip())
        annotation = vars(module).get(words)
    inner = [kind for kind in get_args(annotation) if kind is not type(None)]
    if len(inner) == 1 and get_origin(annotation) in (Union, UnionType):
        annotation = inner[0]
    return annotation if isinstance(annotation, type) and annotation is not inspect.Parameter.empty else None
