"""Which component a class or function of somebody's file is eligible as, by the rule in public_code.md.

The rule asks what something is, never how well it is done. Not part of the installed package.
"""

import ast
import re
from collections.abc import Iterator

CALLED = ("forward", "call", "__call__")
WHOLE = "transformer|encoder|decoder|gpt|llama|bert|vit|visiontransformer"
NAMES = {
    "attention": (
        r"attention|attn|(mha|gqa|mqa)$",
        "linear|local|sparse|channel|spatial|pool|deform|graph|additive|bahdanau|luong|latent|prob|autocorr|area|cbam"
        "|gated|efficient|block|layer|model|config|encoder|decoder|transformer|mask|loss|processor",
    ),
    "positions": (r"pos(ition)?(al|s)?(enc|emb)|sinusoid|rotary|rope|alibi|relative.*bias", ""),
    "norms": (r"(layer|rms)norm(alization)?$", "pre|post|res|add|ada|group"),
    "feed-forward": (r"feedforward|ffn|swiglu|geglu|positionwise|mlp$", "moe|expert|mixture|conv"),
    "layers": (r"(encoder|decoder|transformer|attention).*(layer|block)$|^block$", ""),
    "models": (
        rf"^(mini|nano|tiny|my|simple|custom)?({WHOLE})(\d+|model|lm|encoder|decoder)?$"
        r"|transformer(encoder|decoder)?$|languagemodel$",
        "",
    ),
}
OF_FUNCTIONS = ("attention", "positions", "norms")


def component_of(node: ast.ClassDef | ast.FunctionDef) -> str | None:
    """Return the component, or None where nothing fits."""
    name = node.name.replace("_", "").lower()
    if isinstance(node, ast.ClassDef):
        called = next((m for m in node.body if isinstance(m, ast.FunctionDef) and m.name in CALLED), None)
    else:
        called = node if (node.args.args or node.args.posonlyargs) and not name.startswith("test") else None
    if called is None:
        return None
    for component, (has, has_not) in NAMES.items():
        if isinstance(node, ast.FunctionDef) and component not in OF_FUNCTIONS:
            continue
        if re.search(has, name) and not (has_not and re.search(has_not, name)) and holds(component, node, called):
            return component
    return None


def holds(component: str, node: ast.AST, called: ast.FunctionDef) -> bool:
    """Return whether the syntax tree has what the component takes; ``called`` is the method that is called."""
    words = set(words_of(node))
    match component:
        case "attention":
            return bool(words & {"softmax", "scaled_dot_product_attention"})
        case "positions":
            made_of = {"sin", "arange", "embedding", "parameter", "cat", "stack"}
            return bool(words & made_of) and not has(words, "attention")
        case "norms":
            return bool(words & {"mean", "var", "std", "rsqrt", "layer_norm", "rms_norm"})
        case "feed-forward":
            return len(list(products(node))) >= 2
        case "layers":
            return any(is_sum(one) for one in ast.walk(called)) and has(words, "attn|attention|mha")
        case _:
            loops = any(isinstance(one, ast.For | ast.comprehension) for one in ast.walk(node))
            many = loops or bool(words & {"modulelist", "sequential"})
            return many and has(words, "layer|block") and has(words, "attn|attention|head|transformer")


def words_of(node: ast.AST) -> Iterator[str]:
    """Yield the names, attributes and arguments of a tree in lower case, and what lies between their underscores."""
    for one in ast.walk(node):
        found = [getattr(one, kind, None) for kind in ("id", "attr", "arg")]
        for word in (w.lower() for w in found if isinstance(w, str)):
            yield word
            yield from word.split("_")


def has(words: set[str], pattern: str) -> bool:
    """Return whether a word has the pattern in it."""
    return any(re.search(pattern, word) for word in words)


def is_sum(node: ast.AST) -> bool:
    return isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.Add)


def products(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what multiplies by a matrix: layers that are made, and products."""
    for one in ast.walk(node):
        name = getattr(one.func, "attr", getattr(one.func, "id", "")) if isinstance(one, ast.Call) else ""
        if name in {"Linear", "Dense", "Conv1d", "Conv1D", "Parameter", "matmul", "dot"} or (
            isinstance(one, ast.BinOp) and isinstance(one.op, ast.MatMult)
        ):
            yield one
