"""A graph with one operator that is known: which of the file's inputs leads to which of the operator's."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from attnconf.conformance.source.not_loaded import NotLoaded
from attnconf.conformance.source.onnx_files.bytes import STANDARD, needed

# The operators that are known: their inputs, and how files name these. What is not named so is told by the graph.
SLOTS: dict[str, dict[str, str]] = {
    "Attention": {"query": "q|query", "key": "k|key", "value": "v|value", "mask": ".*mask|.*bias",
                  "past_key": "past_k.*", "past_value": "past_v.*", "lengths": "nonpad.*"},
    "RotaryEmbedding": {"x": "x|input|q|query|hidden.*", "cos": "cos.*", "sin": "sin.*", "positions": "pos.*"},
    "LayerNormalization": {"x": "x|input|hidden.*", "weight": "w|weight|scale|gamma", "bias": "b|bias|beta"},
    "RMSNormalization": {"x": "x|input|hidden.*", "weight": "w|weight|scale|gamma"},
    "Gelu": {"x": "x|input|hidden.*"},
}  # fmt: skip
PARAMETERS = ("weight", "bias", "cos", "sin")  # what may be an initializer
HEADED = ("query", "key", "value")  # what a Reshape may split into heads
SHAPED = ("Reshape", "Expand", "Unsqueeze", "Squeeze", "Slice", "Tile")  # only their first input is data


@dataclass(frozen=True)
class Input:
    """What a file is handed for one input of the operator."""

    name: str
    dtype: int  # of TensorProto
    sizes: tuple[int | None, ...] | None  # of each axis, where the file fixes it; None: any number of axes
    order: tuple[int, ...] = ()  # the transposition on the way to the operator; (): none
    heads: tuple[int, ...] = ()  # the shape of a Reshape from three axes to four on the way; (): none
    kept: Any = None  # the numbers of an initializer


@dataclass(frozen=True)
class Graph:
    """A graph, read."""

    model: Any
    operator: str
    opset: int
    attributes: dict[str, Any]
    inputs: dict[str, Input]  # by the operator's names
    output: Input  # how the operator's first output comes out
    spare: dict[str, str] = field(default_factory=dict)  # further outputs of the operator that the file gives: its name


def graph_of(model: Any) -> Graph:
    """Return the graph of a model. Raises NotLoaded."""
    graph = model.graph
    opset = next((o.version for o in model.opset_import if o.domain in STANDARD), 0)
    node = _operator(graph)
    try:
        needed("onnx").defs.get_schema(node.op_type, opset, "")
    except Exception:
        since = needed("onnx").defs.get_schema(node.op_type).since_version
        raise NotLoaded(f"opset {opset} has no {node.op_type}; the latest that is known is of opset {since}") from None
    way = _Way(graph)
    slots, inputs = SLOTS[node.op_type], {}
    for slot, name in zip(slots, node.input, strict=False):
        if name:
            inputs[slot] = way.back(name, node.op_type, slot)
    attributes = {a.name: needed("onnx").helper.get_attribute_value(a) for a in node.attribute}
    inputs = _as_named(slots, inputs)
    used = {known.name for known in inputs.values()}
    idle = [v.name for v in graph.input if v.name not in used and v.name not in way.kept]
    if idle:
        raise NotLoaded(f"nothing is known of its input {idle[0]!r}: it leads to no input of {node.op_type}")
    if len(used) < len(inputs):
        twice = next(n for n in used if sum(i.name == n for i in inputs.values()) > 1)
        raise NotLoaded(f"its input {twice!r} leads to two inputs of {node.op_type}: each needs one of its own")
    outputs = {name: node.op_type for name in node.output if name}
    output = way.on(node.output[0], f"what {node.op_type} gives")
    names = [v.name for v in graph.output]
    spare = {str(at): name for at, name in enumerate(node.output) if at and name in names and name in outputs}
    return Graph(model, node.op_type, opset, attributes, inputs, output, spare)


def _operator(graph: Any) -> Any:
    known = [node for node in graph.node if node.op_type in SLOTS]
    if len(known) == 1:
        return known[0]
    there = sorted({node.op_type for node in graph.node})
    found = ", ".join(there[:8]) + (", …" if len(there) > 8 else "")
    some = f"{len(known)} of them" if known else "none"
    raise NotLoaded(f"a graph with one of {', '.join(SLOTS)} is wanted, this has {some} (it has {found})")


def _as_named(slots: dict[str, str], inputs: dict[str, Input]) -> dict[str, Input]:
    """Return the inputs by what their names say, where all say it: a file in which they are crossed is wrong."""
    given = [known for known in inputs.values() if known.kept is None]
    named = {}
    for known in given:
        said = [slot for slot, names in slots.items() if re.fullmatch(names, known.name, re.IGNORECASE)]
        if len(said) != 1 or said[0] in named or said[0] not in inputs:
            return inputs
        named[said[0]] = known
    kept = {slot: known for slot, known in inputs.items() if known.kept is not None}
    return inputs if named.keys() & kept.keys() else {**named, **kept}


class _Way:
    """The ways from the inputs of a graph to its operator, and from there to its outputs."""

    def __init__(self, graph: Any) -> None:
        self.graph = graph
        self.makers = {name: node for node in graph.node for name in node.output if name}
        self.kept = {t.name: t for t in graph.initializer}
        self.free = {v.name: v for v in graph.input if v.name not in self.kept}

    def back(self, name: str, operator: str, slot: str) -> Input:
        """Return the one input of the file that a value is made of. Raises NotLoaded."""
        what, parameter = f"the {slot} of {operator}", slot in PARAMETERS
        order: tuple[int, ...] = ()
        heads: tuple[int, ...] = ()
        for _ in self.graph.node:  # no way is longer, unless it goes in circles
            if name not in self.makers:
                break
            node = self.makers[name]
            if node.op_type == "Transpose" and not heads:
                order = _after(self._permutation(node), order)
            elif node.op_type in SHAPED and not what.startswith("the x of") and slot not in HEADED:
                raise NotLoaded(f"{what} is laid out anew on the way ({node.op_type}): that is not known")
            elif node.op_type == "Reshape" and slot in HEADED:
                if heads or order[:1] not in ((), (0,)):
                    raise NotLoaded(f"{what} is reshaped in a way that is not known")
                heads = self._shape(node, what)
            sources = [n for n in self._data(node) if self._comes_from_outside(n)]
            if not sources and parameter and len(self._data(node)) == 1:
                sources = self._data(node)
            if len(sources) != 1:
                made = "several inputs" if sources else "no input of the file"
                raise NotLoaded(f"{what} is made of {made} ({node.op_type})")
            name = sources[0]
        if name in self.kept and parameter:
            numbers = needed("onnx").numpy_helper.to_array(self.kept[name])
            return Input(name, self.kept[name].data_type, None, order, heads, numbers)
        if name not in self.free:
            raise NotLoaded(f"{what} is a constant of the file")
        kind = self.free[name].type.tensor_type
        return Input(name, kind.elem_type, _sizes(kind), order, heads)

    def on(self, name: str, what: str) -> Input:
        """Return the one output of the file that a value is made into. Raises NotLoaded."""
        order: tuple[int, ...] = ()
        heads: tuple[int, ...] = ()
        outputs = {v.name: v for v in self.graph.output}
        for _ in self.graph.node:
            if name in outputs:
                break
            users = [n for n in self.graph.node if name in self._data(n)]
            if len(users) != 1:
                raise NotLoaded(f"{what} goes to {len(users) or 'no'} nodes, and is no output")
            (node,) = users
            if node.op_type == "Transpose" and not heads:
                order = _after(order, self._permutation(node))
            elif node.op_type == "Reshape":
                heads = self._shape(node, what)
            name = node.output[0]
        if name not in outputs:
            raise NotLoaded(f"{what} is no output of the file")
        kind = outputs[name].type.tensor_type
        return Input(name, kind.elem_type, _sizes(kind), order, heads)

    def _data(self, node: Any) -> list[str]:
        names = list(node.input)[:1] if node.op_type in SHAPED else list(node.input)
        return [n for n in names if n]

    def _comes_from_outside(self, name: str) -> bool:
        left, seen = [name], set()
        while left:
            one = left.pop()
            if one in self.free:
                return True
            if one in self.makers and one not in seen:
                seen.add(one)
                left += self._data(self.makers[one])
        return False

    def _permutation(self, node: Any) -> tuple[int, ...]:
        found = [tuple(a.ints) for a in node.attribute if a.name == "perm"]
        if not found:
            raise NotLoaded("it has a Transpose without an order of axes")
        return found[0]

    def _shape(self, node: Any, what: str) -> tuple[int, ...]:
        made = self.makers.get(node.input[1])
        held = self.kept.get(node.input[1])
        if held is None and made is not None and made.op_type == "Constant":
            held = next((a.t for a in made.attribute if a.name == "value"), None)
        if held is None:
            raise NotLoaded(f"{what} is reshaped to sizes that are computed: constants are wanted")
        return tuple(int(n) for n in needed("onnx").numpy_helper.to_array(held))


def _after(first: Sequence[int], then: Sequence[int]) -> tuple[int, ...]:
    """Return the transposition that does one after the other."""
    return tuple(first[i] for i in then) if first and then else tuple(first or then)


def _sizes(kind: Any) -> tuple[int | None, ...] | None:
    if not kind.HasField("shape"):
        return None
    return tuple(d.dim_value if d.HasField("dim_value") else None for d in kind.shape.dim)
