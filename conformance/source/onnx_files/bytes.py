"""From a file to a model of ONNX that can be trusted to be one, with the data beside it, or why there is none."""

import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from attnconf.conformance.source.file_text import raw_bytes
from attnconf.conformance.source.not_loaded import NotLoaded

LARGEST = 2**30  # bytes of a file with its data; more than 2 GiB no model of protobuf may have
STANDARD = ("", "ai.onnx")


def model_of(path: Path) -> Any:
    """Return the model in a file, functions of its own written out. Raises NotThere or NotLoaded."""
    onnx = needed("onnx")
    if path.is_file() and path.stat().st_size > LARGEST:
        raise NotLoaded(f"it has {path.stat().st_size / 2**30:.1f} GiB, at most 1 is read")
    raw = raw_bytes(path)
    if not raw:
        raise NotLoaded("the file is empty")
    try:
        model = onnx.load_model_from_string(raw)
    except Exception:
        raise NotLoaded("it is no ONNX model, or only a part of one: it cannot be decoded") from None
    if not model.graph.node or not model.opset_import:
        raise NotLoaded("it is no ONNX model: there is no graph in it")
    _take_in(model, path.absolute().parent)
    try:
        if model.functions:
            model = onnx.inliner.inline_local_functions(model)
    except Exception as error:
        raise NotLoaded(f"its functions cannot be written out: {first_line(error)}") from None
    _demand_standard(model)
    return model


def needed(package: str) -> Any:
    """Import a package of the extra [onnx]. Raises NotLoaded if it is not installed."""
    try:
        if package == "onnx":
            importlib.import_module("onnx.inliner")
        return importlib.import_module(package)
    except ModuleNotFoundError as error:
        missing = (error.name or package).partition(".")[0]
        raise NotLoaded(f"not run: needs {missing}, pip install 'attention-conformance[onnx]'") from None


def first_line(error: BaseException) -> str:
    """Return the first line of an error's words, without the numbers and places in code that stand before them."""
    words = re.sub(r"^\[ONNXRuntimeError\] : \d+ : \w+ : |/\S+:\d+ ", "", str(error))
    words = re.sub(r"^void .*?\) (?=ONNX Runtime)", "", words, flags=re.DOTALL)
    lines = [line.strip() for line in words.splitlines() if line.strip()]
    return lines[0][:200] if lines else type(error).__name__


def _tensors(graph: Any) -> Iterator[Any]:
    """Yield all tensors that a graph holds. Raises NotLoaded for a graph within it."""
    yield from graph.initializer
    for sparse in graph.sparse_initializer:
        yield from (sparse.values, sparse.indices)
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g") or attribute.graphs:
                raise NotLoaded(f"it branches or loops ({node.op_type}): a graph without {node.op_type} is wanted")
            yield from ([attribute.t] if attribute.HasField("t") else [])
            yield from attribute.tensors


def _take_in(model: Any, folder: Path) -> None:
    """Read the tensors that lie in files beside the model. Raises NotLoaded for files elsewhere."""
    onnx = needed("onnx")
    outside = [t for t in _tensors(model.graph) if t.data_location == onnx.TensorProto.EXTERNAL]
    outside += [t for f in model.functions for t in _tensors_of_function(f) if t.data_location == 1]
    total, seen = 0, set()
    for tensor in outside:
        location = next((e.value for e in tensor.external_data if e.key == "location"), "")
        file = (folder / location).resolve()
        if not location or not file.is_relative_to(folder.resolve()):
            raise NotLoaded(f"the data of {tensor.name!r} lies outside of its folder: {location!r}")
        if not file.is_file():
            raise NotLoaded(f"the data of {tensor.name!r} is lacking: there is no file {location!r} beside it")
        total += 0 if file in seen else file.stat().st_size
        seen.add(file)
    if total > LARGEST:
        raise NotLoaded(f"its data has {total / 2**30:.1f} GiB, at most 1 is read")
    for tensor in outside:
        try:
            onnx.external_data_helper.load_external_data_for_tensor(tensor, str(folder))
        except Exception as error:
            raise NotLoaded(f"the data of {tensor.name!r} cannot be read: {first_line(error)}") from None
        tensor.data_location = onnx.TensorProto.DEFAULT
        del tensor.external_data[:]


def _tensors_of_function(function: Any) -> Iterator[Any]:
    for node in function.node:
        yield from (a.t for a in node.attribute if a.HasField("t"))


def _demand_standard(model: Any) -> None:
    """Raise NotLoaded if the graph has operators that are not ONNX's own."""
    custom = sorted({f"{n.domain}:{n.op_type}" for n in model.graph.node if n.domain not in STANDARD})
    if custom:
        raise NotLoaded(f"it has operators that are not ONNX's own: {', '.join(custom[:5])}")
