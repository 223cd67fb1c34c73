"""Steps: what keeps a state between its calls, called as an order's script says, and seen as one callable.

The script is data, a row of acts, and stands among an order's inputs in the place of the state:

    ("empty", samples)      a state without tokens
    ("step", n, a, b)       the tokens a … b of x, and of the masks beside it, with the state that act n left
    ("reorder", n, order)   the samples of that state in another order
    ("poison", n)           that state with NaN in what it does not use

Each act leaves a state. What comes out are the outputs of all steps, one behind the other along the axis of tokens.
States stay here: nobody looks into one.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from attnconf.conformance.worker.refused import UNSUPPORTED, Refused, kind_of

NEEDED, OPTIONAL = ("step", "empty"), ("reorder", "poison")


def as_one_call(built: Any, component: str) -> Callable[..., Tensor]:
    """Return the callable (x, script, masks) that follows a script. Raises Refused where a method is lacking."""
    for name in NEEDED:
        if not callable(getattr(built, name, None)):
            has = f"without a method {name}"
            raise Refused("protocol", f"{component}(config, weights) returned {kind_of(built)} {has}")

    def follow(x: Tensor, script: Sequence[tuple[Any, ...]], **beside: Tensor) -> Tensor:
        states: list[Any] = []
        outs: list[Tensor] = []
        for act, *told in script:
            if act == "step":
                out, state = _step(built, states[told[0]], slice(told[1], told[2]), x, beside)
                outs.append(out)
            else:
                state = _act(built, act, told, states, x)
            states.append(state)
        return torch.cat(outs, dim=1)

    return follow


def _step(built: Any, state: Any, tokens: slice, x: Tensor, beside: dict[str, Tensor]) -> tuple[Tensor, Any]:
    returned = built.step(x[:, tokens], state, **{name: mask[..., tokens] for name, mask in beside.items()})
    if not isinstance(returned, tuple) or len(returned) != 2:
        raise Refused("protocol", f"step returned {kind_of(returned)}, want a pair (out, cache)")
    out, state = returned
    want = (len(x), tokens.stop - tokens.start)
    if not isinstance(out, Tensor):
        raise Refused("protocol", f"step returned {kind_of(out)} as out, want a torch.Tensor")
    if out.ndim != 3 or tuple(out.shape[:2]) != want:
        raise Refused("shape", f"out of a step has shape {tuple(out.shape)}, want {want} and a width")
    return out, state


def _act(built: Any, act: str, told: Sequence[Any], states: Sequence[Any], x: Tensor) -> Any:
    method = getattr(built, act, None)
    if not callable(method):
        raise Refused(UNSUPPORTED, act)
    if act == "empty":
        return method(told[0])
    if act == "reorder":
        return method(states[told[0]], torch.tensor(told[1], device=x.device))
    return method(states[told[0]])
