"""Choose which statements of a file's top level are run: all, or only definitions and their needs.

A script that trains, plots and prints would take hours or fail, and says nothing of the layer it defines. Of such a
file these are run: imports, functions, classes, constants, settings, and the assignments whose names a kept
definition reads (as a global, a base, a decorator or a default). Never run are statements that fetch or train, and
assignments that only a training or plotting function reads. Of ``if __name__ == "__main__":`` constants are run that a
definition reads and nothing else binds: the file works as a script, and only so.
"""

import ast
import builtins
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace

from attnconf.adapters.contract import COMPONENTS
from attnconf.conformance.source.statement_names import bound, read

# Calls that cost nothing and read nothing from elsewhere, by the last part of their name.
_PLAIN = {
    "abs", "abspath", "array", "bool", "cache", "compile", "Counter", "cpu_count", "defaultdict", "deque",
    "device", "dict", "dirname", "Enum", "enumerate", "exists", "exp", "field", "float", "format", "frozenset",
    "get_logger", "getattr", "getenv", "getLogger", "hasattr", "int", "is_available", "is_built", "isinstance",
    "jit", "join", "len", "list", "log", "lru_cache", "max", "min", "NamedTuple", "namedtuple", "NewType",
    "object", "OrderedDict", "ParamSpec", "partial", "Path", "pow", "range", "round", "script", "set",
    "SimpleNamespace", "sqrt", "str", "tensor", "tuple", "type", "TypeVar", "TypeVarTuple", "vmap", "wraps",
    "zip",
}  # fmt: skip
# Calls that set something up for what follows.
_SETTINGS = {
    "manual_seed", "manual_seed_all", "seed", "filterwarnings", "simplefilter", "basicConfig", "set_printoptions",
    "set_default_dtype", "set_float32_matmul_precision", "set_verbosity_error", "set_loglevel",
}  # fmt: skip
# Calls that fetch, read from the user, or train.
_FETCHES = {
    "from_pretrained", "load_dataset", "hf_hub_download", "snapshot_download", "download", "download_url", "urlopen",
    "urlretrieve", "wget", "input", "raw_input", "system", "check_call", "check_output", "Popen",
    "load_state_dict_from_url", "pipeline", "load_data", "clone_from",
}  # fmt: skip
_TRAINS = {"backward", "zero_grad", "fit", "fit_transform", "step", "train"}
_PLOTS = {"savefig", "imshow", "subplots", "heatmap", "figure", "matshow", "show"}
_MODULES = {"requests", "plt"}  # whatever is done with these
_CONFIGS = {"config", "_config", "cfg", "conf", "configuration", "c", "_"}
_WEIGHTS = {"weights", "_weights", "w", "_"}


@dataclass(frozen=True)
class Statement:
    """One statement of the top level, with its kind, its names and its needs."""

    node: ast.stmt
    kind: str  # import, definition, constant, setting, assignment, work, guard, guarded, nothing
    binds: frozenset[str] = frozenset()  # names it gives a value, or changes
    reads: frozenset[str] = frozenset()  # globals it needs
    barred: bool = False  # the statement fetches or trains: not run even if a definition needs it
    drives: bool = False  # a definition that trains, plots or fetches: its needs are not run

    @property
    def name(self) -> str | None:
        """Return the name of a definition; none where several stand in an ``if`` or ``try``."""
        return next(iter(self.binds)) if self.kind == "definition" and len(self.binds) == 1 else None

    @property
    def is_layer(self) -> bool:
        """Return whether the statement is a class whose objects can be called."""
        if not isinstance(self.node, ast.ClassDef):
            return False
        methods = {n.name for n in self.node.body if isinstance(n, ast.FunctionDef)}
        return bool(methods & {"forward", "call", "__call__"})

    @property
    def words(self) -> str:
        """Return the first line of the statement."""
        first = ast.unparse(self.node).split("\n")[0].strip()
        return first if len(first) <= 60 else f"{first[:57]}…"


def configured(parameters: Sequence[str]) -> bool:
    """Return whether the parameters are those of an adapter's function: (config, weights)."""
    return bool(parameters) and parameters[0] in _CONFIGS


def weighed(parameters: Sequence[str]) -> bool:
    """Return whether the parameters are (config, weights), and so called."""
    return len(parameters) == 2 and configured(parameters) and parameters[1] in _WEIGHTS


def is_adapter(tree: ast.Module) -> bool:
    """Return whether a text is an adapter of this suite; an adapter is run whole, like any module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            names = [a.arg for a in (*node.args.posonlyargs, *node.args.args)]
            if weighed(names):
                return True
            if isinstance(node, ast.FunctionDef) and node.name in COMPONENTS and configured(names):
                return True
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("attnconf.adapters"):
            return True
    return False


def statements(tree: ast.Module) -> list[Statement]:
    """Return the top level, statement by statement, each guard with the constants in it that are needed behind it."""
    drivers = _drivers(tree)
    found = [_statement(node, drivers) for node in tree.body]
    given = {name for s in found if s.kind != "guard" for name in s.binds} | set(vars(builtins))
    needed = {name for s in found if s.kind == "definition" for name in s.reads} - given
    return [one for s in found for one in (s, *_guarded(s, needed, given))]


def _guarded(statement: Statement, needed: Set[str], given: Set[str]) -> list[Statement]:
    """Return the constants in a guard that give names a value which are needed and not given, and what these need."""
    if not (statement.kind == "guard" and isinstance(statement.node, ast.If) and needed):
        return []
    inner = [_statement(node, set()) for node in statement.node.body]
    known, usable = set(given), []
    for one in inner:
        if one.kind == "constant" and one.reads <= known:
            usable.append(replace(one, kind="guarded"))
            known |= one.binds
    kept: list[Statement] = []
    wanted = set(needed)
    for one in reversed(usable):
        if one.binds & wanted:
            kept.insert(0, one)
            wanted |= one.reads - given
    return kept


def _drivers(tree: ast.Module) -> set[str]:
    """Return the names of functions that train, plot or fetch (also through others), and of classes that train."""
    definitions = [n for n in tree.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)]
    functions = {n.name: _called(n) for n in definitions if not isinstance(n, ast.ClassDef)}
    drivers = {n.name for n in definitions if _drives(n)}
    while more := {name for name, called in functions.items() if called & drivers} - drivers:
        drivers |= more
    return drivers


def has_work(found: Sequence[Statement], notebook: bool) -> bool:
    """Return whether some statement is no import, definition, constant or setting, or a constant is in a guard.

    A file that defines nothing is run all the same if its statements end, to see whether it raises or exits.
    """
    work = [s for s in found if s.kind in ("assignment", "work", "guarded")]
    defines = any(s.kind == "definition" for s in found)
    short = all(isinstance(s.node, ast.Raise) or not (s.barred or isinstance(s.node, ast.For)) for s in work)
    return bool(work) and (defines or notebook or not short)


def chosen(found: Sequence[Statement], wanted: Sequence[str] = ()) -> set[int]:
    """Return the indices of the statements to run; the definitions of ``wanted`` names are among them."""
    always = {i for i, s in enumerate(found) if s.kind in ("import", "definition", "nothing")}
    imported = {name for s in found if s.kind == "import" for name in s.binds}
    needed = {name for s in found if s.kind == "definition" for name in s.reads} | set(wanted)
    run: set[int] = set()
    while True:
        more = {
            i
            for i, s in enumerate(found)
            if i not in run and s.kind != "guard" and not s.barred and (s.binds - imported) & needed
        }
        if not more:
            break
        run |= more
        needed |= {name for i in more for name in found[i].reads}
    return run | always | _free(found, run | always)


def _free(found: Sequence[Statement], run: set[int]) -> set[int]:
    """Return the constants and settings whose names are all bound by statements that are run anyway."""
    known = {name for i in run for name in found[i].binds} | set(vars(builtins)) | {"__name__", "__file__", "__doc__"}
    free: set[int] = set()
    for i, s in enumerate(found):
        within = s.binds if isinstance(s.node, ast.If | ast.Try) else set()  # bound before it reads
        if s.kind in ("constant", "setting") and s.reads - within <= known:
            free.add(i)
            known |= s.binds
    return free


def _statement(node: ast.stmt, drivers: set[str]) -> Statement:
    kind = _kind(node)
    drives = kind == "definition" and getattr(node, "name", None) in drivers
    barred = kind in ("assignment", "work") and (_barred(node) or bool(_called(node) & drivers))
    return Statement(node, kind, frozenset(bound(node)), frozenset(read(node, drives)), barred, drives)


def _kind(node: ast.stmt) -> str:
    match node:
        case ast.Import() | ast.ImportFrom():
            return "import"
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return "definition"
        case ast.Pass() | ast.Global() | ast.Expr(value=ast.Constant()):
            return "nothing"
        case ast.Assign(value=ast.Lambda()) | ast.AnnAssign(value=ast.Lambda()):
            return "definition"
        case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            parts = [*targets, *([node.value] if node.value else [])]
            return "constant" if all(_is_plain(part) for part in parts) else "assignment"
        case ast.Expr(value=ast.Call(func=function)):
            return "setting" if _last(function) in _SETTINGS or _on_path(function) or _registers(function) else "work"
        case ast.If(test=test) if _is_main(test):
            return "guard"
        case ast.If() | ast.Try():
            return _compound(node)
        case ast.For() | ast.With() | ast.Match():
            return "assignment"
        case _:
            return "work"


def _compound(node: ast.If | ast.Try) -> str:
    """Return the kind of an ``if`` or ``try``: the kind that its statements would have on their own."""
    kinds = {_kind(inner) for inner in _inner(node)}
    if kinds & {"assignment", "work"} or (isinstance(node, ast.If) and not _is_plain(node.test)):
        return "assignment"
    return "definition" if kinds & {"definition", "import"} else "constant"


def _inner(node: ast.If | ast.Try) -> Iterator[ast.stmt]:
    blocks = [node.body, node.orelse]
    if isinstance(node, ast.Try):
        blocks += [node.finalbody, *(handler.body for handler in node.handlers)]
    for block in blocks:
        yield from block


def _is_main(test: ast.expr) -> bool:
    names = {n.id for n in ast.walk(test) if isinstance(n, ast.Name)}
    return "__name__" in names and any(isinstance(n, ast.Constant) and n.value == "__main__" for n in ast.walk(test))


def _is_plain(value: ast.expr) -> bool:
    """Return whether evaluating an expression costs nothing; the body of a lambda is not evaluated."""
    if isinstance(value, ast.Lambda):
        return True
    if isinstance(value, ast.Await | ast.Yield | ast.YieldFrom):
        return False
    if isinstance(value, ast.Call) and not (
        _last(value.func) in _PLAIN or ast.unparse(value.func).endswith("environ.get")
    ):
        return False
    children = (
        c.iter if isinstance(c, ast.comprehension) else c.value if isinstance(c, ast.keyword) else c
        for c in ast.iter_child_nodes(value)
    )
    return all(_is_plain(child) for child in children if isinstance(child, ast.expr))


def _last(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _on_path(function: ast.expr) -> bool:
    return ast.unparse(function).startswith("sys.path.")


def _registers(function: ast.expr) -> bool:
    """Return whether a function puts something in a table, as ``register("relu")(f)``, by its name."""
    first = function.func if isinstance(function, ast.Call) else function
    return isinstance(first, ast.Name) and first.id.lower().startswith(("register", "_register"))


def _called(node: ast.AST) -> set[str]:
    return {_last(n.func) for n in ast.walk(node) if isinstance(n, ast.Call)}


def _barred(node: ast.stmt) -> bool:
    """Return whether a statement fetches, trains, plots or may never end. The handlers of a ``try`` do not count."""
    if isinstance(node, ast.Try):
        return any(_barred(inner) for inner in (*node.body, *node.orelse, *node.finalbody))
    for n in ast.walk(node):
        if isinstance(n, ast.While | ast.Raise | ast.Assert) or (isinstance(n, ast.Name) and n.id in _MODULES):
            return True
        if isinstance(n, ast.keyword) and n.arg == "download" and getattr(n.value, "value", None) is True:
            return True
    return bool(_called(node) & (_FETCHES | _TRAINS | _PLOTS))


def _drives(node: ast.stmt) -> bool:
    """Return whether a function trains, plots or fetches, or a class that is no layer trains."""
    if isinstance(node, ast.ClassDef):
        layer = any("Module" in ast.unparse(base) or "Layer" in ast.unparse(base) for base in node.bases)
        return not layer and bool(_called(node) & {"backward", "zero_grad"})
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    foreign = any(isinstance(n, ast.Name) and n.id in _MODULES for n in ast.walk(node))
    return foreign or bool(_called(node) & ({"backward", "zero_grad", "fit"} | _PLOTS | _FETCHES))
