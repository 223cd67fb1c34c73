"""The calls of attention that the laws of every call are judged with, through whatever lens."""

from collections.abc import Iterator

import torch
from torch import Tensor

from attnconf.conformance.chapters.attention import stimuli
from attnconf.conformance.chapters.calls.stimuli import LAYOUTS, MODES, Trial, Trials, gives_numbers, of_dtypes
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.subject import Subject


def attention(subject: Subject, case: Case) -> Iterator[Trial]:
    yield Trial(subject.attending(case.q, case.k, case.v))


def after_others(subject: Subject, case: Case) -> Iterator[Trial]:
    """Yield a call after others with as many, more and fewer tokens."""
    other = case.but(name="other")
    longer = case.but(name="longer", L=case.L + 2, S=case.S + 3)
    usual = Trial(subject.attending(case.q, case.k, case.v))
    one_more, long = (subject.attending(c.q, c.k, c.v).inputs for c in (other, longer))
    yield usual.after(one_more, what="after a call with other inputs")
    yield usual.after(long, what="after a call with longer inputs")
    yield usual.after(usual.call.inputs, usual.call.inputs, what="the third call with the same inputs")
    yield from after_masks(subject, case)
    for causal in (False, True) if subject.offers("causal") else (False,):
        # as many queries: in each corner every query has a key
        trial = Trial(subject.attending(longer.k, longer.k, longer.v, causal=causal), undefined=True)
        shorter = subject.attending(case.k, case.k, case.v, causal=causal).inputs
        yield trial.after(shorter, what="after a call with shorter inputs")


def after_masks(subject: Subject, case: Case) -> Iterator[Trial]:
    """Yield a call after calls with masks and biases, a masked call after others, and a call after all of them."""
    plain, given = Trial(subject.attending(case.q, case.k, case.v)), masks_taken(subject, case)
    for name, (one, other) in given.items():
        masked = Trial(subject.attending(case.q, case.k, case.v, **{name: one}))
        earlier = subject.attending(case.q, case.k, case.v, **{name: other}).inputs
        yield plain.after(earlier, what=f"after a call with {name}")
        yield masked.after(earlier, what=f"{name}, after a call with another one")
        yield masked.after(plain.call.inputs, what=f"{name}, after a call without")
    if given:
        every = [subject.attending(case.q, case.k, case.v, **{name: x}).inputs for name in given for x in given[name]]
        yield plain.after(*every, *reversed(every), what="after calls with all masks that it takes")


def masks_taken(subject: Subject, case: Case) -> dict[str, tuple[Tensor, Tensor]]:
    """Return two of each mask and bias that the component takes, both leaving each query a key, by name.

    Of what takes lengths alone, two that hide the last keys.
    """
    kept = torch.ones(case.B, case.S, dtype=torch.bool, device=case.device)
    padding, other, shorter = kept.clone(), kept.clone(), kept.clone()
    padding[:, -1], other[:, 1], shorter[:, -2:] = False, False, False
    shape = (case.B, case.H, case.L, case.S)

    def whole(x: Tensor) -> Tensor:
        return x[:, None, None].expand(shape).contiguous()

    pairs = {
        "key_mask": ((padding, other), (padding, shorter)),
        "attn_mask": ((whole(padding), whole(other)), (whole(padding), whole(shorter))),
        "attn_bias": ((case.draw("bias", *shape), case.draw("other bias", *shape)),),
    }
    found = {name: [pair for pair in given if takes(subject, case, name, pair)] for name, given in pairs.items()
             if subject.offers("mask")}  # fmt: skip
    return {name: given[0] for name, given in found.items() if given}


def takes(subject: Subject, case: Case, name: str, pair: tuple[Tensor, ...]) -> bool:
    """Return whether calls with these are answered: what is not supported, or fails, other requirements say."""
    return all(gives_numbers(subject, subject.attending(case.q, case.k, case.v, **{name: x})) for x in pair)


def laid_out(subject: Subject, case: Case) -> Iterator[Trial]:
    yield Trial(subject.attending(case.q, case.k, case.v), layouts=LAYOUTS)
    q, k, v = (x[:1].expand_as(x) for x in (case.q, case.k, case.v))
    yield Trial(subject.attending(q, k, v), layouts=("expanded",))


def in_modes(subject: Subject, case: Case) -> Iterator[Trial]:
    yield Trial(subject.attending(case.q, case.k, case.v), modes=MODES)


def empty(subject: Subject, case: Case) -> Iterator[Trial]:
    yield Trial(subject.attending(case.q[:0], case.k[:0], case.v[:0]), "an empty batch")
    yield Trial(subject.attending(case.q[:, :, :0], case.k, case.v), "no queries")


CALLS = {
    "attention": {
        "CALL-SHAPE-1": Trials(attention, (stimuli.DISTINCT, stimuli.EDGES)),
        **of_dtypes(attention, stimuli.ONE, half=()),
        "CALL-EMPTY-1": Trials(empty, (stimuli.SMALL,)),
        "CALL-LAYOUT-1": Trials(laid_out, (stimuli.ONE,)),
        "CALL-MODE-1": Trials(in_modes, (stimuli.ONE,)),
        "CALL-IMMUT-1": Trials(attention, (stimuli.ONE,)),
        "CALL-REPEAT-1": Trials(after_others, (stimuli.ONE,)),
    },
}
