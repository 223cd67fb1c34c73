"""The only way into foreign code: ``call(implementation, request) -> reply``.

A Failure raised here is the implementation's fault, Unsupported is an adapter's NotImplementedError, and any other
exception is the suite's own fault. Requests and replies are data, so that another transport can carry them.
"""

import contextlib
import re
import traceback
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import torch
from torch import Tensor

from attnconf.adapters.contract import COMPONENTS, Forward
from attnconf.conformance.engine import coverage, text_codec
from attnconf.conformance.engine.counter import Counting, Counts
from attnconf.conformance.engine.evidence import Failure, Unsupported, kind_of, same_values
from attnconf.conformance.engine.request import Implementation, Reply, Request
from attnconf.conformance.source.exception_words import deed, first_line
from attnconf.conformance.source.reader import was_read, where

CUT = "out carries no gradient: the graph to inputs and weights is cut"
ONLY_COUNTED = "it raises an error only while its operations are counted, as compiled code may"
UNSEEN = "no operation of PyTorch leads from its inputs to its output: nothing can be counted"
_DTYPES = (torch.float64, torch.float32, torch.bfloat16, torch.float16)


def call(implementation: Implementation, request: Request) -> Reply:
    """Return the implementation's reply to the request. Raises Failure or Unsupported."""
    weights = {name: hand_over(w, request, name, "contiguous") for name, w in request.weights.items()}
    inputs = {name: hand_over(x, request, name, request.layout) for name, x in request.inputs.items()}
    before = [
        {name: hand_over(x, request, name, "contiguous") for name, x in earlier.items()} for earlier in request.before
    ]
    counting = Counting(_handed(weights, inputs)) if request.counted else None
    default, precision = torch.get_default_dtype(), torch.get_float32_matmul_precision()
    with _surroundings(implementation, request.mode):
        try:
            returned = _enter(implementation, request, weights, inputs, before, counting)
        except Failure:
            if counting:
                with contextlib.suppress(Failure):
                    _enter(implementation, request, weights, inputs, before)
                    raise Unsupported(ONLY_COUNTED) from None
            raise
        finally:
            torch.set_default_dtype(default)  # one implementation must not set the next one's
            torch.set_float32_matmul_precision(precision)
        out, attention = _validate(returned, request)
        if counting and not counting.saw(out):  # another library computed it, whose operations are not seen
            raise Unsupported(UNSEEN)
        forward = counting.take() if counting else None
        changed = _changed((request.weights, weights), (request.inputs, inputs))
        with counting or contextlib.nullcontext():
            grads = _pull_back(out, request, {**weights, **inputs}) if request.cotangent is not None else {}
    counts = Counts(forward, counting.take() if grads else None) if counting and forward else None
    # copies: an implementation may use its buffers again, and one reply must not become another
    own = None if attention is None else attention.detach().clone()
    return Reply(out.detach().clone(), own, grads, changed, counts)


@contextlib.contextmanager
def _surroundings(implementation: Implementation, mode: str) -> Iterator[None]:
    """Enter the grad mode, record executed lines, and drop warnings; drop the output of homework, too."""
    grad_modes = {"no_grad": torch.no_grad, "inference_mode": torch.inference_mode}
    with contextlib.ExitStack() as stack:
        stack.enter_context(grad_modes.get(mode, torch.enable_grad)())
        stack.enter_context(warnings.catch_warnings(action="ignore"))
        if implementation.binding:  # homework prints shapes at every step
            stack.enter_context(contextlib.redirect_stdout(_Nowhere()))
            stack.enter_context(contextlib.redirect_stderr(_Nowhere()))
        stack.enter_context(coverage.looking(implementation.source))
        yield


def _handed(*groups: Mapping[str, Any]) -> list[Tensor]:
    return [x for group in groups for x in group.values() if isinstance(x, Tensor)]


def build(implementation: Implementation, component: str, config: Any, weights: Mapping[str, Tensor]) -> Forward:
    """Return the component's callable, for a caller that enters it many times, each time within ``foreign``.

    Raises Failure or Unsupported.
    """
    with foreign(implementation):
        return _callable(implementation.components[component](config, weights), component)


def _callable(forward: Any, component: str) -> Forward:
    if not callable(forward):
        raise Failure("protocol", f"{component}(config, weights) returned {kind_of(forward)}, want a callable")
    return forward


@contextlib.contextmanager
def foreign(implementation: Implementation) -> Iterator[None]:
    """Turn exceptions of foreign code in this context into Failure or Unsupported, and drop its warnings."""
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
    """Return a copy of ``x`` for the implementation to keep, in the memory layout named by ``layout``."""
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


def _changed(*groups: tuple[Mapping[str, Any], Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the names of the weights and inputs whose copies the implementation changed."""
    return tuple(
        name
        for originals, copies in groups
        for name, x in originals.items()
        if (isinstance(x, Tensor) and not same_values(x, copies[name].detach()))
        or (isinstance(x, list) and not text_codec.same_items(x, copies[name]))
    )


class _Nowhere:
    """An output stream that keeps nothing."""

    def write(self, text: str) -> int:
        return len(text)

    def flush(self) -> None:
        """Do nothing, as nothing was kept."""


def _enter(
    implementation: Implementation, request: Request, weights: dict[str, Tensor], inputs: dict[str, Any],
    before: Sequence[dict[str, Any]], counting: Counting | None = None,
) -> Any:  # fmt: skip
    """Build and call. Nothing else in the suite runs foreign code."""
    ask = {"need_weights": True} if request.weights_shape else {}
    try:
        if request.seed is not None:
            torch.manual_seed(request.seed)
        forward = _callable(implementation.components[request.component](request.config, weights), request.component)
        for earlier in before:
            args, keywords = _arguments(earlier, request)
            forward(*args, **keywords)
        args, keywords = _arguments(inputs, request)
        with counting or contextlib.nullcontext():
            return forward(*args, **keywords, **ask)
    except Failure:
        raise
    except NotImplementedError as error:
        _not_implemented(implementation, error)
    except KeyboardInterrupt:  # the user's, not the implementation's
        raise
    except BaseException as error:
        at_call = error.__traceback__ is not None and error.__traceback__.tb_next is None
        signature = COMPONENTS[request.component].forward
        refused = _refused_keyword(error, signature)
        failure = _raised(error, signature=signature if at_call or refused else "")
        failure.reason = "protocol" if refused else failure.reason
        failure.at = _place(error, implementation.source)
        raise failure from error


def _arguments(inputs: Mapping[str, Any], request: Request) -> tuple[list[Any], dict[str, Any]]:
    """Return the positional arguments and the keywords of a call. One object may be query, key and value."""
    names = COMPONENTS[request.component].inputs
    keywords = {name: x for name, x in inputs.items() if name not in names}
    if request.same:
        return [inputs["query"]] * 3, keywords
    if "key" in inputs and "value" not in inputs:
        return [inputs["key" if name == "value" else name] for name in names], keywords
    return [inputs[name] for name in names], keywords


def _raised(error: BaseException, where: str = "", signature: str = "") -> Failure:
    """Return the failure for an exception of foreign code.

    ``signature``: the contract's, if the exception says that foreign code does not take such a call.
    """
    reason = "exited" if isinstance(error, SystemExit) else "raised"
    want = f"; want forward({signature}) and NotImplementedError, in words, for what is not supported"
    return Failure(reason, f"{where}{deed(error)}{want if signature and isinstance(error, TypeError) else ''}")


def _refused_keyword(error: BaseException, signature: str) -> bool:
    """Return whether the exception says that a keyword of the contract is unknown to the callable."""
    refused = re.search(r"unexpected keyword argument '(\w+)'", str(error)) if isinstance(error, TypeError) else None
    return refused is not None and f"{refused[1]}=" in signature


def _place(error: BaseException, source: str) -> str:
    """Return the last line of the implementation's own file in the traceback, as "homework.py:12"; "" without one."""
    frames = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    own = [(name, line) for name, line in frames if name == source or was_read(name)]
    return where(*own[-1]) if own else ""


def _not_implemented(implementation: Implementation, error: NotImplementedError) -> NoReturn:
    words = first_line(error)
    if not words:
        want = 'NotImplementedError("what is not supported, in words")'
        raise Failure("raised", f"raised NotImplementedError without words, want {want}") from None
    frames = list(traceback.walk_tb(error.__traceback__))
    file = frames[-1][0].f_code.co_filename if frames else ""
    # an inferred binding itself may have no way to ask for an option
    binding = implementation.binding
    if binding is None or file == binding.file or Path(file).name in ("runtime.py", "numpy_arrays.py"):
        raise Unsupported(words) from None
    raise Failure("raised", f"raised NotImplementedError: {words}") from None


def _validate(returned: Any, request: Request) -> tuple[Tensor, Tensor | None]:
    """Return (out, weights or None) from the returned object. Raises Failure with got and want."""
    known = COMPONENTS[request.component]
    if known.returns != "tensor":
        return _written(returned, known.returns), None
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
            asks = "need_weights" in known.keywords and not request.weights_shape
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
    """Return ids, text or merges as numbers. Raises Failure also where reading the foreign object raises."""
    try:
        return text_codec.numbers(returned, kind)
    except (Failure, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise _raised(error, f"reading its {kind} ") from error


def _device(request: Request) -> torch.device:
    """Return the device wanted of the output: that of the tensors handed over, else the configuration's."""
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
    """Return the gradients of Σ <output, cotangent> with respect to ``wrt``; zeros for a tensor without effect.

    The sum is made a scalar here, as torch.autograd.grad imports 500 modules (0.35 s) when given cotangents.
    """
    loss = torch.stack([(output * cotangent).sum() for output, cotangent in pairs]).sum()
    grads = torch.autograd.grad(loss, list(wrt), allow_unused=True)
    return [torch.zeros_like(x) if g is None else g for x, g in zip(wrt, grads, strict=True)]
