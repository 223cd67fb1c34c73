"""What a process with foreign code answers, believed only where it has the form that was asked for."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields
from itertools import islice
from typing import Any

import torch
from torch import Tensor

from attnconf.adapters.contract import COMPONENTS
from attnconf.conformance.engine import binding_text, text_codec
from attnconf.conformance.engine.request import INFERRED, Binding, Implementation, Unjudgeable
from attnconf.conformance.worker.counter import Counts, PassCost
from attnconf.conformance.worker.order import Made, Order
from attnconf.conformance.worker.refused import UNSUPPORTED, Refused
from attnconf.conformance.worker.returned import DTYPES
from attnconf.conformance.worker.survey import Offer, Survey, wrong_declaration
from attnconf.conformance.worker.watching import STEPS, Recorded
from attnconf.conformance.worker.wire import APART, Malformed
from attnconf.conformance.worker.written import MOST
from attnconf.spec import profiles

REASONS = ("protocol", "dtype", "shape", "property", "raised", "exited", "out-of-memory", UNSUPPORTED)
TEXT = 2**26  # bytes of ids, text or merges, at most
SEEN = 2**26  # bytes of the steps of a call, at most
FEWER = "another number of tensors than it says"
Answer = Mapping[str, Any]


def size_of(order: Order) -> int:
    """Return how many bytes the tensors of an answer to an order have, at most."""
    if COMPONENTS[order.component].returns != "tensor":
        return TEXT
    given = {**order.weights, **order.inputs}
    shapes = [order.out_shape, order.weights_shape or (), order.averaged_shape or ()]
    shapes += [tuple(given[name].shape) for name in order.wrt] if order.cotangent is not None else []
    return sum(math.prod(shape) * torch.float64.itemsize + APART for shape in shapes) + order.watched * SEEN


def made_of(answer: Answer, tensors: Sequence[Tensor], order: Order) -> Made:
    """Return what came of an order. Raises Refused where the answer says so, and Malformed where it is none."""
    if "refused" in answer:
        raise _refused(answer["refused"], tensors, order.watched)
    kinds = {"weights": bool, "grads": list, "changed": list, "counts": dict | None, "trained": int, "seen": dict}
    told = _entries(answer.get("made"), **kinds)
    grads = list(order.wrt) if order.cotangent is not None else []
    if told["grads"] != grads or told["weights"] != bool(order.weights_shape):
        _demand(False, "gradients or weights that were not asked for")
    own = 1 + told["weights"] + len(grads)
    seen, tensors = _seen(told["seen"], tensors[own:], order.watched), tensors[:own]
    _demand(len(tensors) == own, FEWER)
    given = {**order.weights, **order.inputs}
    device = next((x.device for x in (*order.inputs.values(), *order.weights.values()) if isinstance(x, Tensor)), None)
    device = device or torch.device(getattr(order.config, "device", "cpu"))
    moved = [x.to(device) for x in tensors]
    out, weights = _out(moved[0], order), moved[1] if told["weights"] else None
    if weights is not None:
        _demand(tuple(weights.shape) in (order.weights_shape, order.averaged_shape), "weights of another shape")
        _demand(weights.dtype in DTYPES, "weights that are no floats")
    pulled = dict(zip(grads, moved[len(moved) - len(grads) :], strict=True))
    for name, grad in pulled.items():
        _demand(grad.shape == given[name].shape and grad.dtype in DTYPES, "a gradient of another shape or dtype")
    _demand(all(name in given for name in told["changed"]), "changes to what was not handed over")
    _demand((told["counts"] is None) or order.counted, "counts that were not asked for")
    counts = None if told["counts"] is None else _counts(told["counts"])
    _demand(not order.counted or counts is not None, "no counts")
    return Made(out, weights, pulled, tuple(told["changed"]), counts, _number(told["trained"]), seen)


def _seen(told: Any, tensors: Sequence[Tensor], watched: bool) -> Recorded:
    """Return the tensors of a call's steps by name."""
    _demand(isinstance(told, dict) and told.keys() <= (set(STEPS) if watched else set()), "steps not asked for")
    _demand(sum(map(_number, told.values())) == len(tensors), FEWER)
    _demand(all(x.is_floating_point() for x in tensors), "steps that are no floats")
    left = iter(tensors)
    return {name: list(islice(left, number)) for name, number in told.items()}


def _demand(right: bool, what: str) -> None:
    if not right:
        raise Malformed(f"its reply has {what}")


def _entries(told: Any, **kinds: Any) -> dict[str, Any]:
    _demand(isinstance(told, dict) and told.keys() == kinds.keys(), "not the entries that a reply has")
    for name, kind in kinds.items():
        _demand(isinstance(told[name], kind), f"an entry {name} of another kind")
    found: dict[str, Any] = told
    return found


def _out(out: Tensor, order: Order) -> Tensor:
    kind = COMPONENTS[order.component].returns
    if kind == "tensor":
        _demand(out.dtype in DTYPES and tuple(out.shape) == order.out_shape, "an output of another shape or dtype")
        return out
    _demand(out.dtype == torch.float64 and out.ndim == 1, f"{kind} that are no list of numbers")
    _demand(bool(((out == out.trunc()) & (out.abs() < MOST)).all()), f"{kind} that are no whole numbers")
    try:
        {"ids": text_codec.ids, "text": text_codec.text, "merges": text_codec.merges}[kind](out)
    except (ValueError, IndexError, OverflowError):
        raise Malformed(f"its reply has {kind} that cannot be read") from None
    return out


def _number(n: Any) -> int:
    _demand(type(n) is int and 0 <= n < MOST, "a count that is none")
    return int(n)


def _counts(told: Any) -> Counts:
    passes = _entries(told, forward=dict, backward=dict | None)
    return Counts(_cost(passes["forward"]), None if passes["backward"] is None else _cost(passes["backward"]))


def _cost(told: Any) -> PassCost:
    cost = _entries(told, peak_bytes=int, flops=int, operations=dict)
    operations = {words(name): _number(n) for name, n in cost["operations"].items()}
    return PassCost(_number(cost["peak_bytes"]), _number(cost["flops"]), operations)


def _refused(told: Any, tensors: Sequence[Tensor], watched: bool) -> Refused:
    said = _entries(told, reason=str, message=str, argument=str, at=str, meant=bool, seen=dict)
    _demand(said["reason"] in REASONS, "a reason that is none")
    refused = Refused(said["reason"], words(said["message"]), words(said["argument"]))
    refused.at, refused.meant = words(said["at"]), said["meant"]
    refused.seen = _seen(said["seen"], tensors, watched)
    return refused


def words(x: Any) -> str:
    """Return words of another process, without characters that command a terminal. Raises Malformed."""
    _demand(isinstance(x, str), "words that are none")
    return "".join(c if c.isprintable() or c in "\n\t" else "\ufffd" for c in x)


# -- what a module offers


def survey_of(answer: Answer) -> Survey:
    """Return what a module offers. Raises Malformed."""
    told = _entries(answer.get("survey"), path=str, adapter=bool, callables=list, own=dict, variants=dict | None)
    variants = told["variants"]
    return Survey(
        words(told["path"]), told["adapter"], tuple(map(words, told["callables"])), _offer(told["own"]),
        None if variants is None else {words(name): _offer(one) for name, one in variants.items()},
    )  # fmt: skip


def found_in(told: Any, typed: str, source: str) -> Implementation | Unjudgeable:
    """Return what was found in a file without an adapter: words on how it is called, by a process that ran it.

    typed   the name that the user gave it: it passes for no other
    source  its file, whatever the words say
    """
    if isinstance(told, dict) and "reason" in told:
        why = _entries(told, name=str, reason=str, tried=list, lacking=bool)
        tried = tuple(map(words, why["tried"]))
        return Unjudgeable(_own_name(why["name"], typed), source, words(why["reason"]), why["lacking"], tried)
    said = _entries(told, name=str, components=list, declares=dict, profile=str | None, version=str | None,
                    notes=list, binding=dict)  # fmt: skip
    components = said["components"]
    _demand(components and all(isinstance(one, str) and one in COMPONENTS for one in components), "no components")
    _demand(said["profile"] is None or said["profile"] in profiles.names(), "a profile that there is not")
    _demand(wrong_declaration(said["declares"]) is None, "a choice that there is not")
    version = said["version"] and words(said["version"])
    return Implementation(
        _own_name(said["name"], typed), dict.fromkeys(components, _elsewhere), said["declares"], said["profile"],
        source, version, tuple(map(words, said["notes"])), _binding(said["binding"], source),
    )  # fmt: skip


def _own_name(name: str, typed: str) -> str:
    behind = f"{typed}." if ":" in typed else f"{typed}:"  # a method of a class, or what is in a file
    _demand(name == typed or name.startswith(behind), "the name of something else")
    return words(name)


def _binding(told: Any, source: str) -> Binding:
    """Return a binding of a file: each of its entries is words, a list of words, or a yes or no."""
    kinds = {f.name: type(f.default) for f in fields(Binding)}
    said = _entries(told, **{name: list if kind is tuple else kind for name, kind in kinds.items()})
    found = Binding(**{name: _value(x) for name, x in said.items()})
    _demand(found.file == INFERRED, "a binding that stands elsewhere")
    binding_text.demand(found.text, source)
    return found


def _value(x: Any) -> Any:
    if isinstance(x, bool):
        return x
    return tuple(map(words, x)) if isinstance(x, list) else words(x)


def _elsewhere(config: Any, weights: Any) -> Any:
    """Stand for a function of an implementation that runs in another process."""
    raise AssertionError("its code is not in this process")


def _offer(told: Any) -> Offer:
    kinds = {"components": list, "problem": str | None, "declares": dict, "profile": str | None}
    said = _entries(told, **kinds, version=str | None, inferred=bool, established=bool)
    _demand(all(one in COMPONENTS for one in said["components"]), "components that are none")
    problem = said["problem"] or wrong_declaration(said["declares"])
    text = {name: said[name] if said[name] is None else words(said[name]) for name in ("profile", "version")}
    return Offer(
        tuple(said["components"]), problem and words(problem), said["declares"], text["profile"], text["version"],
        said["inferred"], said["established"],
    )  # fmt: skip
