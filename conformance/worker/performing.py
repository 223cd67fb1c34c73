"""An ordered call, made: ``perform(held, order) -> made``. Nothing else in the suite runs foreign code."""

import contextlib
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from attnconf.adapters.contract import COMPONENTS, Forward
from attnconf.conformance.worker import device
from attnconf.conformance.worker.counter import Counting, Counts
from attnconf.conformance.worker.foreign_errors import meant, not_implemented, place, raised, refused_keyword
from attnconf.conformance.worker.handing_over import changed, hand_over, tensors_of
from attnconf.conformance.worker.order import Held, Made, Order
from attnconf.conformance.worker.refused import UNSUPPORTED, Refused, kind_of
from attnconf.conformance.worker.returned import validated
from attnconf.conformance.worker.slopes import slopes
from attnconf.conformance.worker.steps import as_one_call
from attnconf.conformance.worker.watching import Watching

CUT = "out carries no gradient: the graph to inputs and weights is cut"
ONLY_COUNTED = "it raises an error only while its operations are counted, as compiled code may"
UNSEEN = "no operation of PyTorch leads from its inputs to its output: nothing can be counted"
_GRAD_MODES = {"no_grad": torch.no_grad, "inference_mode": torch.inference_mode}


def perform(held: Held, order: Order) -> Made:
    """Return what an implementation makes of an order. Raises Refused."""
    if not order.watched:
        return _perform(held, order)
    with Watching() as watching:
        try:
            return replace(_perform(held, order), seen=watching.recorded)
        except Refused as refused:
            refused.seen = watching.recorded
            raise


def _perform(held: Held, order: Order) -> Made:
    weights = {name: hand_over(w, order, name, "contiguous") for name, w in order.weights.items()}
    inputs = {name: hand_over(x, order, name, order.layout) for name, x in order.inputs.items()}
    before = [
        {name: hand_over(x, order, name, "contiguous") for name, x in earlier.items()} for earlier in order.before
    ]
    counting = Counting(tensors_of(weights, inputs)) if order.counted else None
    default, precision = torch.get_default_dtype(), torch.get_float32_matmul_precision()
    with _GRAD_MODES.get(order.mode, torch.enable_grad)(), warnings.catch_warnings(action="ignore"):
        try:
            returned = _enter(held, order, weights, inputs, before, counting)
        except Refused as refused:
            if counting and refused.reason != UNSUPPORTED and _succeeds(held, order, weights, inputs, before):
                raise Refused(UNSUPPORTED, ONLY_COUNTED) from None
            raise
        finally:
            torch.set_default_dtype(default)  # one implementation must not set the next one's
            torch.set_float32_matmul_precision(precision)
        out, attention = validated(returned, order)
        if counting and not counting.saw(out):  # another library computed it, whose operations are not seen
            raise Refused(UNSUPPORTED, UNSEEN)
        forward = counting.take() if counting else None
        touched = changed((order.weights, weights), (order.inputs, inputs))
        with counting or contextlib.nullcontext():
            grads = _pull_back(out, order, {**weights, **inputs}) if order.cotangent is not None else {}
    counts = Counts(forward, counting.take() if grads else None) if counting and forward else None
    own = None if attention is None else _copied(attention)
    trained = _trained(out) if order.mode == "plain" and order.cotangent is None else 0
    return Made(_copied(out), own, {name: _copied(grad) for name, grad in grads.items()}, touched, counts, trained)


def _copied(x: Tensor) -> Tensor:
    """Return a copy: an implementation may use its buffers again. Contiguous, as one is that was sent."""
    return x.detach().clone(memory_format=torch.contiguous_format)


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


def callable_of(forward: Any, component: str) -> Forward:
    """Return what a component's function returned, if it can be called, or its steps as one call. Raises Refused."""
    if COMPONENTS[component].stateful and not callable(forward):
        return as_one_call(forward, component)
    if not callable(forward):
        raise Refused("protocol", f"{component}(config, weights) returned {kind_of(forward)}, want a callable")
    return forward


def build(held: Held, component: str, config: Any, weights: Mapping[str, Tensor]) -> Forward:
    """Return the component's callable. Raises Refused."""
    with foreign(held):
        return callable_of(held.components[component](config, weights), component)


@contextlib.contextmanager
def foreign(held: Held) -> Iterator[None]:
    """Turn exceptions of foreign code in this context into Refused, and drop its warnings."""
    try:
        with warnings.catch_warnings(action="ignore"):
            yield
    except (Refused, KeyboardInterrupt):
        raise
    except NotImplementedError as error:
        not_implemented(held, error)
    except BaseException as error:
        raise raised(error) from error


def _enter(
    held: Held, order: Order, weights: dict[str, Tensor], inputs: dict[str, Any],
    before: Sequence[dict[str, Any]], counting: Counting | None = None,
) -> Any:  # fmt: skip
    """Build and call."""
    ask = {"need_weights": True} if order.weights_shape else {}
    try:
        if order.seed is not None:
            torch.manual_seed(order.seed)
        forward = callable_of(held.components[order.component](order.config, weights), order.component)
        for earlier in before:
            args, keywords = _arguments(earlier, order)
            forward(*args, **keywords)
        args, keywords = _arguments(inputs, order)
        with counting or contextlib.nullcontext():
            returned = forward(*args, **keywords, **ask)
        device.finish(tensors_of(weights, inputs))  # what fails on a device fails in the call
        return returned
    except Refused:
        raise
    except NotImplementedError as error:
        not_implemented(held, error)
    except KeyboardInterrupt:  # the user's, not the implementation's
        raise
    except BaseException as error:
        at_call = error.__traceback__ is not None and error.__traceback__.tb_next is None
        signature = COMPONENTS[order.component].forward
        refused = refused_keyword(error, signature)
        raise _told(error, held, "protocol" if refused else "", signature if at_call or refused else "") from error


def _told(error: BaseException, held: Held, reason: str, signature: str) -> Refused:
    """Return an exception of foreign code in our words, with its line; no frame that it goes through keeps it."""
    failure = raised(error, signature=signature)
    failure.reason = reason or failure.reason
    failure.at, failure.meant = place(error, held.source), meant(error)
    return failure


def _succeeds(held: Held, order: Order, *given: Any) -> bool:
    try:
        _enter(held, order, *given)
    except Refused:
        return False
    return True


def _arguments(inputs: Mapping[str, Any], order: Order) -> tuple[list[Any], dict[str, Any]]:
    """Return the positional arguments and the keywords of a call. One object may be query, key and value."""
    names = COMPONENTS[order.component].inputs
    keywords = {name: x for name, x in inputs.items() if name not in names}
    if order.same:
        return [inputs["query"]] * 3, keywords
    if "key" in inputs and "value" not in inputs:
        return [inputs["key" if name == "value" else name] for name in names], keywords
    return [inputs[name] for name in names], keywords


def _pull_back(out: Tensor, order: Order, handed: dict[str, Tensor]) -> dict[str, Tensor]:
    assert order.cotangent is not None
    wrt = [handed[name] for name in order.wrt]
    if not out.requires_grad:
        raise Refused("property", CUT)
    try:
        pulled = slopes([(out, order.cotangent.contiguous().to(out.dtype))], wrt)
        device.finish(wrt)
        return dict(zip(order.wrt, pulled, strict=True))
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise raised(error, "backward ") from error
