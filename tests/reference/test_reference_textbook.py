"""The reference stays a textbook: plain documented functions, short enough to be read, built from first principles."""

import ast
import re
from pathlib import Path

import pytest

import attnconf.reference
from attnconf.conformance.source.syntax import tree_of

MODULES = sorted(Path(attnconf.reference.__path__[0]).glob("*.py"))
FUNCTIONS = [
    pytest.param(node, id=f"{path.stem}.{node.name}")
    for path in MODULES
    for node in tree_of(path.read_text(encoding="utf-8")).body
    if isinstance(node, ast.FunctionDef)
]
NESTED = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda | ast.Global | ast.Nonlocal
# torch.nn has the whole layers; the reference is written in functions on tensors.
READY_MADE = {"nn", "functional", "scaled_dot_product_attention", "MultiheadAttention"}
SHAPE = re.compile(r"\((SIZE, )*SIZE,?\)".replace("SIZE", r"(\.{3}|1|[A-Za-z][\w·]{0,3})"))
MOST_LINES = 20


def is_docstring(node):
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def words_of(node):
    """Return every name that is imported, looked up or called below this node."""
    for part in ast.walk(node):
        match part:
            case ast.Name(id=name) | ast.Attribute(attr=name):
                yield name
            case ast.Import(names=names):
                yield from (word for alias in names for word in alias.name.split("."))
            case ast.ImportFrom(module=module, names=names):
                yield from (module or "").split(".")
                yield from (alias.name for alias in names)


def code_lines(function):
    """Return how many lines the function has, its docstring not counted."""
    doc = function.body[0]
    documented = doc.end_lineno - doc.lineno + 1 if is_docstring(doc) else 0
    return function.end_lineno - function.lineno + 1 - documented


def test_the_reference_is_where_it_should_be():
    assert {"attention", "masks", "multi_head_attention"} <= {path.stem for path in MODULES}
    assert len(FUNCTIONS) >= 15


def is_plain_data(node):
    """Return whether it is a class of fields only, a constant, or a short name for a type."""
    if isinstance(node, ast.ClassDef):
        return all(is_docstring(part) or isinstance(part, ast.AnnAssign) for part in node.body)
    return isinstance(node, ast.Assign) and isinstance(node.value, ast.Subscript | ast.Constant)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_a_module_holds_a_docstring_imports_plain_data_and_functions(path):
    first, *rest = tree_of(path.read_text(encoding="utf-8")).body
    assert is_docstring(first)
    for node in rest:
        known = isinstance(node, ast.Import | ast.ImportFrom | ast.FunctionDef) or is_plain_data(node)
        assert known, f"line {node.lineno} is something else"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_a_module_uses_no_ready_made_attention(path):
    assert not READY_MADE & set(words_of(tree_of(path.read_text(encoding="utf-8"))))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_is_plain(function):
    assert not function.decorator_list
    inside = [node for node in ast.walk(function) if node is not function and isinstance(node, NESTED)]
    assert not inside, f"line {inside[0].lineno} defines or rebinds something"


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_remembers_nothing(function):
    defaults = [node for node in [*function.args.defaults, *function.args.kw_defaults] if node is not None]
    assert all(isinstance(node, ast.Constant) or ast.unparse(node) == "()" for node in defaults)
    kept = {"cache", "lru_cache", "register_buffer", "setattr", "globals"} & set(words_of(function))
    assert not kept - {each.arg for each in function.args.args}  # a cache that is handed over is no memory


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_says_what_comes_back_and_names_shapes_or_a_source(function):
    doc = ast.get_docstring(function)
    assert doc, "no docstring"
    assert doc.split()[0] in {"Return", "Raise"}
    if "Tensor" in ast.unparse(function.args):
        assert "Source:" in doc or SHAPE.search(doc), "neither a shape nor a source"


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_fits_a_page(function):
    assert code_lines(function) <= MOST_LINES
