"""One-place changes of a file's code: where each is, its line before and after, and the whole text with it.

Only the changed node is written anew; the rest of the file stays as it is, to the letter.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from attnconf.conformance.mutating import kinds
from attnconf.conformance.source.syntax import tree_of

SHOWN = 160  # characters of a line
_APART = (ast.Import, ast.ImportFrom, ast.Raise, ast.Assert, ast.Global, ast.Nonlocal)  # whose words are not changed
_UNREAD = ("annotation", "returns", "decorator_list", "type_params", "bases", "ctx", "msg")  # fields, likewise


@dataclass(frozen=True)
class Change:
    """A file with one place changed."""

    kind: str
    line: int  # of the text, from 1
    before: str
    after: str
    text: str


@dataclass(frozen=True)
class Ran:
    """What of a text was run: lines inside its functions, and the names that these read."""

    lines: frozenset[int] = frozenset()
    names: frozenset[str] = frozenset()

    def reaches(self, statement: ast.stmt) -> bool:
        """Return whether a statement ran, or sets outside of functions what was read in them."""
        targets = [*getattr(statement, "targets", ()), getattr(statement, "target", None)]
        constant = not statement.col_offset or isinstance(statement, ast.AnnAssign)
        read = constant and any(isinstance(t, ast.Name) and t.id in self.names for t in targets)
        return read or bool(self.lines & _header(statement))


@dataclass(frozen=True)
class Site:
    """A node of the tree, and the field of its parent that holds it."""

    parent: ast.AST
    field: str
    index: int | None
    node: ast.AST
    statement: ast.stmt

    def put(self, node: ast.AST) -> None:
        if self.index is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.index] = node


def changes(text: str, ran: Ran | None = None) -> list[Change]:
    """Return all changes of a text that differ, in its order; ``ran``: only of what it reaches."""
    tree = tree_of(text)
    found: dict[str, Change] = {}
    for site in _sites(tree):
        if ran is not None and not ran.reaches(site.statement):
            continue
        for kind, node in kinds.alternatives(site.parent, site.field, site.index, site.node):
            changed = _written(tree, text, site, node)
            if changed is not None and changed != text and changed not in found:
                found[changed] = Change(kind, _line(site.node), *_shown(text, changed, site.node), changed)
    return sorted(found.values(), key=lambda c: c.line)


def _sites(tree: ast.Module) -> Iterator[Site]:
    """Yield the nodes of definitions and constants that may be changed; not what is run as a script alone."""
    for i, statement in enumerate(tree.body):
        if not _is_guard(statement) and not isinstance(statement, _APART):
            yield from _below(Site(tree, "body", i, statement, statement))


def _below(site: Site) -> Iterator[Site]:
    node = site.node
    if isinstance(node, (ast.JoinedStr, *_APART)) or _is_docstring(node):
        return
    if not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
        yield site
    for field, value in ast.iter_fields(node):
        if field in _UNREAD:
            continue
        for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(child, ast.AST):
                statement = child if isinstance(child, ast.stmt) else site.statement
                yield from _below(Site(node, field, index, child, statement))


def _is_guard(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.If) and "__name__" in ast.unparse(statement.test)


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _line(node: ast.AST) -> int:
    return int(getattr(node, "lineno", 1))


def _header(statement: ast.stmt) -> frozenset[int]:
    """Return the lines of a statement without the statements inside it; of a definition, those of its body too."""
    body = getattr(statement, "body", None)
    inside = isinstance(body, list) and body and not isinstance(statement, ast.FunctionDef | ast.ClassDef)
    last = body[0].lineno - 1 if inside else statement.end_lineno or statement.lineno  # type: ignore[index]
    return frozenset(range(statement.lineno, max(last, statement.lineno) + 1))


def _written(tree: ast.Module, text: str, site: Site, node: ast.AST) -> str | None:
    """Return the text in which a node is replaced, or None where it would be read as something else."""
    site.put(node)
    try:
        wanted = ast.dump(tree)
        words = ast.unparse(node)
    finally:
        site.put(site.node)
    for written in (words, f"({words})"):
        changed = _spliced(text, site.node, written)
        try:
            if ast.dump(tree_of(changed)) == wanted:
                return changed
        except SyntaxError:
            continue
    return None


def _spliced(text: str, node: ast.AST, words: str) -> str:
    start, end = _offsets(text, node)
    raw = text.encode()
    return (raw[:start] + words.encode() + raw[end:]).decode()


def _offsets(text: str, node: ast.AST) -> tuple[int, int]:
    """Return where a node begins and ends, in bytes."""
    lengths = [len(line.encode()) for line in text.splitlines(keepends=True)]
    at: list[int] = []
    for line, column in (("lineno", "col_offset"), ("end_lineno", "end_col_offset")):
        at.append(sum(lengths[: getattr(node, line) - 1]) + getattr(node, column))
    return at[0], at[1]


def _shown(before: str, after: str, node: ast.AST) -> tuple[str, str]:
    """Return the lines of a node before and after, each as one."""
    first, last = _line(node), int(getattr(node, "end_lineno", 1))
    old, new = before.splitlines(), after.splitlines()
    shown = old[first - 1 : last], new[first - 1 : last + len(new) - len(old)]
    return tuple(" ".join(line.strip() for line in lines)[:SHOWN] for lines in shown)  # type: ignore[return-value]
