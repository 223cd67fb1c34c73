"""A map of which output position depends on which input position, drawn where a mask or causality fails.

The calls of the failing check are repeated with one token changed at a time. One repetition uses large changes, so that
a weakly hidden key shows; another uses scores near 0, so that every visible key has a weight and a missing one shows.
The reference's dependences in the same calls say what is allowed.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from attnconf.adapters.contract import COMPONENTS
from attnconf.conformance.engine.case import draw
from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.engine.request import Reply, Request
from attnconf.conformance.engine.subject import Subject
from attnconf.conformance.pictures.smallest import Deadline, Hurried, answer, idle
from attnconf.reference.masks import causal

Json = dict[str, Any]
SECONDS = 0.3  # for one failure
LONGEST = 12  # tokens: more are no small grid
SEEN = 1e-6  # a dependence moves the output by this fraction of its largest number
TELLING = 1e-3  # likewise for a dependence that must not be missing
LARGE = {"value": 1e8}  # else 1e4: what a fill of -20 or -100 in the scores does not hide
NONE, ALLOWED, FORBIDDEN, MISSING = ".oX!"
# Words in the ids of requirements on which position sees which.
_WORDS = {"CAUSAL", "PAD", "MASK", "ALONE", "EMPTY", "REACH", "HIDE", "MEMORY", "PREFIX", "DEPTH", "LENGTH", "BEHIND"}


def concerns(requirement: str) -> bool:
    """Return whether a requirement says which position depends on which."""
    chapter, word, _ = requirement.split("-")
    return chapter == "MASK" or (word in _WORDS and (chapter, word) != ("TRF", "MEMORY"))  # its layers add nothing


def leaks(
    subject: Subject, reference: Subject, log: list[tuple[Request, Any]], seconds: float = SECONDS
) -> Json | None:
    """Return the map of the first call with a forbidden or missing dependence, or None if there is no such call.

    Rows are output positions, columns input positions. ``reference``: the reference in the subject's conventions.
    """
    deadline = Deadline(seconds)
    subject, reference = Hurried(subject, deadline), Hurried(reference, deadline)
    maps = (_map(subject, reference, request) for request in _different([request for request, _ in log]))
    try:
        return next((found for found in maps if found), None)
    except TimeoutError:
        return None


def _different(requests: list[Request]) -> list[Request]:
    """Return the calls with a small map, one for each kind of mask and size; calls with masks come first."""
    kinds: dict[str, Request] = {}
    for request in requests:
        groups = sequences(request)
        sizes = (request.out_shape[-2], _length(request, groups)) if groups and all(request.out_shape) else (0, 0)
        fits = min(sizes) > 0 and max(sizes) <= LONGEST
        dropping = getattr(request.config, "training", False) and getattr(request.config, "dropout", 0.0)
        dtypes = {x.dtype for x in request.inputs.values() if isinstance(x, Tensor)}
        if fits and not dropping and not dtypes & {torch.float16, torch.bfloat16}:
            given = {name: x.tolist() for name, x in request.inputs.items() if name.endswith("mask")}
            kinds.setdefault(f"{request.config} {request.out_shape} {given}", request)
    return sorted(kinds.values(), key=lambda request: not hidden_by(request))


def sequences(request: Request) -> list[tuple[str, ...]]:
    """Return the names of the inputs that are sequences of tokens, grouped where one object is several inputs."""
    names = [name for name in COMPONENTS[request.component].inputs if isinstance(request.inputs.get(name), Tensor)]
    if "key" in names:
        return [("key", "value")]
    return [(name,) for name in names]


def _axis(x: Tensor) -> int:
    return -2 if x.is_floating_point() else -1  # (…, T, E), or ids (B, T)


def _length(request: Request, groups: list[tuple[str, ...]]) -> int:
    first = [request.inputs[names[0]] for names in groups]
    return sum(x.shape[_axis(x)] for x in first)


def hidden_by(request: Request) -> str:
    """Return words for the masks of a call: "causal, key_mask"; "" without masks."""
    given = [f"{n} {tuple(x.shape)}" for n, x in request.inputs.items() if n.endswith("mask") or n == "attn_bias"]
    causal = COMPONENTS[request.component].decodes or getattr(request.config, "causal", False)
    return ", ".join([*(["causal"] if causal else []), *given])


def _map(subject: Subject, reference: Subject, request: Request) -> Json | None:
    request = replace(request, cotangent=None, wrt=(), weights_shape=None)
    aligned = _aligned(subject, request)
    want = [dependences(reference, quiet(aligned), False), dependences(reference, aligned, True)]
    got = [dependences(subject, quiet(request), False), dependences(subject, request, True)]
    reply = answer(subject, quiet(request))
    if isinstance(reply, Failure) or any(x is None for x in (*want, *got)):
        return None
    finite = _apart(reply.out, request).isfinite().all(dim=-1).flatten(0, -2)[..., None].cpu()
    allowed, seen = (torch.stack(x).amax(dim=0) for x in (want, got))  # type: ignore[arg-type] # none is None
    allowed, seen, must = allowed > 0, seen > SEEN, want[0] > TELLING  # type: ignore[operator] # likewise
    judged = allowed.any(dim=-1, keepdim=True) & _judged(request, allowed)
    forbidden, missing = seen & ~allowed & judged, must & ~seen & judged & finite  # NaN depends on nothing
    wrong = (forbidden | missing).flatten(1).sum(dim=1)
    if not wrong.any():
        return None
    at = int(wrong.argmax())
    cells = torch.full(allowed[at].shape, ord(NONE)).masked_fill(allowed[at], ord(ALLOWED))
    cells = cells.masked_fill(forbidden[at], ord(FORBIDDEN)).masked_fill(missing[at], ord(MISSING))
    return {
        "what": ", ".join(x for x in (hidden_by(request) or "no mask", _which(request, at, len(wrong))) if x),
        "rows": [f"{'query' if 'query' in request.inputs else 'out'} {i}" for i in range(cells.shape[0])],
        "columns": _columns(request),
        "cells": ["".join(chr(c) for c in row) for row in cells.tolist()],
    }


def _judged(request: Request, like: Tensor) -> Tensor:
    """Return the rows to judge, to be broadcast to (N, L, T): in layers, no padding tokens and no tokens without keys.

    The output of a query without keys is a declared choice.
    """
    samples, L = request.out_shape[0], like.shape[1]
    rows = torch.ones(samples, L, dtype=torch.bool)
    for name, x in request.inputs.items():
        if not COMPONENTS[request.component].attends or not name.endswith("_mask") or x.ndim != 2:
            continue
        if name in ("key_mask", "target_mask"):
            rows &= x.cpu()
        elif name != "attn_mask":
            rows &= x.any(dim=1, keepdim=True).cpu()
    return rows.repeat_interleave(len(like) // samples, dim=0)[..., None]


def _which(request: Request, at: int, slices: int) -> str:
    """Return words for a slice of the output: "sample 0 of 2, head 1"."""
    samples = request.out_shape[0]
    sample, head = divmod(at, slices // samples)
    said = [f"sample {sample} of {samples}"] if samples > 1 else []
    return ", ".join(said + ([f"head {head}"] if slices > samples else []))


def _columns(request: Request) -> list[str]:
    """Return a name for every token: "token 3", or "memory 0" where there are two sequences."""
    names = []
    for group in sequences(request):
        x = request.inputs[group[0]]
        what = {"x": "token", "query": "token", "ids": "token"}.get(group[0], group[0])
        names += [f"{what} {j}" for j in range(x.shape[_axis(x)])]
    return names


def _aligned(subject: Subject, request: Request) -> Request:
    """Return the call for the reference, with an explicit mask if the subject aligns causality differently."""
    L = request.out_shape[-2]
    S = _length(request, sequences(request))
    other = subject.choice("causal-alignment") == "bottom-right" and hasattr(request.config, "scale")
    if not other or L == S or not request.config.causal or "attn_mask" in request.inputs:
        return request
    inputs = {**request.inputs, "attn_mask": causal(L, S, S - L)}
    return replace(request, config=replace(request.config, causal=False), inputs=inputs)


# -- by perturbation


def quiet(request: Request) -> Request:
    """Return the call with queries a tenth as large and without the huge numbers that checks put into hidden tokens."""
    tokens = {name for group in sequences(request) for name in group}
    tame = {n: x.clamp(-3, 3) for n, x in request.inputs.items() if n in tokens and x.is_floating_point()}
    weights = {n: w / 10 for n, w in request.weights.items() if n.endswith(("q.weight", "q.bias"))}
    if not weights and "query" in request.inputs:
        tame["query"] = request.inputs["query"] / 10
    inputs = {**request.inputs, **_still_one(request.inputs, tame)}
    return replace(request, inputs=inputs, weights={**request.weights, **weights})


def dependences(subject: Subject, request: Request, large: bool) -> Tensor | None:
    """Return how far each output position moves with each token, (N, L, T), in units of max|out|; None if a call fails.

    N is the number of samples, times the number of heads if the output has an axis of heads.
    """
    base = answer(subject, request)
    if isinstance(base, Failure):
        return None
    columns = []
    for other in _perturbed(request, large):
        moved = answer(subject, other)
        if isinstance(moved, Failure):
            return None
        columns.append(_moved(moved, base, request))
    return torch.stack(columns, dim=-1)


def _moved(reply: Reply, base: Reply, request: Request) -> Tensor:
    """Return how far each position of the output moved, (N, L)."""
    a, b = (_apart(x.out.detach().double().cpu(), request) for x in (reply, base))
    size = float(b[b.isfinite()].abs().max()) if b.isfinite().any() else 0.0
    gap = ((a - b).abs() / (size or 1.0)).nan_to_num(nan=torch.inf)
    return gap.masked_fill((a == b) | (a.isnan() & b.isnan()), 0.0).amax(dim=-1).flatten(0, -2)


def _apart(out: Tensor, request: Request) -> Tensor:
    """Return the output with an axis of heads, if its features are still grouped by head."""
    weight = request.weights.get("out.weight")
    if out.ndim == 3 and weight is not None and idle(weight):
        return out.unflatten(-1, (request.config.num_heads, -1)).transpose(1, 2)
    return out


def _perturbed(request: Request, large: bool) -> Iterator[Request]:
    """Yield the call with one token changed, for each token in turn."""
    for group in sequences(request):
        given = {name: request.inputs[name] for name in group if name in request.inputs}
        first = given[group[0]]
        for j in range(first.shape[_axis(first)]):
            others = {name: _with_other(name, x, j, request, large) for name, x in given.items()}
            yield replace(request, inputs={**request.inputs, **_still_one(request.inputs, others)})


def _still_one(before: Mapping[str, Any], after: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the changed inputs; inputs that were one object stay one."""
    return {name: after[next(n for n in after if before[n] is before[name])] for name in after}


def _with_other(name: str, x: Tensor, j: int, request: Request, large: bool) -> Tensor:
    """Return a sequence with token j changed."""
    other = x.clone()
    if not x.is_floating_point():
        words = getattr(request.config, "vocab_size", int(x.max()) + 2)
        other[..., j] = 1 + x[..., j] % max(words - 1, 1)
        return other
    change = draw(f"leaks {name}", *x[..., j, :].shape).to(x)
    other[..., j, :] += LARGE.get(name, 1e4) * change.sign() if large else change
    return other
