"""Which parameters of an attention module are what, going by their names: the hypothesis that is tried first."""

import re
from collections.abc import Mapping, Sequence

from torch import Tensor

from attnconf.conformance.inference.weights.reading import Sizes

WORDS = {
    "q": {"q", "query", "queries", "qs", "wq", "bq", "lq", "pq", "toq", "toqueries", "linq", "fcq", "qlin",
          "cq", "xq", "sq"},
    "k": {"k", "key", "keys", "ks", "wk", "bk", "lk", "pk", "tok", "tokeys", "link", "fck", "klin", "ck", "xk", "sk"},
    "v": {"v", "value", "values", "vs", "val", "wv", "bv", "lv", "pv", "tov", "tovalues", "linv", "fcv", "vlin",
          "cv", "xv", "sv"},
    "out": {"o", "out", "output", "final", "last", "unify", "unifyheads", "concat", "combine", "merge", "mix", "wo",
            "bo", "lo", "po", "toout", "lino", "fco", "cproj", "cout", "outproj", "second", "co", "xo", "so"},
    "qkv": {"qkv", "inproj", "cattn", "attnin", "inn", "wqkv", "bqkv", "toqkv", "first", "kqv"},
    "kv": {"kv", "tokv", "wkv", "bkv"},
}  # fmt: skip
FILLERS = {"w", "b", "weight", "bias", "weights", "to", "lin", "linear", "fc", "proj", "projection", "layer", "net",
           "dense", "p", "l", "matrix", "transform", "map", "a", "kernel"}  # fmt: skip
WEIGHTS = r"([wbg]\d?|weights?|bias|kernel|scale|gamma|beta|gain)"  # keys and arguments that hold weights


def by_name(parameters: Mapping[str, Tensor], sizes: Sizes) -> dict[str, str] | None:
    """Return the text of each parameter's entry, where all names, and shapes, say plainly what they are."""
    roles = _with_last({name: role_of(name) for name in parameters})
    entries: dict[str, str] = {}
    for name, role in roles.items():
        kind = "bias" if parameters[name].ndim == 1 else "weight"
        parts = {"qkv": ("q", "k", "v"), "kv": ("k", "v")}.get(role or "", (role,))
        shape = tuple(parameters[name].shape)
        if role is None or _shape(parts, kind, sizes) not in (shape, shape[::-1]):
            return None
        texts = [f'weights["{part}.{kind}"]' for part in parts]
        entries[name] = texts[0] if len(texts) == 1 else f"torch.cat([{', '.join(texts)}])"
    said = [part for name, role in roles.items() if parameters[name].ndim > 1 for part in _apart(role)]
    return entries if sorted(said) == ["k", "out", "q", "v"] else None


def _with_last(roles: Mapping[str, str | None]) -> Mapping[str, str | None]:
    """Return the roles such that the one parameter whose name says nothing is the output's, where that is missing."""
    silent = [name for name, role in roles.items() if role is None]
    said = {part for role in roles.values() if role for part in _apart(role)}
    return {**roles, silent[0]: "out"} if len(silent) == 1 and said == {"q", "k", "v"} else roles


def roles_of(name: str) -> Sequence[str]:
    """Return the projections that a parameter's name says it holds."""
    return _apart(role_of(name))


def _apart(role: str | None) -> Sequence[str]:
    return {"qkv": ("q", "k", "v"), "kv": ("k", "v")}.get(role or "", (role or "",))


def _shape(parts: Sequence[str | None], kind: str, sizes: Sizes) -> tuple[int, ...]:
    if parts == ("out",):
        return (sizes.out, sizes.width) if kind == "weight" else (sizes.out,)
    rows = len(parts) * sizes.width
    return (rows, sizes.embed) if kind == "weight" else (rows,)


def role_of(name: str) -> str | None:
    """Return what a parameter's name says it is: q, k, v, out, qkv or kv."""
    spaced = re.sub(r"([a-z])([A-Z])", r"\1_\2", name)
    words = [w for w in re.split(r"[._\d]+", spaced.lower()) if w]
    telling = [w for w in words if w not in FILLERS]
    layer = "".join(w for w in words if w not in ("weight", "bias", "w", "b"))
    for candidate in ("".join(telling), "".join(words), layer, *reversed(telling)):
        for role, known in WORDS.items():
            if candidate in known:
                return role
    return "out" if words and not telling else None
