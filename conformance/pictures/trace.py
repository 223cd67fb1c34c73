"""One call step by step: the reference's intermediate results beside the visible ones of an implementation.

The reference's steps are recorded by replacing its functions with recording ones, as a mutant replaces them. Of an
implementation, only the arguments of torch's softmax and of F.scaled_dot_product_attention can be seen.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from functools import wraps
from typing import Any

import torch
from torch import Tensor

from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.engine.mutant import Mutant, apply
from attnconf.conformance.engine.request import Reply, Request
from attnconf.conformance.engine.subject import Subject
from attnconf.conformance.engine.translate import in_conventions
from attnconf.conformance.pictures.smallest import Example, answer, apart, differ, idle, picks
from attnconf.conformance.worker.watching import FUSED, Recorded
from attnconf.reference import attention, feed_forward, layer_norm, rms_norm

Json = dict[str, Any]
MOST = 24  # numbers of a step that is shown
HIDDEN = -1e4  # a lower score is shown as -inf

# Functions of the reference whose arguments and results are steps: names of the arguments, then of the result.
_STEPS: tuple[tuple[Callable[..., Any], tuple[str, ...], str], ...] = (
    (attention.refuse_misfits, ("q", "k", "v"), ""),
    (attention.weigh, ("scores",), "weights"),
    (attention.mix, (), "context"),
    (layer_norm.normalize, (), "normalized"),
    (rms_norm.normalize, (), "normalized"),
    (feed_forward.hidden, (), "hidden"),
)
_ORDER = ("q", "k", "v", "scores", "weights", "context", "normalized", "hidden")
_DEFAULTS: dict[str, Any] = {"num_heads": 1, "causal": False, "scale": None, "eps": None, "activation": "relu"}


def described(example: Example, subject: Subject) -> Json:
    """Return the example as plain data: inputs, and each step of the reference beside the implementation's."""
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
    """Return whether a step is worth showing: it is neither an input nor the output under another name."""
    projections = [w for part, w in request.weights.items() if not idle(w)]
    return bool(projections) or name not in ("q", "k", "v", "context")


def _step(name: str, want: Any, got: Any) -> Json:
    if isinstance(got, Tensor) and isinstance(want, Tensor):
        differs = apart(_levelled(got), _levelled(want)) if name == "scores" else apart(got, want)
    else:
        differs = got is not None
    return {"name": name, "reference": numbers(want), "yours": numbers(got), "differs": differs}


def _levelled(scores: Tensor) -> Tensor:
    """Return the scores less the largest of each row (weights stay), with -inf for scores below HIDDEN."""
    level = scores - scores.amax(dim=-1, keepdim=True)
    return torch.where(level < HIDDEN, -math.inf, level.nan_to_num(nan=-math.inf))


def _outcomes(want: Reply | Failure, got: Reply | Failure) -> list[tuple[str, Any, Any]]:
    """Return (name, reference's, implementation's) for the output and all that differs; an exception as its words."""
    if isinstance(want, Failure) or isinstance(got, Failure):
        one, other = (reply.message if isinstance(reply, Failure) else reply.out for reply in (want, got))
        return [("out", one, other)]
    found = [("out", want.out, got.out)]
    if want.weights is not None and got.weights is not None:
        found.append(("returned", want.weights, got.weights))
    grads = [n for n in want.grads if apart(got.grads[n], want.grads[n])]
    found += [(f"gradient of {FUSED.get(n, n)}", want.grads[n], got.grads[n]) for n in grads]
    return found


# -- recording


def _of_reference(declares: Mapping[str, str], request: Request) -> Recorded:
    """Return the recorded tensors of each step of the reference, in the order of the calls."""
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


def _of(subject: Subject, request: Request, got: Reply | Failure) -> Recorded:
    """Return the recorded tensors of each visible step of the implementation."""
    again = answer(subject, replace(request, cotangent=None, wrt=(), watched=True))
    return {} if differ(again, got) else again.seen  # watched, it may do something else


def _fitted(got: list[Tensor], want: list[Tensor], calls: int) -> Tensor | None:
    """Return a step of the last of ``calls`` calls in the reference's shape; None if it has another shape.

    The implementation may compute the step in one tensor, or in one for each head.
    """
    last = got[len(got) - len(got) // calls :]
    if not last or len({x.shape for x in last}) > 1:
        return None
    whole, shape = last[0] if len(last) == len(want) // calls else torch.stack(last, dim=-3), want[-1].shape
    return whole.reshape(shape) if whole.numel() == want[-1].numel() and whole.shape[-2:] == shape[-2:] else None


# -- as plain data


def numbers(x: Any) -> Any:
    """Return a tensor as nested lists of six-digit numbers, without leading axes of size 1; NaN, infinity as words."""
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
    """Return the inputs (query, key, value as q, k, v) and the weights that are neither identities nor zeros."""
    short = FUSED if request.component == "attention" else {}
    found = {short.get(name, name): _boolean(x) for name, x in request.inputs.items()}
    found |= {name: w for name, w in request.weights.items() if not (idle(w) or picks(w))}
    if request.cotangent is not None:
        found["cotangent"] = request.cotangent
    return found


def _boolean(x: Any) -> Any:
    return x.long() if isinstance(x, Tensor) and x.dtype == torch.bool else x


def _notes(request: Request) -> list[str]:
    """Return words for the options of a request: "causal, 2 heads"."""
    asked = {f.name: getattr(request.config, f.name) for f in fields(request.config)}
    notes = [f"{n} = {asked[n]}" for n, usual in _DEFAULTS.items() if n in asked and asked[n] != usual]
    if any(picks(w) for w in request.weights.values()):
        notes.append("a token is query, key and value side by side, and the weights pick them out")
    elif any(idle(w) for w in request.weights.values()):
        notes.append("weights not shown are identities, biases 0")
    notes += [request.mode] if request.mode != "plain" else []
    notes += [f"{request.layout} in memory"] if request.layout != "contiguous" else []
    return notes + ([f"after {len(request.before)} earlier call(s)"] if request.before else [])
