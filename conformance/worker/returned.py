"""What foreign code returned, as tensors of the wanted shapes, or Refused."""

from typing import Any

import torch
from torch import Tensor

from attnconf.adapters.contract import COMPONENTS
from attnconf.conformance.worker import written
from attnconf.conformance.worker.foreign_errors import raised
from attnconf.conformance.worker.handing_over import tensors_of
from attnconf.conformance.worker.order import Order
from attnconf.conformance.worker.refused import Refused, kind_of

DTYPES = (torch.float64, torch.float32, torch.bfloat16, torch.float16)


def validated(returned: Any, order: Order) -> tuple[Tensor, Tensor | None]:
    """Return (out, weights or None) from the returned object. Raises Refused with got and want."""
    known = COMPONENTS[order.component]
    if known.returns != "tensor":
        return _written(returned, known.returns), None
    attention = None
    out = returned
    if order.weights_shape:
        if not isinstance(returned, tuple | list) or len(returned) != 2:
            raise Refused(
                "protocol", f"returned {kind_of(returned)}, want a pair (out, weights) as need_weights is true"
            )
        out, attention = returned
    for x, what, shapes in (
        (out, "out", (order.out_shape,)),
        (attention, "weights", (order.weights_shape, order.averaged_shape)),
    ):
        if what == "weights" and not order.weights_shape:
            continue
        if not isinstance(x, Tensor):
            asks = "need_weights" in known.keywords and not order.weights_shape
            hint = " alone, as need_weights was not given" if isinstance(x, tuple) and asks else ""
            raise Refused("protocol", f"returned {kind_of(x)} as {what}, want a torch.Tensor{hint}")
        if x.is_nested or x.layout != torch.strided:
            raise Refused("protocol", f"{what} is nested or sparse, want a dense tensor")
        if x.dtype not in DTYPES:
            raise Refused("dtype", f"{what} is {x.dtype}, want float64, float32, bfloat16 or float16")
        if tuple(x.shape) not in shapes:
            raise Refused("shape", f"{what} has shape {tuple(x.shape)}, want {shapes[0]}")
        if x.device != _device(order):
            raise Refused("protocol", f"{what} is on {x.device}, want {_device(order)}")
    # as plain tensors: a subclass may do without subtraction
    return out.as_subclass(Tensor), None if attention is None else attention.as_subclass(Tensor)


def _written(returned: Any, kind: str) -> Tensor:
    """Return ids, text or merges as numbers. Raises Refused also where reading the foreign object raises."""
    try:
        return written.numbers(returned, kind)
    except (Refused, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise raised(error, f"reading its {kind} ") from error


def _device(order: Order) -> torch.device:
    """Return the device wanted of the output: that of the tensors handed over, else the configuration's."""
    handed = tensors_of(order.inputs, order.weights)
    return handed[0].device if handed else torch.empty(0, device=order.config.device).device
