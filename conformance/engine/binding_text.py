"""What the text of a binding may say, where a process in which a file has run says it: how that file is called.

Such a process has the reference in it, and the file could hand its words on in the text, to be run in the place of its
own code. So a text calls what is in the file, and moves numbers to where they are taken; it imports nothing, computes
no exponential and no product of queries and keys, and has no words but the suite's and the file's: there is no room in
it for an implementation. What can be hidden in it all the same is some thousand bits (spec/limits.md).
"""

import ast
import contextlib
import json
import re
from functools import cache
from itertools import islice
from pathlib import Path

from attnconf.adapters import contract
from attnconf.conformance.source.syntax import tree_of
from attnconf.conformance.worker.wire import Malformed

MOST_NODES, MOST_CHARACTERS = 3000, 20_000  # the largest of the collection has 850 nodes
MOST_UNKNOWN, LONGEST_UNKNOWN = 60, 40  # words of libraries that a file takes classes from: in_proj_weight
LARGEST = 2**40  # of whole numbers
LONGEST_TEXT = 40  # of what stands in the file: a special token
LONGEST_SENTENCE = 200
_MARKS = r"\w .,:*¤`'/\[\]-"  # of a sentence; code needs more
_PLACE = r" \([\w .,/-]{1,80}(?::|line )\d{1,6}\)"  # with which a sentence may end: "(homework.py:12)"
_PLAIN = re.compile(f"[{_MARKS}]{{0,{LONGEST_SENTENCE}}}({_PLACE})?")
FILES, MOST_BYTES = 500, 4_000_000  # of a file and those beside it, whose words it may use
_NODES = (
    ast.Module, ast.FunctionDef, ast.Lambda, ast.arguments, ast.arg, ast.Return, ast.Raise, ast.If, ast.IfExp, ast.For,
    ast.With, ast.withitem, ast.Assign, ast.AugAssign, ast.Expr, ast.Call, ast.keyword, ast.Starred, ast.Attribute,
    ast.Subscript, ast.Slice, ast.Name, ast.Load, ast.Store, ast.Constant, ast.JoinedStr, ast.FormattedValue,
    ast.List, ast.Tuple, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.GeneratorExp, ast.comprehension,
    ast.BoolOp, ast.UnaryOp, ast.BinOp, ast.Compare, ast.boolop, ast.unaryop, ast.operator, ast.cmpop,
)  # fmt: skip
_OURS = ("inference", "chapters/shared", "worker/written.py")  # of conformance/, whose words texts are made of
_COMPUTING = """
    exp exp2 expm1 softmax log_softmax Softmax logsumexp softmin sigmoid tanh erf special matmul mm bmm baddbmm einsum
    tensordot inner scaled_dot_product_attention multi_head_attention_forward MultiheadAttention cosine_similarity
"""  # of what is not the file's own
_REACHING = """
    exec eval compile open input breakpoint globals locals vars getattr setattr delattr type object memoryview bytes
    bytearray chr ord sys os inspect marshal pickle importlib builtins modules load hub jit ops classes
"""
_DENIED = frozenset([*_COMPUTING.split(), *_REACHING.split()])
_OF_CLASSES = ("__init__", "__defaults__")  # what a constructor takes where nothing is given


def demand(text: str, source: str) -> None:
    """Raise Malformed unless the text of a binding of a file does no more than call it."""
    if len(text) > MOST_CHARACTERS:
        raise Malformed(f"gave a binding of {len(text)} characters")
    try:
        nodes = list(ast.walk(tree_of(text)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise Malformed("gave a binding that is no Python") from None
    if len(nodes) > MOST_NODES:
        raise Malformed(f"gave a binding of {len(nodes)} parts")
    unknown: set[str] = set()
    for node in nodes:
        if wrong := _wrong(node, source):
            raise Malformed(f"gave a binding that does more than call what is in the file: it has {wrong}")
        unknown |= {word for word in _words(node) if not _is_known(word, source)}
    if len(unknown) > MOST_UNKNOWN or any(len(word) > LONGEST_UNKNOWN for word in unknown):
        raise Malformed(f"gave a binding with {len(unknown)} words that are neither the suite's nor the file's")


def sentence(words: str) -> str:
    """Return words as a binding may say them: without brackets, quotes and signs that code is made of."""
    at = re.search(f"{_PLACE}$", words)
    shapes = re.sub(r"\((\d[\d, ]*)\)", r"[\1]", words[: at.start()] if at else words)
    plain = " ".join(re.sub(f"[^{_MARKS}]+", " ", shapes).split())[:LONGEST_SENTENCE]
    return plain + (at[0] if at else "")


def _wrong(node: ast.AST, source: str) -> str:
    """Return what a node has that no binding has; "" where it may stand."""
    if not isinstance(node, _NODES):
        return f"a {type(node).__name__}"
    if isinstance(node, ast.Constant):
        return "" if _may_stand(node.value, source) else "a constant of another kind or size"
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    if name.startswith("__") and name not in _OF_CLASSES:
        return name
    own = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "theirs"
    return name if name in _DENIED and not own else ""


def _may_stand(value: object, source: str) -> bool:
    """Return whether a constant is a small number, a sentence, a name, or a text that stands in the file."""
    if isinstance(value, str):
        return bool(_PLAIN.fullmatch(value)) or (len(value) <= LONGEST_TEXT and value in _text(source))
    if isinstance(value, int) and abs(value) > LARGEST:
        return False
    return value is None or value is ... or isinstance(value, bool | int | float)


def _words(node: ast.AST) -> list[str]:
    """Return the words that a node says."""
    if isinstance(node, ast.Constant):
        return re.findall(r"\w+", node.value) if isinstance(node.value, str) else []
    said = (getattr(node, name, None) for name in ("id", "attr", "arg", "name"))
    return [word for word in said if isinstance(word, str)]


def _is_known(word: str, source: str) -> bool:
    plain = word.removesuffix("_given")
    return (plain.isdecimal() and len(plain) < 10) or plain in _ours() or plain in _theirs(source)


@cache
def _ours() -> frozenset[str]:
    """Return the words of the modules that write bindings, and of the contract."""
    conformance, adapters = Path(__file__).parents[1], Path(contract.__file__).parent
    files = [
        f
        for name in _OURS
        for f in ([conformance / name] if name.endswith(".py") else (conformance / name).rglob("*.py"))
    ]
    files += [*conformance.glob("chapters/*/binding.py"), *adapters.glob("generated/*.py"), *adapters.glob("kit/*.py")]
    return frozenset(w for f in [*files, adapters / "contract.py"] for w in re.findall(r"\w+", f.read_text("utf-8")))


@cache
def _theirs(source: str) -> frozenset[str]:
    """Return the words of a file and of those beside it, which it may import."""
    return frozenset(re.findall(r"\w+", _text(source)))


@cache
def _text(source: str) -> str:
    own = Path(source)
    beside = sorted(p for p in islice(own.parent.glob("*"), FILES) if p.suffix in (".py", ".ipynb") and p != own)
    found, left = [], MOST_BYTES
    for path in [own, *beside]:
        if path.is_file() and left > 0:
            found.append(_read(path, left))
            left -= len(found[-1])
    return "\n".join(found)


def _read(path: Path, most: int) -> str:
    """Return what a file says in its first bytes; of a notebook its strings, in which line breaks are written out."""
    with path.open("rb") as file:
        text = file.read(most).decode("utf-8", errors="replace")
    if path.suffix == ".ipynb":
        with contextlib.suppress(ValueError, RecursionError):
            text = json.dumps(json.loads(text), ensure_ascii=False)
        text = text.replace("\\n", "\n").replace('\\"', '"')
    return text
