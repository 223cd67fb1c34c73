"""Which parameters of a feed-forward network are which: layouts that fit their shapes."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations, product
from math import prod

Shapes = Mapping[str, tuple[int, ...]]
# Names that say which of the two first layers of a gated network is the gate.
GATES = r"gate(_?proj|_?linear|_?layer|s)?|w_?gate|(fc|lin|linear|to|w)_?gate|wg"
UPS = r"up(_?proj|_?linear)?|values?|val|v|(w|fc|lin|linear|to)_?(up|value|v)"


@dataclass(frozen=True)
class Network:
    """One way in which parameters may be the weights: entries of a dict, and what is not there."""

    state: tuple[str, ...]
    gated: bool
    lacking: tuple[str, ...]  # layers without a bias
    certain: bool  # names say which layer is the gate


def networks(shapes: Shapes, embed: int, hidden: int) -> Iterator[Network]:
    """Yield what the parameters may be, those first that are in the usual order and not transposed."""
    full = embed * hidden
    ones = [n for n, s in shapes.items() if _matrix(s) and full in (prod(s), prod(_plane(s)))]
    twos = [n for n, s in shapes.items() if _matrix(s) and 2 * full == prod(s) and len(_plane(s)) == 2]
    if len(ones) == 1 and not twos:
        yield from (_network(shapes, {ones[0]: text}, (role,), False, hidden, embed, True)
                    for role in ("up", "down") for text in _single(role, shapes[ones[0]], embed, hidden))  # fmt: skip
    for layers in (("up", "down"), ("gate", "up", "down")):
        if len(ones) == len(layers) and not twos:
            yield from _separate(shapes, ones, layers, embed, hidden)
    if len(ones) == 1 and len(twos) == 1:
        yield from _fused(shapes, ones[0], twos[0], embed, hidden)
    pairs = [n for n, s in shapes.items() if sorted(s) == sorted((2, hidden, embed))]
    others = [n for n in ones if n not in pairs]
    if len(others) == 1 and len(pairs) == 1:
        yield from _stacked(shapes, others[0], pairs[0], embed, hidden)


def _matrix(shape: tuple[int, ...]) -> bool:
    return len(shape) >= 2


def _plane(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the two sizes of a matrix or of the kernel of a convolution."""
    return shape if len(shape) == 2 else shape[:2] if len(shape) == 3 else ()


def _separate(
    shapes: Shapes, names: Sequence[str], layers: tuple[str, ...], embed: int, hidden: int
) -> Iterator[Network]:
    certain = "gate" not in layers or _say(names)
    for order in permutations(layers):
        told = dict(zip(names, order, strict=True))
        if "gate" in layers and certain and not all(_agrees(n, r) for n, r in told.items()):
            continue
        options = [list(_single(role, shapes[name], embed, hidden)) for name, role in told.items()]
        for texts in product(*options):
            yield _network(
                shapes, dict(zip(names, texts, strict=True)), order, "gate" in layers, hidden, embed, certain
            )


def _say(names: Sequence[str]) -> bool:
    """Return whether one name says that it is the gate, or one that it is not."""
    return sum(_is(n, GATES) for n in names) == 1


def _is(name: str, pattern: str) -> bool:
    return any(re.fullmatch(pattern, word.lower()) for word in name.split("."))


def _agrees(name: str, role: str) -> bool:
    return _is(name, GATES) == (role == "gate")


def _single(role: str, shape: tuple[int, ...], embed: int, hidden: int) -> Iterator[str]:
    """Yield the texts of one layer's weight that have a shape."""
    rows, columns = (embed, hidden) if role == "down" else (hidden, embed)
    name = f'weights["{role}.weight"]'
    if _plane(shape) == (rows, columns):
        wide = len(shape) == 3 and shape[2] > 1
        yield f"kernel({name}, {shape[2]})" if wide else name
    if len(shape) == 2 and shape == (columns, rows):
        yield f"{name}.T"


def _fused(shapes: Shapes, down: str, both: str, embed: int, hidden: int) -> Iterator[Network]:
    """Yield networks whose two first layers are in one parameter: one after the other, or in turns."""
    for last in _single("down", shapes[down], embed, hidden):
        for first, second in (("gate", "up"), ("up", "gate")):
            pair = ", ".join(f'weights["{n}.weight"]' for n in (first, second))
            flat = shapes[both][:2] == (2 * hidden, embed)
            for joined in (f"torch.cat([{pair}])", f"torch.stack([{pair}], dim=1).flatten(0, 1)"):
                text = joined if flat else f"{joined}.T"
                if not flat and shapes[both] != (embed, 2 * hidden):
                    continue
                yield _network(shapes, {both: text, down: last}, (first, second, "down"), True, hidden, embed, False)


def _stacked(shapes: Shapes, down: str, both: str, embed: int, hidden: int) -> Iterator[Network]:
    """Yield networks whose two first layers are in one parameter with an axis for which of them it is."""
    order = tuple((2, hidden, embed).index(size) for size in shapes[both])
    for last in _single("down", shapes[down], embed, hidden):
        for first, second in (("gate", "up"), ("up", "gate")):
            text = f'torch.stack([weights["{first}.weight"], weights["{second}.weight"]]).permute{order}'
            yield _network(shapes, {both: text, down: last}, (first, second, "down"), True, hidden, embed, False)


def _network(
    shapes: Shapes,
    matrices: dict[str, str],
    order: tuple[str, ...],
    gated: bool,
    hidden: int,
    embed: int,
    certain: bool,
) -> Network:
    """Return a network with the biases that belong to its matrices: those beside them, else those of the right size."""
    names = list(matrices)
    left = [n for n, s in shapes.items() if n not in matrices]
    state, lacking = [f'"{n}": {text}' for n, text in matrices.items()], []
    biases: dict[str, str] = {}
    for name in names:
        text = matrices[name].replace(".weight", ".bias").replace("flatten(0, 1)", "flatten()")
        text = re.sub(r"kernel\((.*), \d+\)", r"\1", text).removesuffix(".T")
        if permuted := re.search(r"\.permute(.*)", text):  # (hidden, 2) where that is the order of the matrix
            text = text.removesuffix(permuted[0]) + (".T" if permuted[1].index("1") < permuted[1].index("0") else "")
        layers = re.findall(r'"(\w+)\.bias"', text)
        size = len(layers) * (embed if layers == ["down"] else hidden)
        beside = [n for n in left if n not in biases and prod(shapes[n]) == size]
        near = [n for n in beside if n.rpartition(".")[0] == name.rpartition(".")[0] and "." in n] or \
            [n for n in beside if "." not in n]  # fmt: skip
        if near:
            biases[near[0]] = text
        else:
            lacking += layers
    if lacking:  # it is asked for no bias, and gets none
        biases = {
            n: re.sub(r'weights\["(\w+)\.bias"\]', r'0 * weights["\1.weight"][:, 0]', t) for n, t in biases.items()
        }
    return Network((*state, *(f'"{n}": {t}' for n, t in biases.items())), gated, tuple(lacking), certain)
