"""Careful calls of foreign code outside a judged run: what it raises becomes Failed, what it prints is dropped."""

import contextlib
import io
import time
import traceback
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import is_dataclass
from typing import Any, TypeVar

import torch
from torch import Tensor, nn
from torch.func import functional_call

from attnconf.conformance.engine.case import draw
from attnconf.conformance.inference.trials.budgets import A_CALL, A_PART, A_SLOW_CALL, GUARD
from attnconf.conformance.inference.trials.calling import Form
from attnconf.conformance.source import reader
from attnconf.conformance.source.exception_words import named

T = TypeVar("T")


def at(error: BaseException) -> str:
    """Return the last line of the user's own file that an exception came through, as " (homework.py:12)"."""
    lines = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    own = [reader.where(*line) for line in lines if reader.was_read(line[0])]
    return f" ({own[-1]})" if own else ""


class Failed(Exception):
    """Foreign code raised; the message says what, in one line."""


class Search:
    """What trying one class may cost: whatever is in a file, its inference ends.

    Counted in calls, so that the same is tried on every machine; code that takes seconds for a call meets the guard,
    which is far off for all other.
    """

    def __init__(self) -> None:
        self.left, self.until = float("inf"), float("inf")

    @contextlib.contextmanager
    def limited(self, calls: float) -> Iterator[None]:
        """Let calls of foreign code, and of the textbook, that cost so much be made, and no more."""
        before, until = self.left, self.until
        self.left, self.until = (given := min(calls, before)), min(time.process_time() + GUARD, until)
        try:
            yield
        finally:
            spent = given - self.left
            self.left, self.until = before - spent, until + spent * A_SLOW_CALL

    def sharing(self, part: float) -> "contextlib.AbstractContextManager[None]":
        """Let a part of what is left be spent, so that something stays for what comes then."""
        return contextlib.nullcontext() if self.left == float("inf") else self.limited(int(self.left * part))

    @contextlib.contextmanager
    def free(self) -> Iterator[None]:
        """Let calls of the textbook be made that are kept for the next file: what a file costs is its own."""
        before = self.left, self.until
        self.left = self.until = float("inf")
        try:
            yield
        finally:
            self.left, self.until = before

    def spend(self, calls: int) -> None:
        """Raise Failed where nothing is left."""
        self.left -= calls
        self.until += calls * A_SLOW_CALL
        if self.left < 0 or time.process_time() > self.until:
            raise Failed("too much would have to be tried: the search was given up")


search = Search()


def attempt(what: Callable[[], T]) -> T:
    """Return what a call of foreign code returns: in float64, or as it is where it asks for float32. Raises Failed."""
    try:
        return _attempt(what, torch.float64)
    except Failed as failed:
        words = str(failed).lower()
        if not ("double" in words and "float" in words):
            raise
        try:
            return _attempt(what, torch.float32)
        except Failed:
            raise failed from None


def _attempt(what: Callable[[], T], dtype: torch.dtype) -> T:
    search.spend(A_CALL)
    default, fast = torch.get_default_dtype(), torch.backends.mha.get_fastpath_enabled()
    torch.set_default_dtype(dtype)
    torch.backends.mha.set_fastpath_enabled(False)  # it hides what a layer is made of
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()), \
                warnings.catch_warnings(action="ignore"):  # fmt: skip
            return what()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise Failed(f"{named(error)}{at(error)}") from None
    finally:
        torch.set_default_dtype(default)
        torch.backends.mha.set_fastpath_enabled(fast)


def numbers(module: nn.Module) -> dict[str, Tensor]:
    """Return random parameters for a module, of unit size in what they do."""
    found = {}
    for name, p in module.named_parameters():
        size = max(p.shape[-1], 1) ** -0.5 if p.ndim > 1 else 0.5  # a width may have been rounded down to 0
        found[name] = draw(f"inference/parameter {name}", *p.shape) * size
    return found


def call_module(
    module: nn.Module, form: Form, what: Callable[[Any], Any], parameters: Mapping[str, Tensor] | None
) -> Any:
    """Return what a module gives for the slots of a form; a slot that gets an object of no kind stays out."""
    values = {slot.name: what(slot) for slot in form.slots}
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for slot in form.slots:
        value = values[slot.name]
        if type(value) is object:
            continue
        if slot.positional or (slot.required and not kwargs and not slot.by_name):
            args.append(value)
        else:
            kwargs[slot.name] = value
    search.spend(A_PART * sum(type(part) is not nn.Module for part in module.modules()))  # those only hold parameters
    if parameters is None:
        return attempt(lambda: module(*args, **kwargs))
    return attempt(lambda: functional_call(module, dict(parameters), tuple(args), kwargs))


@contextlib.contextmanager
def restored(module: nn.Module) -> Iterator[None]:
    """Undo afterwards what a module keeps of its calls: attributes, buffers, what is in its lists."""
    before = [(part, {name: _kept(value) for name, value in vars(part).items()}) for part in module.modules()]
    try:
        yield
    finally:
        for part, there in before:
            vars(part).clear()
            vars(part).update(there)


def _kept(value: Any) -> Any:
    """Return a value as it is now: a copy of what a call could write to."""
    if isinstance(value, nn.Parameter | nn.Module):
        return value
    if isinstance(value, Tensor):
        return value.detach().clone()
    if type(value) in (dict, OrderedDict):
        return type(value)((name, _kept(one)) for name, one in value.items())
    return [_kept(one) for one in value] if type(value) is list else value


def found_output(result: Any, shape: tuple[int, ...]) -> str | None:
    """Return the expression of ``result`` that is the output, by its shape; None where nothing has it."""
    if isinstance(result, Tensor):
        return "result" if tuple(result.shape) == shape else None
    if isinstance(result, tuple | list):
        for i, item in enumerate(result):
            if isinstance(item, Tensor) and tuple(item.shape) == shape:
                return f"result[{i}]"
    if isinstance(result, Mapping):
        for key, item in result.items():
            if isinstance(item, Tensor) and tuple(item.shape) == shape:
                return f"result[{key!r}]"
    if is_dataclass(result):
        for name, item in vars(result).items():
            if isinstance(item, Tensor) and tuple(item.shape) == shape:
                return f"result.{name}"
    return None


def norms_in(module: nn.Module) -> list[str]:
    """Return the names of the norms among the sub-modules, but not of those within another one."""
    found: list[str] = []
    for name, part in module.named_modules():
        within = name.startswith(tuple(f"{outer}." for outer in found))
        if name and not within and "norm" in type(part).__name__.lower():
            found.append(name)
    return found


def longest(takes: Callable[[int], bool], few: int, many: int) -> int:
    """Return how many tokens something takes at most, by trial; 0 where it takes ``many``, or not even ``few``."""
    if takes(many) or not takes(few):
        return 0
    while many - few > 1:
        middle = (few + many) // 2
        few, many = (middle, many) if takes(middle) else (few, middle)
    return few
