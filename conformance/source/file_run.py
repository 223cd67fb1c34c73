"""Run the statements of a file, all of them or the chosen ones, and note what was left out, failed or lost."""

import ast
import builtins
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import ModuleType

from attnconf.conformance.source import notebook, statements
from attnconf.conformance.source.exception_words import deed
from attnconf.conformance.source.not_loaded import NotLoaded
from attnconf.conformance.source.statements import Statement


@dataclass
class FileRun:
    """One run of a file's statements, with a list of the statements left out."""

    module: ModuleType
    outline: list[Statement]
    filename: str
    cells: notebook.Cells | None
    left_out: list[str] = field(default_factory=list)
    absent: dict[str, str] = field(default_factory=dict)  # names without a value, and why
    lacking: dict[str, str] = field(default_factory=dict)  # the part of ``absent`` whose import failed
    unusable: dict[str, str] = field(default_factory=dict)  # definitions that cannot work, and why
    failed: set[str] = field(default_factory=set)  # the definitions that raised

    def everything(self, tree: ast.Module) -> None:
        """Run the whole text. Raises NotLoaded if it raises or exits."""
        try:
            exec(compile(tree, self.filename, "exec", dont_inherit=True), vars(self.module))
        except KeyboardInterrupt:  # the user's
            raise
        except BaseException as error:
            raise NotLoaded(f"importing it {self._said(error)}") from error

    def whole(self, tree: ast.Module, wanted: Sequence[str]) -> None:
        """Run everything; if an import fails, run the definitions that do not use the missing package.

        Raises NotLoaded if no definition is left.
        """
        before = dict(vars(self.module))
        try:
            self.everything(tree)
        except NotLoaded as error:
            if not isinstance(error.__cause__, ImportError):
                raise
            vars(self.module).clear()
            vars(self.module).update(before)
            self.some(wanted)
            self.remove_unusable()
            if not self._defines():
                raise

    def _defines(self) -> bool:
        """Return whether any class or function of the file was defined."""
        return any(s.name in vars(self.module) for s in self.outline if s.kind == "definition" and s.name)

    def some(self, wanted: Sequence[str]) -> None:
        """Run the definitions and their needs, and note the statements that were not run."""
        run = statements.chosen(self.outline, wanted)
        future = self._future()
        for place, why in self.cells.broken if self.cells else ():
            self.left_out.append(f"{place}: {why}")
        for i, statement in enumerate(self.outline):
            if i not in run:
                self._skip(statement)
                continue
            code = compile(ast.Module([statement.node], []), self.filename, "exec", future, dont_inherit=True)
            try:
                exec(code, vars(self.module))
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                self._failed(statement, error)
            else:
                for known in (self.absent, self.lacking, self.unusable):
                    for name in statement.binds:
                        known.pop(name, None)

    def remove_unusable(self) -> None:
        """Remove the definitions that use a name without a value. Raises NotLoaded if no definition is left."""
        last = {s.name: s for s in self.outline if s.kind == "definition" and s.name and not s.drives}
        bound = {name for s in self.outline for name in s.binds} | set(vars(builtins))
        while True:
            before = len(self.unusable)
            for name, s in last.items():
                lost = [n for n in sorted(s.reads) if n in self.lacking or n in self.unusable]
                lost += ["*"] if "*" in self.lacking and s.reads - bound - set(vars(self.module)) else []
                if name not in self.unusable and lost:
                    why = self.lacking.get(lost[0])
                    needs = f"{why}; {name} ({self._at(s.node.lineno)}) needs it"
                    self.unusable[name] = needs if why else self.unusable[lost[0]]
            if len(self.unusable) == before:
                break
        ordered = [name for name in last if name in self.unusable]
        if ordered and len(ordered) == len(last):
            raise NotLoaded(self.unusable[ordered[0]])
        for name in ordered:
            vars(self.module).pop(name, None)
            self.absent[name] = self.unusable[name]

    def lost(self) -> tuple[str, ...]:
        """Return the lost definitions to report, even if others can be judged."""
        names = {s.name: s.is_layer for s in self.outline if s.name is not None and s.name in self.unusable}
        return tuple(name for name, layer in names.items() if layer or name in self.failed)

    def _future(self) -> int:
        """Return the compiler flags that the file's ``from __future__ import …`` asks for."""
        import __future__

        nodes = [s.node for s in self.outline if isinstance(s.node, ast.ImportFrom) and s.node.module == "__future__"]
        flags = [getattr(__future__, alias.name).compiler_flag for node in nodes for alias in node.names]
        return sum(set(flags))

    def _skip(self, statement: Statement) -> None:
        if statement.kind == "guard":
            return
        what = f"{self._place(statement)}, `{statement.words}`"
        self.left_out.append(what)
        for name in statement.binds - set(vars(self.module)):
            self.absent[name] = f"{what}, was not run: of this file only definitions and what they need are"

    def _failed(self, statement: Statement, error: BaseException) -> None:
        """Note a statement that failed, and the names that have no value without it."""
        what = f"{self._place(statement)}, `{statement.words}`"
        said = self._said(error, statement.node.lineno)
        for name in statement.binds - set(vars(self.module)):
            self.absent[name] = f"{what}, {said}"
            if isinstance(error, ImportError):
                self.lacking[name] = f"{what}, {said}"
        if statement.kind == "definition" and statement.name and not statement.drives:
            why = f"reading its definitions, {what}, {said}{self._explained(error) or not_run(self.left_out)}"
            starred = "*" in self.lacking and isinstance(error, NameError)
            if not starred and not statement.reads & set(self.lacking):  # a missing import is the better reason
                self.unusable[statement.name] = why
                self.failed.add(statement.name)
        self.left_out.append(f"{what}, which {said}")

    def _explained(self, error: BaseException) -> str:
        why = self.absent.get(error.name) if isinstance(error, NameError) and error.name else None
        return f"; {why}" if why else ""

    def _place(self, statement: Statement) -> str:
        return self._at(statement.node.lineno)

    def _at(self, line: int) -> str:
        return self.cells.place(line) if self.cells else f"line {line}"

    def _said(self, error: BaseException, at: int | None = None) -> str:
        """Return words on how a statement failed, with the line unless it is ``at``."""
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == self.filename]
        place = f" ({self._at(lines[-1])})" if lines and lines[-1] and lines[-1] != at else ""
        return f"{deed(error)}{place}"


def not_run(left_out: Sequence[str]) -> str:
    """Return words on the statements that were not run, to be put behind a reason; "" if there are none."""
    if not left_out:
        return ""
    return f" (not run: {'; '.join(left_out[:3])}{f' and {len(left_out) - 3} more' if len(left_out) > 3 else ''})"
