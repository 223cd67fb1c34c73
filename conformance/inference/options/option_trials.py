"""What an argument does that a binding leaves out: handed what its name promises to take, and compared."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from attnconf.adapters.contract import COMPONENTS
from attnconf.conformance.diagnosis.broken_argument import IDLE
from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.engine.request import Reply, Request
from attnconf.conformance.engine.translate import in_conventions
from attnconf.conformance.inference.masks.masks_over_queries import HIDES_NO_KEY, hides_no_key
from attnconf.conformance.inference.state.caches import cache
from attnconf.conformance.inference.trials.trial import drawn, reply, same, textbook, why
from attnconf.conformance.inference.trials.tried import Tried
from attnconf.conformance.inference.words.vocabulary import INPUTS, meanings
from attnconf.conformance.source.signatures import parameters_of

STALE = f"{IDLE} after a call without it: what that call made is kept"
DOES = ("raises", IDLE, "exchanges", "does not")  # what is broken, and not only unknown
UNKNOWN = "does something that is not understood"
AS_ZEROS = "hides padding as it should, and gives zeros where it is"
TILE = 3  # rows at once
AHEAD = 3  # tokens before the first


def _raises(failure: Failure) -> str:
    """Return words on a failure in the user's code; one in the call that is ours says nothing of the argument."""
    if not failure.at:
        return UNKNOWN
    words, _, at = why(failure).partition("; want forward(")  # the call was the user's own
    return f"raises {words}" + (f" ({failure.at})" if at and failure.at else "")


def _all_fail(replies: list[Reply | Failure]) -> Failure | None:
    """Return the first failure where nothing else came back; None where something did, or trying was given up."""
    failures = [r for r in replies if isinstance(r, Failure)]
    alone = failures and len(failures) == len(replies) and not any(f.reason == "given up" for f in failures)
    return failures[0] if alone else None


def mask(tried: Tried) -> str:
    """Return what is wrong with an argument for a mask that takes no form of one."""
    if not tried.tensors or isinstance(tried.argument.default, bool | int | float | str):
        return ""
    if _gives_zeros(tried):
        return AS_ZEROS
    masks = list(_masks(tried.asked))
    replies = [tried.given(value)[0] for value in masks]
    if (failure := _all_fail(replies)) is not None:
        return _raises(failure)
    ran = [r for r in replies if isinstance(r, Reply)]
    whole = [r for value, r in zip(masks, replies, strict=True) if value.ndim > 1 and value.isfinite().all()]
    of_numbers = [r for r in whole if isinstance(r, Reply)]  # what is infinite may spoil what hides nothing
    if ran and all(map(tried.same, of_numbers or ran)):
        return IDLE
    return "" if not ran else HIDES_NO_KEY if hides_no_key(tried) else UNKNOWN


def _gives_zeros(tried: Tried) -> bool:
    """Return whether some form of padding gives the textbook's output where there are tokens, and zeros elsewhere."""
    x, asked = tried.asked.inputs.get("query"), tried.asked
    if not isinstance(x, Tensor) or len(asked.inputs) > 1 or "key_mask" not in COMPONENTS[asked.component].forward:
        return False
    length = x.shape[-2]
    lengths = length - torch.arange(len(x)) % (length - 1)
    tokens = torch.arange(length) < lengths[:, None]
    declares = {c: choice for c, choice in tried.bound.draft.declares.items() if not c.startswith("mask")}
    want = reply(in_conventions(textbook(), declares), asked.with_inputs(key_mask=tokens))
    if isinstance(want, Failure):
        return False
    want = replace(want, out=want.out * tokens[..., None], weights=None)
    forms = (lengths, tokens, ~tokens, tokens.long(), (~tokens).long(), tokens.to(x.dtype), (~tokens).to(x.dtype))
    given = (tried.given(form)[0] for form in forms)
    return any(isinstance(one, Reply) and same(replace(one, weights=None), want) for one in given)


def _masks(asked: Request) -> Iterator[Tensor]:
    """Yield masks in all shapes and dtypes that are in use, the widest first."""
    inputs = [x for x in asked.inputs.values() if isinstance(x, Tensor)]
    B, heads = inputs[0].shape[0], getattr(asked.config, "num_heads", inputs[0].shape[1])
    lengths = [x.shape[-2] if x.is_floating_point() else x.shape[-1] for x in inputs]
    for L, S in {(lengths[0], n): None for n in lengths}:
        one = torch.ones(L, S, dtype=torch.bool).tril() | (torch.arange(S) < 2)
        keys = one[torch.arange(B) % L]
        every = one.expand(B, heads, L, S)
        shaped = (every[:, :1], every[:, 0], one, keys, keys[:, None, None], keys[:, None], every, every.flatten(0, 1))
        for seen in shaped:
            yield from (seen, seen.double(), torch.zeros(seen.shape).masked_fill(~seen, float("-inf")).double())
        yield keys.sum(-1)


def want_weights(tried: Tried) -> str:
    """Return what is wrong with an argument that asks for weights."""
    given, seen = tried.given(True)
    if isinstance(given, Failure) and given.reason == "raised":
        return _raises(given)
    return "" if isinstance(seen.returned, tuple | list | dict) else IDLE


def memory(tried: Tried) -> str:
    """Return what is wrong with an argument for another sequence to attend to."""
    x = next(iter(tried.asked.inputs.values()))
    if x.ndim != 3:
        return ""
    other = drawn("another sequence", x.shape[0], x.shape[1] + 2, x.shape[2])
    given, seen = tried.given(other)
    out = seen.returned[0] if isinstance(seen.returned, tuple | list) else seen.returned
    if isinstance(out, Tensor) and tuple(out.shape) == tuple(other.shape):
        return f"exchanges the two: the output has as many tokens as `{tried.argument.name}`"
    return "" if isinstance(given, Failure) else IDLE if tried.same(given) else UNKNOWN


def offset(tried: Tried) -> str:
    """Return what is wrong with the position of the first token: a part has to be what it is in the whole."""
    if isinstance(tried.base, Failure):
        return ""
    later, out = {n: _behind(x) for n, x in tried.asked.inputs.items()}, _behind(tried.base.out)
    asked = tried.asked.asked(inputs=later, out_shape=tuple(out.shape))
    default = tried.argument.default
    given, seen = tried.given(AHEAD, asked)
    if isinstance(given, Failure):
        return _raises(given) if isinstance(default, int) and given.reason == "raised" else ""
    unmoved = reply(tried.bound.draft.implementation(tried.bound.place.module), asked)
    if same(given, unmoved):
        return IDLE
    if not same(given, Reply(out, None, {}, ())):
        if _of_one_alone(seen.returned, out, unmoved):
            return UNKNOWN
        return f"does not say where the first token is: it is not at position {AHEAD} where this is {AHEAD}"
    after, _ = tried.given(AHEAD, asked, True)
    return STALE if isinstance(after, Reply) and not same(after, given) else ""


def _of_one_alone(returned: Any, moved: Tensor, unmoved: Reply | Failure) -> bool:
    """Return whether one of two results moved and the other stayed: queries behind keys that are in a cache, too."""
    if isinstance(unmoved, Failure) or not isinstance(returned, tuple | list) or len(returned) != 2:
        return False
    if not all(isinstance(x, Tensor) and x.numel() == moved.numel() for x in returned):
        return False
    one, other = (Reply(x.reshape(moved.shape), None, {}, ()) for x in returned)
    went, stayed = Reply(moved, None, {}, ()), unmoved
    return (same(one, went) and same(other, stayed)) or (same(other, went) and same(one, stayed))


def _behind(x: Any) -> Any:
    return x[..., AHEAD:, :] if isinstance(x, Tensor) and x.ndim > 2 else x


def positions(tried: Tried) -> str:
    """Return what is wrong with an argument for positions."""
    x = next(iter(tried.asked.inputs.values()))
    if tried.argument.default is not None or not isinstance(x, Tensor) or not tried.tensors:
        return ""
    one = torch.arange(x.shape[-2]).flip(0) + 1
    replies = [tried.given(p)[0] for p in (one, one.expand(len(x), -1), one[:, None])]
    failure = _all_fail(replies)
    if failure is not None:
        return _raises(failure)
    return IDLE if all(map(tried.same, replies)) else UNKNOWN


def scale(tried: Tried) -> str:
    """Return what is wrong with an argument for the scale."""
    default = tried.argument.default
    if isinstance(default, bool) or not (default is None or isinstance(default, int | float)):
        return ""
    given, _ = tried.given(0.3)
    if isinstance(given, Failure):
        return _raises(given) if given.reason == "raised" else ""
    return IDLE if tried.same(given) else ""


def dropout(tried: Tried) -> str:
    """Return what is wrong with the dropout of a function, in training where it can be told so.

    It may ask for more: not to be deterministic, or a generator of random numbers.
    """
    beside = {"training": True, "deterministic": False, "generator": torch.default_generator}
    known = {p.name: (meanings(p.name, INPUTS), p) for p in parameters_of(tried.bound.place.thing)}
    told: dict[str, Any] = {name: value for name, (found, p) in known.items() for role, value in beside.items()
            if role in found and p.default is not p.empty}  # fmt: skip
    given, _ = tried.given(0.5, None, **told)
    if isinstance(given, Failure):
        return _raises(given) if given.reason == "raised" and not given.meant else ""
    return IDLE if tried.same(given) else ""


def tiles(tried: Tried) -> str:
    """Return what is wrong with how many rows are computed at once: a way to compute, which is seen without causality.

    Where other numbers come back without causality too, it may be how far one looks.
    """
    config = tried.asked.config
    if type(tried.argument.default) is not int or not hasattr(config, "causal"):
        return ""
    made = tried.bound.draft.implementation(tried.bound.place.module)
    alike = {}
    for causal in (False, True):
        asked = replace(tried.asked, config=replace(config, causal=causal))
        whole, (parts, _) = reply(made, asked), tried.given(TILE, asked)
        if isinstance(whole, Failure):
            return ""
        alike[causal] = not isinstance(parts, Failure) and same(parts, whole)
    return (
        f"does not leave causal attention as it is, where it is {TILE}" if alike == {False: True, True: False} else ""
    )


TRIALS: Mapping[str, Callable[[Tried], str]] = {
    "mask": mask, "lengths": mask, "want_weights": want_weights, "memory": memory, "offset": offset,
    "positions": positions, "scale": scale, "cache": cache, "dropout": dropout,
    "tiles": tiles,
}  # fmt: skip
