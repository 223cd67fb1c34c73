"""Which names a statement of a file's top level binds, and which it reads."""

import ast
import symtable
from collections.abc import Iterator


def bound(node: ast.AST) -> Iterator[str]:
    """Yield the names that a statement binds at the top level, or changes a part of (``table[0] = …``)."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
            return
        case ast.Lambda() | ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            return
        case ast.alias():
            yield node.asname or node.name.partition(".")[0]
        case ast.Name(id=name, ctx=ast.Store()) | ast.ExceptHandler(name=str(name)):
            yield name
        case ast.Attribute(ctx=ast.Store()) | ast.Subscript(ctx=ast.Store()):
            yield from _root(node)
        case ast.Expr(value=ast.Call(func=ast.Attribute() as function)):
            yield from _root(function)
    for child in ast.iter_child_nodes(node):
        yield from bound(child)


def _root(node: ast.expr) -> Iterator[str]:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    if isinstance(node, ast.Name):
        yield node.id


def read(node: ast.stmt, drives: bool) -> set[str]:
    """Return the globals that a statement reads; of a definition that trains or plots, not those in function bodies."""
    try:
        top = symtable.symtable(ast.unparse(node), "<statement>", "exec")
    except SyntaxError:  # an await at the top of a notebook
        return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    changed = {node.target.id} if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) else set()
    return set(_globals(top, drives)) | changed


def _globals(table: symtable.SymbolTable, shallow: bool) -> Iterator[str]:
    for symbol in table.get_symbols():
        top = table.get_type() == "module"
        if symbol.is_referenced() and (symbol.is_global() or top):
            yield symbol.get_name()
    for child in table.get_children():
        if not (shallow and child.get_type() == "function"):
            yield from _globals(child, shallow)
