"""The steps of a call that can be seen from outside: scores and weights of softmax, the inputs of fused attention."""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from torch.overrides import TorchFunctionMode

Recorded = dict[str, list[Tensor]]
FUSED = {"query": "q", "key": "k", "value": "v"}
STEPS = ("scores", "weights", *FUSED.values())
_SOFTMAX = (torch.softmax, torch.special.softmax, Tensor.softmax, functional.softmax)


class Watching(TorchFunctionMode):
    """Records the steps. Changes nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.recorded: Recorded = {}

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        out = func(*args, **kwargs)
        try:
            if func in _SOFTMAX:
                self._keep("scores", args[0] if args else kwargs["input"])
                self._keep("weights", out)
            elif func is functional.scaled_dot_product_attention:
                for name, x in {**dict(zip(FUSED, args, strict=False)), **kwargs}.items():
                    if name in FUSED:
                        self._keep(FUSED[name], x)
        except Exception:  # recording must never make a call fail
            self.recorded.clear()
        return out

    def _keep(self, name: str, x: Tensor) -> None:
        self.recorded.setdefault(name, []).append(x.detach().clone(memory_format=torch.contiguous_format))
