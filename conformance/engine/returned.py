"""What foreign code returned, as tensors of the wanted shapes, or as a Failure."""

from typing import Any

import torch
from torch import Tensor

from attnconf.adapters.contract import COMPONENTS
from attnconf.conformance.engine import text_codec
from attnconf.conformance.engine.evidence import Failure, kind_of
from attnconf.conformance.engine.foreign_errors import raised
from attnconf.conformance.engine.handing_over import tensors_of
from attnconf.conformance.engine.request import Request

_DTYPES = (torch.float64, torch.float32, torch.bfloat16, torch.float16)


def validated(returned: Any, request: Request) -> tuple[Tensor, Tensor | None]:
    """Return (out, weights or None) from the returned object. Raises Failure with got and want."""
    known = COMPONENTS[request.component]
    if known.returns != "tensor":
        return _written(returned, known.returns), None
    attention = None
    out = returned
    if request.weights_shape:
        if not isinstance(returned, tuple | list) or len(returned) != 2:
            raise Failure(
                "protocol", f"returned {kind_of(returned)}, want a pair (out, weights) as need_weights is true"
            )
        out, attention = returned
    for x, what, shapes in (
        (out, "out", (request.out_shape,)),
        (attention, "weights", (request.weights_shape, request.averaged_shape)),
    ):
        if what == "weights" and not request.weights_shape:
            continue
        if not isinstance(x, Tensor):
            asks = "need_weights" in known.keywords and not request.weights_shape
            hint = " alone, as need_weights was not given" if isinstance(x, tuple) and asks else ""
            raise Failure("protocol", f"returned {kind_of(x)} as {what}, want a torch.Tensor{hint}")
        if x.is_nested or x.layout != torch.strided:
            raise Failure("protocol", f"{what} is nested or sparse, want a dense tensor")
        if x.dtype not in _DTYPES:
            raise Failure("dtype", f"{what} is {x.dtype}, want float64, float32, bfloat16 or float16")
        if tuple(x.shape) not in shapes:
            raise Failure("shape", f"{what} has shape {tuple(x.shape)}, want {shapes[0]}")
        if x.device != _device(request):
            raise Failure("protocol", f"{what} is on {x.device}, want {_device(request)}")
    # as plain tensors: a subclass may do without subtraction
    return out.as_subclass(Tensor), None if attention is None else attention.as_subclass(Tensor)


def _written(returned: Any, kind: str) -> Tensor:
    """Return ids, text or merges as numbers. Raises Failure also where reading the foreign object raises."""
    try:
        return text_codec.numbers(returned, kind)
    except (Failure, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise raised(error, f"reading its {kind} ") from error


def _device(request: Request) -> torch.device:
    """Return the device wanted of the output: that of the tensors handed over, else the configuration's."""
    handed = tensors_of(request.inputs, request.weights)
    return handed[0].device if handed else torch.empty(0, device=request.config.device).device
