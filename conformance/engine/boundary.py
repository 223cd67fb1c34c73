"""The only way into foreign code: ``call(implementation, request) -> reply``.

A Failure raised here is the implementation's fault, Unsupported is an adapter's NotImplementedError, and any other
exception is the suite's own fault. Requests and replies are data, so that another transport can carry them.
"""

import contextlib
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from attnconf.adapters.contract import COMPONENTS, Forward
from attnconf.conformance.engine import coverage
from attnconf.conformance.engine.counter import Counting, Counts
from attnconf.conformance.engine.evidence import Failure, Unsupported, kind_of
from attnconf.conformance.engine.foreign_errors import meant, not_implemented, place, raised, refused_keyword
from attnconf.conformance.engine.handing_over import changed, hand_over, tensors_of
from attnconf.conformance.engine.request import Implementation, Reply, Request
from attnconf.conformance.engine.returned import validated

CUT = "out carries no gradient: the graph to inputs and weights is cut"
ONLY_COUNTED = "it raises an error only while its operations are counted, as compiled code may"
_GRAD_MODES = {"no_grad": torch.no_grad, "inference_mode": torch.inference_mode}
UNSEEN = "no operation of PyTorch leads from its inputs to its output: nothing can be counted"


def call(implementation: Implementation, request: Request) -> Reply:
    """Return the implementation's reply to the request. Raises Failure or Unsupported."""
    weights = {name: hand_over(w, request, name, "contiguous") for name, w in request.weights.items()}
    inputs = {name: hand_over(x, request, name, request.layout) for name, x in request.inputs.items()}
    before = [
        {name: hand_over(x, request, name, "contiguous") for name, x in earlier.items()} for earlier in request.before
    ]
    counting = Counting(tensors_of(weights, inputs)) if request.counted else None
    default, precision = torch.get_default_dtype(), torch.get_float32_matmul_precision()
    with (
        _GRAD_MODES.get(request.mode, torch.enable_grad)(),
        warnings.catch_warnings(action="ignore"),
        _unprinted(implementation),
        coverage.looking(implementation.source),
    ):
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
        out, attention = validated(returned, request)
        if counting and not counting.saw(out):  # another library computed it, whose operations are not seen
            raise Unsupported(UNSEEN)
        forward = counting.take() if counting else None
        touched = changed((request.weights, weights), (request.inputs, inputs))
        with counting or contextlib.nullcontext():
            grads = _pull_back(out, request, {**weights, **inputs}) if request.cotangent is not None else {}
    counts = Counts(forward, counting.take() if grads else None) if counting and forward else None
    # copies: an implementation may use its buffers again, and one reply must not become another
    own = None if attention is None else attention.detach().clone()
    trained = _trained(out) if request.mode == "plain" and request.cotangent is None else 0
    return Reply(out.detach().clone(), own, grads, touched, counts, trained)


def _trained(out: Tensor) -> int:
    """Return the number of elements of the largest leaf that requires a gradient and that ``out`` comes from."""
    found, seen, left = 0, set(), [out.grad_fn]
    if out.grad_fn is None:
        return out.numel() if out.requires_grad else 0
    while left:
        node = left.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        leaf = getattr(node, "variable", None)
        found = max(found, leaf.numel() if isinstance(leaf, Tensor) else 0)
        left += [before for before, _ in node.next_functions]
    return found


@contextlib.contextmanager
def _unprinted(implementation: Implementation) -> Iterator[None]:
    """Drop the output of homework, which prints shapes at every step."""
    if not implementation.binding:
        yield
        return
    with contextlib.redirect_stdout(_Nowhere()), contextlib.redirect_stderr(_Nowhere()):
        yield


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
        not_implemented(implementation, error)
    except BaseException as error:
        raise raised(error) from error


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
        not_implemented(implementation, error)
    except KeyboardInterrupt:  # the user's, not the implementation's
        raise
    except BaseException as error:
        at_call = error.__traceback__ is not None and error.__traceback__.tb_next is None
        signature = COMPONENTS[request.component].forward
        refused = refused_keyword(error, signature)
        failure = raised(error, signature=signature if at_call or refused else "")
        failure.reason = "protocol" if refused else failure.reason
        failure.at, failure.meant = place(error, implementation.source), meant(error)
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
        raise raised(error, "backward ") from error


def slopes(pairs: Sequence[tuple[Tensor, Tensor]], wrt: Sequence[Tensor]) -> list[Tensor]:
    """Return the gradients of Σ <output, cotangent> with respect to ``wrt``; zeros for a tensor without effect.

    The sum is made a scalar here, as torch.autograd.grad imports 500 modules (0.35 s) when given cotangents.
    """
    loss = torch.stack([(output * cotangent).sum() for output, cotangent in pairs]).sum()
    grads = torch.autograd.grad(loss, list(wrt), allow_unused=True)
    return [torch.zeros_like(x) if g is None else g for x, g in zip(wrt, grads, strict=True)]
