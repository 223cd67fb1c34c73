"""What becomes of each family under each backend: the cells of the page."""

import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor

from attnconf.conformance.engine.error_budget import error_budget, worst
from attnconf.conformance.engine.evidence import SEMANTIC, Failure
from attnconf.conformance.timing.accuracy import SLACK
from attnconf.reports.families import expected, models, whole
from attnconf.reports.families.families import FAMILIES, Family

REFUSES = re.compile("does not support|cannot be run on")
BACK = 4  # steps of rounding backward through attention, as in the checks of ATT-FLOAT-1


@dataclass(frozen=True)
class Cell:
    """What one comparison came to."""

    family: str
    backend: str
    what: str
    status: str  # agrees, differs, not offered, raised
    words: str = ""  # the library's, or where it differs most
    share: float | None = None  # of the error budget, or of the bound
    error: float | None = None


@dataclass
class Compared:
    """The worst of several comparisons."""

    share: float = -1.0  # nothing was compared
    error: float = 0.0
    words: str = ""

    def add(self, what: str, error: float, share: float) -> None:
        if not share <= self.share:  # NaN is the worst
            self.share, self.error, self.words = share, error, what


def budget(got: Tensor, want: Tensor, baseline: tuple[float, float], steps: int = 0) -> tuple[float, float]:
    """Return the error in float32, and which share of the budget it is; above 1 if it is over it in any way."""
    try:
        kept = error_budget(got.detach(), want, baseline, torch.float32, steps)
        return kept.error, kept.error / kept.bound
    except Failure as over:
        error, bound = float(over.details["error"]), float(over.details["bound"])
        return error, error / bound if not error <= bound else 1.0 + error / bound  # by its root mean square


def own_error(less: Tensor, want: Tensor) -> tuple[float, float]:
    """Return the errors that the reference itself makes in float32, with slack for other orders of evaluation."""
    largest, mean = worst([less.detach().double() - want])
    return SLACK[torch.float32] * largest, SLACK[torch.float32] * mean


def cells(names: tuple[str, ...] = tuple(FAMILIES)) -> Iterator[Cell]:
    """Yield the cells of these families."""
    with uncompiled():
        for name in names:
            for backend in models.BACKENDS:
                yield from _of(name, FAMILIES[name], backend)


@contextmanager
def uncompiled() -> Iterator[None]:
    """Run flex_attention as it is written, which takes no minutes, and without the warnings that it is."""
    with torch.compiler.set_stance("force_eager"), warnings.catch_warnings(action="ignore"):
        yield


def _of(name: str, family: Family, backend: str) -> Iterator[Cell]:
    whats: dict[str, Callable[[Family, str], Compared]] = {
        "attention": attention, "gradients": gradients, "float64": in_float64, "layers": layers,
    }  # fmt: skip
    if family.cache:
        whats |= {"cache": cached, "static cache": partial(cached, static=True)}
    refusal = refused(family, backend)
    for what, compare in whats.items():
        if refusal:
            yield Cell(name, backend, what, "not offered", refusal)
            continue
        yield _judged(name, family, backend, what, compare)


def refused(family: Family, backend: str) -> str:
    """Return the library's words where it does not offer a backend for a family."""
    try:
        models.build(family, backend, torch.float32)
    except ValueError as refusal:
        return str(refusal)
    return ""


def _judged(name: str, family: Family, backend: str, what: str, compare: Callable[[Family, str], Compared]) -> Cell:
    try:
        found = compare(family, backend)
        if found.share < 0:
            raise LookupError("nothing was compared")
    except Exception as raised:
        if REFUSES.search(str(raised)):
            return Cell(name, backend, what, "not offered", str(raised))
        return Cell(name, backend, what, "raised", f"{type(raised).__name__}: {raised}")
    status = "agrees" if found.share <= 1 else "differs"
    return Cell(name, backend, what, status, found.words, found.share, found.error)


# -- attention


@dataclass(frozen=True)
class Call:
    """One call of an attention, and what it is compared with."""

    seen: models.Seen
    situation: models.Situation
    real: Tensor  # (B, L), the tokens that are compared
    wanted: Callable[[dict[str, Tensor], Tensor, Tensor], Tensor]  # of parameters, tokens and memory

    @property
    def what(self) -> str:
        return f"{self.seen.path}, {self.situation.name}"

    @property
    def memory(self) -> Tensor | None:
        found: Tensor | None = self.seen.kwargs.get("key_value_states")
        return found


def calls(family: Family, backend: str, dtype: torch.dtype) -> Iterator[Call]:
    """Yield the calls of all attentions of a model, in all situations."""
    model = models.build(family, backend, dtype)
    for situation in models.SITUATIONS:
        for seen in models.trace(family, model, situation, dtype).attentions:
            yield _call(family, model.config, seen, situation)


def _call(family: Family, config: Any, seen: models.Seen, situation: models.Situation) -> Call:
    x = models.hidden(seen)
    memory = seen.kwargs.get("key_value_states")
    everything = torch.ones(x.shape[:2], dtype=torch.bool)
    real = everything if seen.path.startswith("encoder.") and "Whisper" in family.model else situation.keep
    keys = torch.ones(memory.shape[:2], dtype=torch.bool) if memory is not None else real
    looks = expected.seen(x.shape[1], keys, family.causal(seen.path))
    layer = int(next(part for part in seen.path.split(".") if part.isdigit()))

    def wanted(parameters: dict[str, Tensor], tokens: Tensor, of: Tensor) -> Tensor:
        return expected.attend(family, config, layer, parameters, tokens, of, looks)

    return Call(seen, situation, real, wanted)


def attention(family: Family, backend: str) -> Compared:
    """Compare what comes out in float32 with the page in float64."""
    found = Compared()
    for call in calls(family, backend, torch.float32):
        want, less = (_out(call, dtype)[call.real] for dtype in (torch.float64, torch.float32))
        found.add(call.what, *budget(call.seen.out[call.real], want, own_error(less, want)))
    return found


def in_float64(family: Family, backend: str) -> Compared:
    """Compare what comes out in float64 with the page, up to the semantic gap."""
    found = Compared()
    for call in calls(family, backend, torch.float64):
        want = _out(call, torch.float64)[call.real]
        error = float((call.seen.out[call.real] - want).abs().max())
        found.add(call.what, error, error / (SEMANTIC * float(want.abs().max())))
    return found


def _out(call: Call, dtype: torch.dtype) -> Tensor:
    parameters = {name: p.detach().to(dtype) for name, p in call.seen.module.named_parameters()}
    x = models.hidden(call.seen).detach().to(dtype)
    return call.wanted(parameters, x, x if call.memory is None else call.memory.detach().to(dtype)).detach()


def gradients(family: Family, backend: str) -> Compared:
    """Compare the gradients of tokens, of the memory and of all parameters in float32."""
    found = Compared()
    for call in calls(family, backend, torch.float32):
        cotangent = models.tokens("cotangent", torch.float64, *call.seen.out.shape) * call.real[..., None]
        want, less = (_slopes(call, cotangent, dtype) for dtype in (torch.float64, torch.float32))
        got = _slopes_of_the_library(call, cotangent)
        unit = max(float(grad.abs().max()) for grad in want.values())  # that of the keys' bias is 0
        for name, grad in want.items():
            allowed = own_error(less[name], grad)
            ground = torch.finfo(torch.float32).eps * unit
            error, share = budget(got[name], grad, (allowed[0] + ground, allowed[1] + ground), BACK)
            found.add(f"{name} of {call.what}", error, share)
    return found


def _slopes(call: Call, cotangent: Tensor, dtype: torch.dtype) -> dict[str, Tensor]:
    leaves = {name: leaf(p, dtype) for name, p in call.seen.module.named_parameters()}
    x = leaf(models.hidden(call.seen), dtype)
    memory = None if call.memory is None else leaf(call.memory, dtype)
    out = call.wanted(leaves, x, x if memory is None else memory)
    return _named(out, cotangent.to(dtype), leaves, x, memory)


def _slopes_of_the_library(call: Call, cotangent: Tensor) -> dict[str, Tensor]:
    x = leaf(models.hidden(call.seen), torch.float32)
    memory = None if call.memory is None else leaf(call.memory, torch.float32)
    out = models.again(call.seen, x, memory)
    return _named(out, cotangent.float(), dict(call.seen.module.named_parameters()), x, memory)


def leaf(x: Tensor, dtype: torch.dtype) -> Tensor:
    return x.detach().to(dtype, copy=True).requires_grad_()


def _named(
    out: Tensor, cotangent: Tensor, parameters: dict[str, Tensor], x: Tensor, memory: Tensor | None
) -> dict[str, Tensor]:
    leaves = {"tokens": x} | ({} if memory is None else {"memory": memory}) | parameters
    found = torch.autograd.grad(out, list(leaves.values()), cotangent, allow_unused=True, materialize_grads=True)
    return dict(zip(leaves, found, strict=True))


# -- layers


def layers(family: Family, backend: str) -> Compared:
    """Compare what each layer of a model gives, behind all that stand before it, with the eager model's."""
    found = Compared()
    model = models.build(family, backend, torch.float32)
    for situation in models.SITUATIONS:
        alone = whole.alone(family, situation)
        for number, seen in enumerate(models.trace(family, model, situation, torch.float32).layers):
            real = whole.real(seen, situation)
            want, less = (part[number] for part in alone)
            share = budget(seen.out[real], want, own_error(less, want), 2 * (number + 1))
            found.add(f"{seen.path}, {situation.name}", *share)
    return found


# -- caches


def cached(family: Family, backend: str, static: bool = False) -> Compared:
    """Compare a pass in steps, through the library's cache, with the eager whole pass."""
    found = Compared()
    model = models.build(family, backend, torch.float32)
    for situation in models.SITUATIONS[::2]:  # without padding, and with padding before
        want, less = (part[-1] for part in whole.alone(family, situation))
        got = whole.in_steps(model, situation, static)[situation.keep]
        depth = 2 * len(models.trace(family, model, situation, torch.float32).layers)
        found.add(situation.name, *budget(got, want, own_error(less, want), depth))
    return found
