"""Run a graph in ONNX Runtime, on the CPU with one thread, on tensors; what it does not take is said."""

import os
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from attnconf.conformance.source.not_loaded import NotLoaded
from attnconf.conformance.source.onnx_files.bytes import first_line, needed
from attnconf.conformance.source.onnx_files.graph import Graph, Input

DTYPES = {1: torch.float32, 10: torch.float16, 11: torch.float64, 7: torch.int64, 6: torch.int32, 9: torch.bool}
REPLACED = ("weight", "bias")  # initializers that stand for parameters; tables are the file's own
FLOATS = (torch.float32, torch.float16, torch.float64)


class Session:
    """A graph that is run. It is made once, when it is first needed."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        for slot, known in graph.inputs.items():
            if known.dtype not in DTYPES:
                raise NotLoaded(f"its {slot} has a type that is not known here (number {known.dtype} of ONNX)")
        self.made = self._made

    @property
    def dtype(self) -> torch.dtype:
        """The dtype of its numbers."""
        return next(DTYPES[known.dtype] for known in self.graph.inputs.values() if DTYPES[known.dtype] in FLOATS)

    @cached_property
    def _made(self) -> Any:
        runtime = runtime_without_telemetry()
        options = runtime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4
        try:
            return runtime.InferenceSession(
                _with_inputs(self.graph).SerializeToString(), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:
            raise NotLoaded(f"ONNX Runtime does not take it: {first_line(error)}") from None

    def run(self, given: Mapping[str, Tensor], outputs: tuple[str, ...] = ()) -> list[Tensor]:
        """Return what comes out for these inputs of the operator, as the operator takes and gives them.

        Raises NotImplementedError for what the file does not take.
        """
        asked = next(x.dtype for x in given.values() if x.is_floating_point())
        self.demand(asked)
        feeds = {}
        for slot, x in given.items():
            known = self.graph.inputs[slot]
            x = laid_out(x.detach(), known, slot)
            fits(x, known, slot)
            feeds[known.name] = x.to("cpu", DTYPES[known.dtype]).contiguous().numpy()
        try:
            found = self.made.run([self.graph.output.name, *outputs], feeds)
        except Exception as error:
            raise RuntimeError(f"ONNX Runtime: {first_line(error)}") from None
        first, *others = (torch.from_numpy(x) for x in found)
        return [x.to(asked) for x in (first, *others)]

    def demand(self, asked: torch.dtype) -> None:
        """Raise NotImplementedError for another dtype than the file's.

        Meaning is judged in float64, to a bound that float32 keeps: numbers in it are rounded to the file's float32.
        """
        if asked == self.dtype or (asked, self.dtype) == (torch.float64, torch.float32):
            return
        raise NotImplementedError(f"{name_of(asked)}: the file computes in {name_of(self.dtype)}")


def runtime_without_telemetry() -> Any:
    """Import ONNX Runtime. Its telemetry, which is on by default, is switched off: nothing is sent, and nothing kept.

    That has to be said before its library is loaded (its Privacy.md, "Disabling Telemetry"): where other code of this
    process has imported it already, it is too late.
    """
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    return needed("onnxruntime")


def _with_inputs(graph: Graph) -> Any:
    """Return the model with inputs in place of the initializers that are its parameters."""
    helper = needed("onnx").helper
    model = type(graph.model)()
    model.CopyFrom(graph.model)
    for slot, known in graph.inputs.items():
        if known.kept is not None and slot in REPLACED:
            left = [t for t in model.graph.initializer if t.name != known.name]
            there = {v.name for v in model.graph.input}
            del model.graph.initializer[:]
            model.graph.initializer.extend(left)
            if known.name not in there:
                model.graph.input.append(helper.make_tensor_value_info(known.name, known.dtype, None))
    return model


def name_of(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def laid_out(x: Tensor, known: Input, slot: str) -> Tensor:
    """Return a tensor of the operator as the file takes it: before its own Transpose and Reshape."""
    if known.order:
        if len(known.order) != x.ndim:
            raise NotImplementedError(f"{slot} with {x.ndim} axes: the file takes {len(known.order)}")
        x = x.permute([known.order.index(axis) for axis in range(x.ndim)])
    if known.heads:
        for wanted, size in zip(known.heads[2:], x.shape[2:], strict=True):
            if wanted not in (-1, 0, size):
                raise NotImplementedError(f"{slot} with {size} heads or features: the file has {wanted}")
        x = x.flatten(2)
    return x


def fits(x: Tensor, known: Input, slot: str) -> None:
    """Raise NotImplementedError for a tensor of other sizes than those that the file fixes."""
    if known.sizes is None:
        return
    if len(known.sizes) != x.ndim:
        raise NotImplementedError(f"{slot} with {x.ndim} axes: the file takes {len(known.sizes)}")
    for axis, (fixed, size) in enumerate(zip(known.sizes, x.shape, strict=True)):
        if fixed not in (None, size):
            shape = ", ".join("any" if n is None else str(n) for n in known.sizes)
            raise NotImplementedError(f"{slot} of size {size} on axis {axis}: the file takes ({shape})")
