"""The one door to foreign code: ``call(implementation, request) -> reply``.

What leaves this module as Failure is the implementation's fault, as Unsupported its adapter's word; any other
exception is the harness's own fault. Requests and replies are data, so that another transport can carry them.
"""

import contextlib
import re
import traceback
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import torch
from torch import Tensor

from attnconf.adapters.contract import FORWARD, RETURNS, Component, Forward, positional
from attnconf.conformance import blind_spots, sources, written
from attnconf.conformance.counting import Counting, Counts, Work
from attnconf.conformance.evidence import Failure, Unsupported, kind_of, same_values
from attnconf.conformance.exception_words import deed, first_line

INFERRED = "<inferred binding>"  # where the text of a binding says that it stands
GUESS = "a guess: nothing confirmed it"  # of an inferred binding that no textbook and no known mistake certifies
CUT = "out carries no gradient: the graph to inputs and weights is cut"
_DTYPES = (torch.float64, torch.float32, torch.bfloat16, torch.float16)


@dataclass(frozen=True)
class Implementation:
    """What is under test: its functions by component, and what it says of itself."""

    name: str
    components: Mapping[str, Component]
    declares: Mapping[str, Any] = field(default_factory=dict)  # conventions; under a component's name, its own
    profile: str | None = None
    source: str = ""
    version: str | None = None
    binding: str = "adapter"
    told: tuple[str, ...] = ()  # an inferred binding, in words
    established: bool = True  # an inferred binding: it is certified by the reference or by a known mistake
    written: str = ""  # the file in which an inferred binding's text stands
    inside: str = ""  # the class or function that is judged, where one is
    doubt: str = ""  # why it is not established
    mistake: str = ""  # the known mistake that certified an inferred binding

    def declared(self, component: str) -> dict[str, str]:
        """Return the conventions that hold for one component."""
        return of_component(self.declares, component)


def of_component(declares: Mapping[str, Any], component: str) -> dict[str, str]:
    """Return the conventions that hold for one component: those for all, and those under its name."""
    common = {key: value for key, value in declares.items() if not isinstance(value, Mapping)}
    return {**common, **declares.get(component, {})}


@dataclass(frozen=True)
class Request:
    """One call: build the component anew for ``config`` and ``weights``, call it on ``inputs``."""

    component: str
    config: Any
    weights: Mapping[str, Tensor]
    inputs: Mapping[str, Any]  # by the contract's names, tensors but for lengths; what is absent is not passed
    out_shape: tuple[int, ...]
    weights_shape: tuple[int, ...] | None = None  # None: weights are not asked for
    averaged_shape: tuple[int, ...] | None = None  # accepted where the adapter declares averaged weights
    mode: str = "plain"  # plain, tracked (everything requires grad), no_grad, inference_mode
    cotangent: Tensor | None = None  # with it, gradients with respect to ``wrt`` come back
    wrt: tuple[str, ...] = ()
    same: bool = False  # query, key and value are one object; without "value" in the inputs the key is the value
    layout: str = "contiguous"
    before: tuple[Mapping[str, Any], ...] = ()  # calls the same callable has seen before
    seed: int | None = None
    counted: bool = False  # count what the call makes and computes, not what building and earlier calls do


@dataclass(frozen=True)
class Reply:
    """What came back. ``changed`` names the handed-over tensors that were modified."""

    out: Tensor
    weights: Tensor | None
    grads: Mapping[str, Tensor]
    changed: tuple[str, ...]
    counts: Counts | None = None


def call(implementation: Implementation, request: Request) -> Reply:
    """Return the implementation's reply. Raises Failure or Unsupported."""
    weights = {name: hand_over(w, request, name, "contiguous") for name, w in request.weights.items()}
    inputs = {name: hand_over(x, request, name, request.layout) for name, x in request.inputs.items()}
    before = [
        {name: hand_over(x, request, name, "contiguous") for name, x in given.items()} for given in request.before
    ]
    default, precision = torch.get_default_dtype(), torch.get_float32_matmul_precision()
    counting = Counting(_handed(weights, inputs)) if request.counted else None
    printed = _Nowhere() if implementation.binding == "inferred" else None  # homework prints shapes at every step
    with (
        _grad_mode(request.mode),
        warnings.catch_warnings(action="ignore"),  # its warnings are its own affair
        _printing_to(printed),
        blind_spots.looking(implementation.source),
    ):
        try:
            returned = _enter(implementation, request, weights, inputs, before, counting)
        except Failure:
            if counting:
                _refuse_counting(implementation, request, weights, inputs, before)
            raise
        finally:
            torch.set_default_dtype(default)  # the next implementation's must not be what this one sets
            torch.set_float32_matmul_precision(precision)
        out, attention = _validate(returned, request)
        forward = _counted(counting, out)
        changed = tuple(
            name
            for given, taken in ((request.weights, weights), (request.inputs, inputs))
            for name in given
            if _modified(given[name], taken[name])
        )
        with counting or contextlib.nullcontext():
            grads = _pull_back(out, request, {**weights, **inputs}) if request.cotangent is not None else {}
    counts = Counts(forward, counting.take() if grads else None) if counting and forward else None
    # copies: an implementation may use its buffers again, and one reply must not become another
    own = None if attention is None else attention.detach().clone()
    return Reply(out.detach().clone(), own, grads, changed, counts)


def _refuse_counting(*call: Any) -> None:
    """Raise Unsupported if a call that failed while it was counted succeeds otherwise."""
    with contextlib.suppress(Failure):
        _enter(*call)
        raise Unsupported("it raises an error only while its operations are counted, as what is compiled may")


def _handed(*given: Mapping[str, Any]) -> list[Tensor]:
    return [x for group in given for x in group.values() if isinstance(x, Tensor)]


def _counted(counting: Counting | None, out: Tensor) -> Work | None:
    """Return what forward did. Raises Unsupported where another library has computed, whose work is not seen."""
    if counting is None:
        return None
    if not counting.saw(out):
        raise Unsupported(
            "no operation of PyTorch leads from what it is given to what it returns: nothing can be counted"
        )
    return counting.take()


def build(implementation: Implementation, component: str, config: Any, weights: Mapping[str, Tensor]) -> Forward:
    """Return the component's callable itself, for what calls it many times: within ``foreign``.

    Raises Failure or Unsupported.
    """
    with foreign(implementation):
        forward = implementation.components[component](config, weights)
    if not callable(forward):
        raise Failure("protocol", f"{component}(config, weights) returned {kind_of(forward)}, want a callable")
    return forward


@contextlib.contextmanager
def foreign(implementation: Implementation) -> Iterator[None]:
    """Turn what foreign code raises in here into Failure or Unsupported; its warnings are its own affair."""
    try:
        with warnings.catch_warnings(action="ignore"):
            yield
    except (Failure, Unsupported, KeyboardInterrupt):
        raise
    except NotImplementedError as error:
        _not_implemented(implementation, error)
    except BaseException as error:
        raise _raised(error) from error


def hand_over(x: Any, request: Request, name: str, layout: str) -> Any:
    """Return a copy of ``x`` for the implementation to keep, laid out in memory as asked."""
    if not isinstance(x, Tensor):
        return list(x) if isinstance(x, list) else x
    if layout == "contiguous" or x.ndim < 2:
        copy = x.clone(memory_format=torch.contiguous_format)
    elif layout == "transposed":
        copy = x.transpose(-1, -2).clone(memory_format=torch.contiguous_format).transpose(-1, -2)
    elif layout == "offset":  # every other element of a larger buffer, from the third on
        buffer = x.new_zeros((*x.shape[:-1], 2 * x.shape[-1] + 3))
        buffer[..., 3::2] = x
        copy = buffer[..., 3::2]
    elif layout == "expanded":  # one sample for all, with stride 0, where all are the same
        one = x[:1].clone().expand_as(x)
        copy = one if torch.equal(one, x) else x.clone()
    else:
        raise ValueError(f"no layout {layout!r}")
    wanted = name in request.wrt or request.mode == "tracked"
    return copy.requires_grad_() if wanted and copy.is_floating_point() else copy


def _modified(given: Any, taken: Any) -> bool:
    """Return whether what was handed over is no longer what was given."""
    if isinstance(given, Tensor):
        return not same_values(given, taken.detach())
    return isinstance(given, list) and not written.same_items(given, taken)


class _Nowhere:
    """Takes what is printed, and keeps none of it."""

    def write(self, text: str) -> int:
        return len(text)

    def flush(self) -> None:
        """Nothing was kept."""


@contextlib.contextmanager
def _printing_to(where: Any) -> Iterator[None]:
    if where is None:
        yield
        return
    with contextlib.redirect_stdout(where), contextlib.redirect_stderr(where):
        yield


def _grad_mode(mode: str) -> Any:
    if mode == "no_grad":
        return torch.no_grad()
    if mode == "inference_mode":
        return torch.inference_mode()
    return torch.enable_grad()


def _enter(
    implementation: Implementation, request: Request, weights: dict[str, Tensor], inputs: dict[str, Any],
    before: Sequence[dict[str, Any]], counting: Counting | None = None,
) -> Any:  # fmt: skip
    """Build and call. Nothing else in the suite runs foreign code."""
    ask = {"need_weights": True} if request.weights_shape else {}
    try:
        if request.seed is not None:
            torch.manual_seed(request.seed)
        forward = implementation.components[request.component](request.config, weights)
        if not callable(forward):
            raise Failure(
                "protocol", f"{request.component}(config, weights) returned {kind_of(forward)}, want a callable"
            )
        for earlier in before:
            forward(*_positional(earlier, request), **_named(earlier, request))
        with counting or contextlib.nullcontext():
            return forward(*_positional(inputs, request), **_named(inputs, request), **ask)
    except Failure:
        raise
    except NotImplementedError as error:
        _not_implemented(implementation, error)
    except KeyboardInterrupt:  # the user's, not the implementation's
        raise
    except BaseException as error:
        at_call = error.__traceback__ is not None and error.__traceback__.tb_next is None
        refused = _refused_keyword(error, FORWARD[request.component])
        failure = _raised(error, signature=FORWARD[request.component] if at_call or refused else "")
        failure.reason = "protocol" if refused else failure.reason
        failure.at = _place(error, implementation.source)
        raise failure from error


def _positional(inputs: Mapping[str, Any], request: Request) -> list[Any]:
    if request.same:
        return [inputs["query"]] * 3
    names = positional(request.component)
    if "key" in inputs and "value" not in inputs:  # one object is both
        return [inputs["key" if name == "value" else name] for name in names]
    return [inputs[name] for name in names]


def _named(inputs: Mapping[str, Any], request: Request) -> dict[str, Any]:
    return {name: x for name, x in inputs.items() if name not in positional(request.component)}


def _raised(error: BaseException, where: str = "", signature: str = "") -> Failure:
    """Return the failure for what foreign code raised; ``signature``: ours, which it refused before it ran."""
    reason = "exited" if isinstance(error, SystemExit) else "raised"
    want = f"; want forward({signature}) and NotImplementedError, in words, for what is not supported"
    return Failure(reason, f"{where}{deed(error)}{want if signature and isinstance(error, TypeError) else ''}")


def _refused_keyword(error: BaseException, signature: str) -> bool:
    """Return whether one of the contract's keywords was refused: no answer to what was asked, and no refusal of it."""
    found = re.search(r"unexpected keyword argument '(\w+)'", str(error)) if isinstance(error, TypeError) else None
    return found is not None and f"{found[1]}=" in signature


def _place(error: BaseException, source: str) -> str:
    """Return the line of the implementation's own file that an exception came through last, as "homework.py:12"."""
    frames = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    own = [(name, line) for name, line in frames if name == source or sources.was_read(name)]
    return sources.where(*own[-1]) if own else ""


def _not_implemented(implementation: Implementation, error: NotImplementedError) -> NoReturn:
    words = first_line(error)
    if not words:
        want = 'NotImplementedError("what is not supported, in words")'
        raise Failure("raised", f"raised NotImplementedError without words, want {want}") from None
    if implementation.binding == "adapter" or _by_binding(error, implementation.written):
        raise Unsupported(words) from None
    raise Failure("raised", f"raised NotImplementedError: {words}") from None


def _by_binding(error: NotImplementedError, written: str) -> bool:
    """Return whether an inferred binding itself says what it has no way to ask for."""
    frames = list(traceback.walk_tb(error.__traceback__))
    name = frames[-1][0].f_code.co_filename if frames else ""
    return name == written or Path(name).name in ("wiring.py", "arrays.py")


def _validate(returned: Any, request: Request) -> tuple[Tensor, Tensor | None]:
    """Return (out, weights or None), or raise Failure naming what was expected."""
    if request.component in RETURNS:
        return _written(returned, RETURNS[request.component]), None
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
            asks = "need_weights" in FORWARD[request.component] and not request.weights_shape
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
    """Return ids, text or merges as numbers. What they consist of is foreign, and may raise when it is read."""
    try:
        return written.numbers(returned, kind)
    except (Failure, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise _raised(error, f"reading its {kind} ") from error


def _device(request: Request) -> torch.device:
    """Return where the output must be: with the tensors that were handed over, else where the configuration says."""
    handed = _handed(request.inputs, request.weights)
    return handed[0].device if handed else torch.empty(0, device=request.config.device).device


def _pull_back(out: Tensor, request: Request, handed: dict[str, Tensor]) -> dict[str, Tensor]:
    assert request.cotangent is not None
    wrt = [handed[name] for name in request.wrt]
    if not out.requires_grad:
        raise Failure("property", CUT)
    try:
        return dict(zip(request.wrt, slopes([(out, request.cotangent.to(out.dtype))], wrt), strict=True))
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise _raised(error, "backward ") from error


def slopes(pairs: Sequence[tuple[Tensor, Tensor]], wrt: Sequence[Tensor]) -> list[Tensor]:
    """Return the gradients of Σ <output, cotangent> with respect to ``wrt``; zeros where it does not depend on one.

    Of a scalar, because torch.autograd.grad imports 500 modules (0.35 s) when it is first given cotangents.
    """
    loss = torch.stack([(output * cotangent).sum() for output, cotangent in pairs]).sum()
    grads = torch.autograd.grad(loss, list(wrt), allow_unused=True)
    return [torch.zeros_like(x) if g is None else g for x, g in zip(wrt, grads, strict=True)]
