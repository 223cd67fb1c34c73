"""Replay an implementation's calls on mutants, and compare the replies."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

import torch
from torch import Tensor

from attnconf.conformance.chapters.contents import meanings, named
from attnconf.conformance.diagnosis.fixed_settings import fixing
from attnconf.conformance.diagnosis.table import Table, content
from attnconf.conformance.engine.boundary import call
from attnconf.conformance.engine.evidence import Failure, Unsupported
from attnconf.conformance.engine.mutant import apply, size
from attnconf.conformance.engine.request import Implementation, Reply, Request
from attnconf.conformance.engine.translate import in_conventions
from attnconf.conformance.worker.performing import CUT

Log = Sequence[tuple[Request, Reply | Failure]]
Spoken = frozenset[tuple[str, str]]  # conventions
ROUNDING = 1e-6  # a fraction of the largest number in a reply
_ROUNDINGS = {torch.float16: 1e-2, torch.bfloat16: 4e-2, torch.float32: 1e-5}  # least rounding by dtype
LARGE = 20_000  # numbers that are handed over: calls with more take longer, which no count of functions tells
LIMIT = 130_000  # functions called: 5 to 9 s if no mutant fits, on a slow machine
FLOAT32 = 1e-3  # ROUNDING for angles of thousands of radians in float32


KNOWN = Table()


class Replies:
    """Mutants' replies for all diagnoses of one component of one implementation, and the work spent on them.

    A remembered reply counts as much work as a new one: a diagnosis must not depend on earlier ones.
    """

    def __init__(self, component: str, declares: Mapping[str, str] | None = None) -> None:
        self.spent = 0
        self._size = 10 + size(component)  # work of one call, in functions called
        self.spoken: Spoken = frozenset((declares or {}).items())
        self._replies: dict[tuple[str, Spoken, int], tuple[Request, Reply | Failure]] = {}
        self._contents: dict[int, bytes | None] = {}
        # (mutant, conventions, call, reply, rounding, words) -> (same?, reply); the reply is kept, so its id stays
        self.same: dict[tuple[str, Spoken, int, int, float, bool], tuple[bool, Reply | Failure]] = {}

    @property
    def affordable(self) -> bool:
        """Whether more replies may be asked for; the same on every machine."""
        return self.spent < LIMIT

    def reply(self, name: str, spoken: Spoken, request: Request) -> Reply | Failure:
        """Return the reply of a mutant.

        ``name``: "ATT-unscaled"; several mutants "A+B"; a fixed setting "eps=1e-06"; "" for the reference.
        """
        key = (name, spoken, id(request))  # the request is kept, so its id stays its own
        if key not in self._replies:
            times = 1 if request.cotangent is None else 2
            self.spent += self._size * times * (1 + cost(request) // LARGE)
            self._replies[key] = (request, self._known(name, spoken, request))
        return self._replies[key][1]

    def _known(self, name: str, spoken: Spoken, request: Request) -> Reply | Failure:
        if id(request) not in self._contents:
            self._contents[id(request)] = content(request)
        digest = self._contents[id(request)]
        if digest is None:
            return _reply(name, spoken, request)
        return KNOWN.reply((name, spoken, digest), lambda: _reply(name, spoken, request))


@dataclass(frozen=True)
class Comparison:
    """Compares an implementation's replies with a mutant's, in the same conventions; "" is the reference."""

    spoken: Spoken
    rounding: float
    replies: Replies
    words: bool = True  # exceptions must have the same words

    def same(self, name: str, request: Request, reply: Reply | Failure) -> bool:
        """Return whether the mutant gives this reply to the request; computed once for each reply."""
        key = (name, self.spoken, id(request), id(reply), self.rounding, self.words)
        if key not in self.replies.same:
            self.replies.same[key] = self._same(name, request, reply), reply
        return self.replies.same[key][0]

    def _same(self, name: str, request: Request, reply: Reply | Failure) -> bool:
        wanted = self.replies.reply(name, self.spoken, request)
        if not self.words and isinstance(reply, Failure) and isinstance(wanted, Failure):
            return reply.reason == wanted.reason == "raised"
        return alike(_meant(reply, request), _meant(wanted, request), _rounding(name, self.rounding))

    def raises_alike(self, name: str, request: Request, reply: Reply | Failure) -> bool:
        """Return whether the mutant raises if and only if the reply is a failure."""
        return isinstance(reply, Failure) == isinstance(self.replies.reply(name, self.spoken, request), Failure)

    def silent(self, name: str, request: Request) -> bool:
        """Return whether the mutant's reply to a request is the reference's."""
        return self.same(name, request, self.replies.reply("", self.spoken, request))

    def is_the_textbook(self, name: str, request: Request) -> bool:
        """Return whether the mutant changes nothing of the reply to a request, however coarsely it is compared."""
        one, other = (self.replies.reply(each, self.spoken, request) for each in (name, ""))
        if isinstance(one, Failure) or isinstance(other, Failure):
            return False
        return one.out.dtype == other.out.dtype and alike(one, other, self.rounding)

    def fits(self, name: str, log: Log) -> bool:
        """Return whether the mutant gives all replies."""
        return all(self.same(name, request, reply) for request, reply in log)

    def agrees(self, name: str, log: Log) -> bool:
        """Return whether the mutant gives all replies of a passed check; an exception matches any other."""
        return all(
            isinstance(self.replies.reply(name, self.spoken, request), Failure)
            if isinstance(reply, Failure)
            else self.same(name, request, reply)
            for request, reply in log
        )

    def telling(self, log: Log) -> Log:
        """Return the calls whose reply is not the reference's, the cheapest first."""
        other = [(request, reply) for request, reply in log if not self.same("", request, reply)]
        return sorted(other, key=lambda call: cost(call[0]))


def _meant(reply: Reply | Failure, request: Request) -> Reply | Failure:
    """Return what of a reply has a meaning, where it has the shape that was asked for."""
    meant = meanings().get(request.component)
    if meant is None or isinstance(reply, Failure) or tuple(reply.out.shape) != request.out_shape:
        return reply
    return meant(reply, request)


def _words(failure: Failure) -> str:
    """Return the message, with "#" for the numbers of an exception's text: sizes and axes depend on the layout."""
    return re.sub(r"\d+", "#", failure.message) if failure.reason == "raised" else failure.message


def _rounding(name: str, least: float) -> float:
    """Return how far replies may be from the named mutants': more where one is coarse, less where one is fine."""
    mutants = [] if "=" in name or not name else [named(one) for one in name.split("+")]
    fine = min((m.fine for m in mutants if m.fine), default=least)
    return max(min(fine, least), *(m.rounding for m in mutants), 0.0)


def cost(request: Request) -> int:
    """Return about how long a call takes, in numbers handed over; three times as many with gradients."""
    tensors = (*request.inputs.values(), *request.weights.values())
    size = sum(x.numel() for x in tensors if isinstance(x, Tensor))
    return size * (1 + len(request.before)) * (1 if request.cotangent is None else 3)


def _mutated(name: str, spoken: Spoken) -> Implementation:
    if "=" in name:
        return in_conventions(fixing(apply([]), name), dict(spoken))
    names = name.split("+") if name else []
    return in_conventions(apply([named(one) for one in names]), dict(spoken))


_single = cache(_mutated)
_several = lru_cache(maxsize=8)(_mutated)  # thousands are tried, each of 0.2 MB


def _reply(name: str, spoken: Spoken, request: Request) -> Reply | Failure:
    try:
        return call((_several if "+" in name else _single)(name, spoken), request)
    except Failure as failure:
        return failure.alone()
    except Unsupported as words:
        return Failure("unsupported", str(words))


def has_numbers(reply: Reply | Failure) -> bool:
    """Return whether a reply holds anything that is finite: NaN alone is the same whatever made it."""
    return not isinstance(reply, Failure) and bool(reply.out.isfinite().any())


def alike(one: Reply | Failure, other: Reply | Failure, rounding: float = ROUNDING) -> bool:
    """Return whether two replies are the same up to rounding, or both failed in the same words.

    A reply whose gradients are all 0 is the same as the failure "the graph is cut".
    """
    if isinstance(one, Failure) or isinstance(other, Failure):
        if _flat(one) and _flat(other):
            return True
        return isinstance(one, Failure) and isinstance(other, Failure) and _words(one) == _words(other)
    if set(one.grads) != set(other.grads) or (one.weights is None) != (other.weights is None):
        return False
    pairs = [(one.out, other.out)]
    if one.weights is not None and other.weights is not None:
        pairs.append((one.weights, other.weights))
    steepest = max((_largest(grad) for grad in other.grads.values()), default=0.0)
    return (
        one.changed == other.changed
        and all(_equal(a, b, rounding) for a, b in pairs)
        and all(_equal(grad, other.grads[name], rounding, steepest) for name, grad in one.grads.items())
    )


def _flat(reply: Reply | Failure) -> bool:
    """Return whether all gradients are 0, or the graph is cut."""
    if isinstance(reply, Failure):
        return reply.message == CUT
    return bool(reply.grads) and not any(bool(grad.any()) for grad in reply.grads.values())


def _largest(x: Tensor) -> float:
    return float(x.detach().double().abs().nan_to_num(posinf=0.0).max()) if x.numel() else 0.0


def _equal(a: Tensor, b: Tensor, rounding: float, beside: float = 0.0) -> bool:
    """Return whether two tensors are equal up to rounding; ``beside``: the largest number in the reply's gradients."""
    if a.shape != b.shape or (a.dtype != b.dtype and rounding < FLOAT32):  # a float32 table counts
        return False
    rounding = max(rounding, _ROUNDINGS.get(a.dtype, 0.0))
    noise = 100 * torch.finfo(a.dtype).eps * beside if a.is_floating_point() else 0.0  # a key bias has slope 0
    a, b = a.detach().double(), b.detach().double()
    if not a.numel():
        return True
    gap = (a - b).abs().nan_to_num(nan=0.0, posinf=0.0)
    same_specials = torch.equal(a.isnan(), b.isnan()) and torch.equal(a.isinf(), b.isinf())
    return same_specials and bool(gap.max() <= max(rounding * _largest(b), noise))
