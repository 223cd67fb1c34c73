"""Make a module of a file of ONNX that is an adapter: a function of the contract, declarations and a profile."""

import sys
from pathlib import Path
from types import ModuleType

from attnconf.conformance.source.not_loaded import NotLoaded, NotThere
from attnconf.conformance.source.onnx_files.attention import attention_of
from attnconf.conformance.source.onnx_files.bytes import first_line, model_of
from attnconf.conformance.source.onnx_files.feed_forward import feed_forward_of
from attnconf.conformance.source.onnx_files.graph import graph_of
from attnconf.conformance.source.onnx_files.norms import layer_norm_of, rms_norm_of
from attnconf.conformance.source.onnx_files.rotary import rotary_of
from attnconf.conformance.source.onnx_files.session import Session, name_of

# Which component an operator is, and what makes its function.
MADE = {
    "Attention": ("attention", attention_of),
    "RotaryEmbedding": ("rotary", rotary_of),
    "LayerNormalization": ("layer_norm", layer_norm_of),
    "Gelu": ("feed_forward", feed_forward_of),
    "RMSNormalization": ("rms_norm", rms_norm_of),
}


def module_of(path: Path) -> ModuleType:
    """Return the module of a file. Raises NotThere or NotLoaded."""
    try:
        session = Session(graph_of(model_of(path)))
        component, make = MADE[session.graph.operator]
        function, declares = make(session)
    except (NotThere, NotLoaded):
        raise
    except Exception as error:  # data of another size than a tensor says, say: what a file may hold has no end
        raise NotLoaded(f"it cannot be read: {type(error).__name__}: {first_line(error)}") from None
    operator = f"{session.graph.operator}-{session.graph.opset} ({name_of(session.dtype)})"
    module, runtime = ModuleType(path.stem), sys.modules["onnxruntime"]
    vars(module).update(
        {component: function}, __file__=str(path.absolute()), declares=declares, profile="inference-1",
        __version__=f"{operator}, onnxruntime {runtime.__version__}",
    )  # fmt: skip
    return module
