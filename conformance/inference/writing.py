"""An inferred binding written out as an adapter, to be read, edited and kept."""

import re
import textwrap
from collections.abc import Sequence

from attnconf.adapters import generated
from attnconf.conformance.inference import SHOWN, bindings, nothing_in, told_refusals
from attnconf.conformance.inference.trials.binding import Bound
from attnconf.conformance.loading.find import LoadError
from attnconf.conformance.loading.resolve import source_of
from attnconf.conformance.source.reader import Source

WIDTH = 100  # of a dict and its name on one line


def adapter(typed: str) -> str:
    """Return the adapter for what a name stands for. Raises LoadError where nothing in it can be bound."""
    name, source = source_of(typed)
    bound, refused = bindings(source, name.chosen, name.component)
    if not bound:
        why = "; ".join(told_refusals(source, refused)[:SHOWN]) or nothing_in(source)
        raise LoadError(f"{typed}: {why}")
    return adapter_text(bound, source)


def adapter_text(bound: Sequence[Bound], source: Source) -> str:
    """Return the module that gives what running the file itself gives; one of several classes has variants."""
    bodies = [_alone(bound[0])] if len(bound) == 1 else [_variant(b) for b in bound]
    body = "\n".join(bodies)
    head = [_docstring(bound, source), "", *_imports(body, source, bound), "", _theirs(source)]
    lent_by = _lent_by(bound)
    head += [f"arrays = {lent_by[1]}(theirs)"] if lent_by else []
    head += ['binding = "inferred"']
    if len(bound) > 1:
        head.append("variants = {}")
    return "\n".join([*head, body]).rstrip() + "\n"


def _docstring(bound: Sequence[Bound], source: Source) -> str:
    lines = [f'"""{_called(source)}, inferred by `attnconf bind`; edit it freely.', ""]
    for b in bound:
        lines += [
            f"{b.place.name} as {b.draft.component}, {b.standing}:",
            *(f"    {_wrapped(line)}" for line in (*b.told, *b.calling)),
        ]
    return "\n".join([*lines, '"""'])


def _wrapped(line: str) -> str:
    return textwrap.fill(line, 112, subsequent_indent=" " * 17, break_long_words=False, break_on_hyphens=False)


def _called(source: Source) -> str:
    return source.path.name if source.path is not None else source.module.__name__


def _lent_by(bound: Sequence[Bound]) -> list[str]:
    """Return the module and the name of what lends the user's definitions to torch; [] where nothing does."""
    return next((b.place.lent_by.split(".") for b in bound if b.place.in_arrays), [])


def _imports(body: str, source: Source, bound: Sequence[Bound]) -> list[str]:
    """Return the imports that the text needs."""
    standard = ["import math"] if re.search(r"\bmath\.", body) else []
    standard += ["from types import SimpleNamespace"] if "SimpleNamespace(" in body else []
    theirs = ["import torch"] if re.search(r"\btorch\.", body) else []
    theirs += ["from torch import nn"] if re.search(r"\bnn\.", body) else []
    ours = ["from attnconf.adapters import bind"] if re.search(r"\bbind\(", body) else []
    lent_by = _lent_by(bound)
    ours += [f"from attnconf.adapters.generated.{lent_by[0]} import {lent_by[1]}"] if lent_by else []
    helpers = sorted(name for name in generated.__all__ if re.search(rf"\b{name}\(", body))
    helpers += ["definitions"] if source.path is not None else []
    names = ", ".join(sorted(set(helpers)))
    ours += [f"from attnconf.adapters.generated import {names}"] if names else []
    if len(ours) and len(ours[-1]) > 110:
        listed = textwrap.fill(names, 112, initial_indent="    ", subsequent_indent="    ")
        ours[-1] = f"from attnconf.adapters.generated import (\n{listed},\n)"
    groups = [g for g in (standard, theirs, ours) if g]
    return [line for i, group in enumerate(groups) for line in ([""] if i else []) + group]


def _theirs(source: Source) -> str:
    if source.path is not None:
        return f"theirs = definitions({str(source.path)!r})"
    return f"import {source.module.__name__} as theirs  # noqa: E402"


def _body(b: Bound) -> str:
    """Return the function, over the user's definitions as they are, or as they take and give tensors."""
    return re.sub(r"\btheirs\.", "arrays.", b.draft.body) if b.place.in_arrays else b.draft.body


def _alone(b: Bound) -> str:
    lines = [f"declares = {dict(b.draft.declares)!r}"] if b.draft.declares else []
    lines += [f"profile = {b.profile!r}"] if b.profile else []
    lines += [f"established = False  # {b.doubt or 'a guess'}"] if not b.established else []
    return "\n".join([*lines, "", "", _body(b)])


def _variant(b: Bound) -> str:
    entries = [f'"{name}": {name}' for name in (b.draft.component, *b.draft.also)]
    entries += [f'"declares": {dict(b.draft.declares)!r}']
    entries += [f'"profile": {b.profile!r}'] if b.profile else []
    entries += ['"established": False'] if not b.established else []
    listed = f"{{{', '.join(entries)}}}"
    if len(listed) + len(b.place.name) > WIDTH:
        listed = "\n".join(["{", *(f"    {entry}," for entry in entries), "}"])
    return f'\n\n{_body(b).rstrip()}\n\n\nvariants["{b.place.name}"] = {listed}'
