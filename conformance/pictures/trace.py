"""One call step by step: what the reference computes on the way, and what can be seen of an implementation's.

The reference's steps are recorded by replacing its functions by ones that record, as a mutant replaces them. Of an
implementation only what goes through torch's softmax, and into F.scaled_dot_product_attention, can be seen.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from functools import wraps
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.engine.mutant import Mutant, apply
from attnconf.conformance.engine.request import Reply, Request
from attnconf.conformance.engine.subject import Subject
from attnconf.conformance.engine.translate import in_conventions
from attnconf.conformance.pictures.smallest import Example, answer, apart, differ, idle, picks
from attnconf.reference import attention, feed_forward, layer_norm, rms_norm

Json = dict[str, Any]
Recorded = dict[str, list[Tensor]]
MOST = 24  # numbers of a step that is shown
HIDDEN = -1e4  # a score below it is as good as -inf, and so shown

# The reference's functions whose arguments and results are steps: names for the arguments, then for the result.
_STEPS: tuple[tuple[Callable[..., Any], tuple[str, ...], str], ...] = (
    (attention.refuse_misfits, ("q", "k", "v"), ""),
    (attention.weigh, ("scores",), "weights"),
    (attention.mix, (), "context"),
    (layer_norm.normalize, (), "normalized"),
    (rms_norm.normalize, (), "normalized"),
    (feed_forward.hidden, (), "hidden"),
)
_FUSED = {"query": "q", "key": "k", "value": "v"}
_ORDER = ("q", "k", "v", "scores", "weights", "context", "normalized", "hidden")
_SOFTMAX = (torch.softmax, torch.special.softmax, Tensor.softmax, functional.softmax)
_DEFAULTS: dict[str, Any] = {"num_heads": 1, "causal": False, "scale": None, "eps": None, "activation": "relu"}


def described(example: Example, subject: Subject) -> Json:
    """Return the example as plain data: inputs, and each step as the reference has it and as the implementation."""
    request, got, want = (getattr(example.difference, name) for name in ("request", "got", "want"))
    recorded = _of_reference(subject.declares, request)
    seen = _of(subject, request, got)
    names = [n for n in _ORDER if n in recorded and recorded[n][-1].numel() <= MOST and _tells(n, request)]
    calls = 1 + len(request.before)
    steps = [_step(name, recorded[name][-1], _fitted(seen.get(name, []), recorded[name], calls)) for name in names]
    for name, one, other in _outcomes(want, got):
        steps.append(_step(name, one, other))
    first = next((s for s in steps if s["differs"]), None)
    for step in steps:
        step["first"] = step is first
    return {
        "case": example.result.described,
        "notes": _notes(request),
        "inputs": [{"name": name, "value": numbers(x)} for name, x in _inputs(request).items()],
        "steps": steps,
    }


def _tells(name: str, request: Request) -> bool:
    """Return whether a step is none of the inputs, and not the output under another name."""
    projections = [w for part, w in request.weights.items() if not idle(w)]
    return bool(projections) or name not in ("q", "k", "v", "context")


def _step(name: str, want: Any, got: Any) -> Json:
    if isinstance(got, Tensor) and isinstance(want, Tensor):
        differs = apart(_levelled(got), _levelled(want)) if name == "scores" else apart(got, want)
    else:
        differs = got is not None
    return {"name": name, "reference": numbers(want), "yours": numbers(got), "differs": differs}


def _levelled(scores: Tensor) -> Tensor:
    """Return the scores less the largest of each row, which changes no weight, and -inf for what is hidden by it."""
    level = scores - scores.amax(dim=-1, keepdim=True)
    return torch.where(level < HIDDEN, -math.inf, level.nan_to_num(nan=-math.inf))


def _outcomes(want: Reply | Failure, got: Reply | Failure) -> list[tuple[str, Any, Any]]:
    """Return what came out: names, the reference's, the implementation's; an exception as its words."""
    if isinstance(want, Failure) or isinstance(got, Failure):
        one, other = (reply.message if isinstance(reply, Failure) else reply.out for reply in (want, got))
        return [("out", one, other)]
    found = [("out", want.out, got.out)]
    if want.weights is not None and got.weights is not None:
        found.append(("returned", want.weights, got.weights))
    grads = [n for n in want.grads if apart(got.grads[n], want.grads[n])]
    found += [(f"gradient of {_FUSED.get(n, n)}", want.grads[n], got.grads[n]) for n in grads]
    return found


# -- what is seen


def _of_reference(declares: Mapping[str, str], request: Request) -> Recorded:
    """Return the steps of the reference, as often as each is taken."""
    recorded: Recorded = {}
    replaced = {function: _recording(function, names, result, recorded) for function, names, result in _STEPS}
    mutant = Mutant("ATT-recorded", "", set(), "", replaced)
    answer(Subject(in_conventions(apply([mutant]), declares), request.component, "direct"), request)
    return recorded


def _recording(function: Callable[..., Any], names: tuple[str, ...], result: str, into: Recorded) -> Any:
    @wraps(function)
    def recording(*given: Any, **named: Any) -> Any:
        for name, x in zip(names, given, strict=False):
            into.setdefault(name, []).append(x.detach().clone())
        out = function(*given, **named)
        if result:
            into.setdefault(result, []).append(out.detach().clone())
        return out

    return recording


class Watching(TorchFunctionMode):
    """Records what goes through softmax, and what goes into fused attention. Watches without changing anything."""

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
                for name, x in {**dict(zip(_FUSED, args, strict=False)), **kwargs}.items():
                    if name in _FUSED:
                        self._keep(_FUSED[name], x)
        except Exception:  # what is odd is not recorded, and is no reason to fail
            self.recorded.clear()
        return out

    def _keep(self, name: str, x: Tensor) -> None:
        self.recorded.setdefault(name, []).append(x.detach().clone())


def _of(subject: Subject, request: Request, got: Reply | Failure) -> Recorded:
    """Return the steps that can be seen of the implementation, each in the reference's shape where it is that."""
    with Watching() as watching:
        again = answer(subject, replace(request, cotangent=None, wrt=()))
    return {} if differ(again, got) else watching.recorded  # watched, it may do something else


def _fitted(got: list[Tensor], want: list[Tensor], calls: int) -> Tensor | None:
    """Return what was seen of the last of so many calls in the reference's shape, or None if it has another.

    One tensor, or one for each head.
    """
    last = got[len(got) - len(got) // calls :]
    if not last or len({x.shape for x in last}) > 1:
        return None
    whole, shape = last[0] if len(last) == len(want) // calls else torch.stack(last, dim=-3), want[-1].shape
    return whole.reshape(shape) if whole.numel() == want[-1].numel() and whole.shape[-2:] == shape[-2:] else None


# -- as plain data


def numbers(x: Any) -> Any:
    """Return numbers of six digits in nested lists, without leading axes of size 1; NaN and infinity as words."""
    if not isinstance(x, Tensor):
        return x
    x = x.detach().double().cpu()
    while x.ndim > 2 and x.shape[0] == 1:
        x = x[0]
    return _rounded(x.tolist())


def _rounded(x: Any) -> Any:
    if isinstance(x, list):
        return [_rounded(y) for y in x]
    return (float(f"{x:.6g}") + 0.0) if math.isfinite(x) else str(x)


def _inputs(request: Request) -> dict[str, Any]:
    """Return the inputs, q, k and v under these names, and the weights that are neither identities nor zeros."""
    short = _FUSED if request.component == "attention" else {}
    found = {short.get(name, name): _boolean(x) for name, x in request.inputs.items()}
    found |= {name: w for name, w in request.weights.items() if not (idle(w) or picks(w))}
    if request.cotangent is not None:
        found["cotangent"] = request.cotangent
    return found


def _boolean(x: Any) -> Any:
    return x.long() if isinstance(x, Tensor) and x.dtype == torch.bool else x


def _notes(request: Request) -> list[str]:
    """Return what else is asked for, in words."""
    asked = {f.name: getattr(request.config, f.name) for f in fields(request.config)}
    notes = [f"{n} = {asked[n]}" for n, usual in _DEFAULTS.items() if n in asked and asked[n] != usual]
    if any(picks(w) for w in request.weights.values()):
        notes.append("a token is query, key and value side by side, and the weights pick them out")
    elif any(idle(w) for w in request.weights.values()):
        notes.append("weights not shown are identities, biases 0")
    notes += [request.mode] if request.mode != "plain" else []
    notes += [f"{request.layout} in memory"] if request.layout != "contiguous" else []
    return notes + ([f"after {len(request.before)} earlier call(s)"] if request.before else [])
