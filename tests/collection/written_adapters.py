"""The adapter that ``attnconf bind`` writes of a file, compared with what was run of the file."""

import ast
import dis
import re
import tempfile
from operator import attrgetter
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

from attnconf.conformance.source.syntax import tree_of


def _outcomes(run: Any) -> list[tuple[str, ...]]:
    return sorted(
        (p.entry.component, p.entry.lens, p.entry.requirement, run.outcomes[p.id].outcome) for p in run.plan.planned
    )


def compared(path: str, run: Any, again: bool) -> tuple[str, frozenset[str]]:
    """Return how the adapter that ``attnconf bind`` writes differs from what was run, and the features of its text."""
    from attnconf.conformance import inference
    from attnconf.conformance.inference.writing import adapter_text
    from attnconf.conformance.loading.resolve import source_of
    from attnconf.conformance.run import implementations
    from attnconf.conformance.run.judging import judge_all
    from attnconf.conformance.run.plan import Settings, make_plan

    name, source = source_of(path)
    bound, _ = inference.bindings(source, name.chosen, name.component)
    text = adapter_text(bound, source)
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "written_adapter.py"
        written.write_text(text, encoding="utf-8")
        loaded = implementations.load(str(written))
        ran = [i for i in run.plan.implementations if hasattr(i, "components")]
        wrong = _added(text, [_body(b) for b in bound])
        wrong += "".join(map(_unlike, ran, loaded)) if len(ran) == len(loaded) else f"{len(loaded)} implementations"
        if again and not wrong and _outcomes(run) != _outcomes(judge_all(make_plan(loaded, Settings()))):
            wrong = "other outcomes"
    return wrong, _features(path, text, ran)


def _body(bound: Any) -> str:
    """Return the text of a binding that is run, which names the user's definitions in arrays by another name."""
    text: str = bound.draft.body
    return re.sub(r"\btheirs\.", "arrays.", text) if bound.place.in_arrays else text


DOUBTED = "the mistake with which it is bound does not explain"  # run/doubts.py
HEAD = {"theirs", "arrays", "binding", "declares", "profile", "established", "variants"}


def _added(text: str, bodies: list[str]) -> str:
    """Return what a written adapter has besides the texts that were run, imports and what it declares; or nothing."""
    for body in bodies:
        if body not in text:
            return "its text is not the one that was run"
        text = text.replace(body, "", 1)
    for node in tree_of(text).body[1:]:  # after the docstring
        targets = {ast.unparse(target).partition("[")[0] for target in getattr(node, "targets", [])}
        if not isinstance(node, ast.Import | ast.ImportFrom) and not (targets and targets <= HEAD):
            return f"it adds {ast.unparse(node)}"
    return ""


def _unlike(ran: Any, loaded: Any) -> str:
    """Return what is not the same in the implementation that was run and the one that was loaded, or nothing."""
    for what, of in {
        "declares": attrgetter("declares"),
        "profile": attrgetter("profile"),
        "established": _sure,
    }.items():
        if of(ran) != of(loaded):
            return f"{what}: {of(ran)} was run, {of(loaded)} is written"
    if ran.components.keys() != loaded.components.keys():
        return f"components: {list(ran.components)} were run, {list(loaded.components)} are written"
    return "".join(_lacking(function, loaded.components[name]) for name, function in ran.components.items())


def _sure(implementation: Any) -> bool:
    """Return whether a binding was certified; that its run put it in doubt is not known where it is written."""
    binding = implementation.binding
    return binding is None or binding.established or DOUBTED in binding.doubt


def _lacking(ran: FunctionType, written: FunctionType) -> str:
    """Return what a function that was run finds among its globals, and the written one does not; or nothing."""
    for name in _globals(written.__code__) & ran.__globals__.keys() - {"theirs"}:
        one, other = ran.__globals__[name], written.__globals__.get(name)
        own = isinstance(one, FunctionType) and one.__globals__ is ran.__globals__
        if not own and one is not other:
            return f"{name} is not imported"
    return ""


def _globals(code: CodeType) -> set[str]:
    """Return the global names that a code reads, and those that the functions in it read."""
    found = {i.argval for i in dis.get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    return found.union(*(_globals(c) for c in code.co_consts if isinstance(c, CodeType)))


def _features(path: str, text: str, ran: list[Any]) -> frozenset[str]:
    from attnconf.adapters import generated
    from attnconf.conformance.chapters.contents import appearances

    looks = appearances()
    binders = sorted({looks[component].binder for i in ran for component in i.components if component in looks})
    found = [name for name in generated.__all__ if re.search(rf"\b{name}\(", text.replace("= definitions(", ""))]
    found += ["arrays"] if "in_arrays(theirs)" in text else ["lent"] if "arrays = " in text else []
    found += ["several"] if len(ran) > 1 else []
    found += ["notebook"] if path.endswith(".ipynb") else []
    found += ["unconfirmed"] if not all(map(_sure, ran)) else []
    return frozenset(f"{binder}: {name}" for binder in binders for name in ("plain", *found))
