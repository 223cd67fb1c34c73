"""Checks of the chapter spec/mask_making.md: which entries of a mask are 1, and which are 0."""

from collections.abc import Iterator

import torch
from torch import Tensor

from attnconf.conformance.chapters.mask_making import stimuli
from attnconf.conformance.chapters.mask_making.stimuli import IDS, Asked, asked, causal_call, ends, told, ways
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import Failure, Measure, Observed, close, holds
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject
from attnconf.reference.mask_making import up_to_own

Evidence = Iterator[Measure | Observed]


def entries(subject: Subject, one: Asked, where: Tensor, want: float, what: str) -> Measure:
    """Compare entries of a mask with what they must be; those of queries that are padding may be anything.

    ``where``  broadcastable to (B, L, L), bool: which are compared
    """
    got = subject.call(one.call.asked()).out.reshape(-1, *one.call.out_shape[-2:])
    here = (where & one.real[:, :, None]).expand_as(got)
    return close(got.where(here, want), torch.full_like(got, want), f"{what}, told by {one.how},", unit=1.0)


@requirement("MAKE-LATER-1", stimuli.USUAL, stimuli.SAMPLE, any_weights=True)
def no_later_key_is_seen(subject: Subject, case: Case) -> Evidence:
    for one in asked(subject, case):
        later = ~up_to_own(case.L, case.L).to(case.device)
        yield entries(subject, one, later, 0.0, "the mask at later keys")


@requirement("MAKE-PADDING-1", stimuli.USUAL, stimuli.SAMPLE, any_weights=True)
def no_padding_is_seen(subject: Subject, case: Case) -> Evidence:
    for one in asked(subject, case):
        yield entries(subject, one, ~one.real[:, None, :], 0.0, "the mask at keys that are padding")


@requirement("MAKE-SEEN-1", stimuli.USUAL, stimuli.TOKEN, any_weights=True)
def every_other_key_is_seen(subject: Subject, case: Case) -> Evidence:
    for one in asked(subject, case):
        allowed = one.real[:, None, :]
        if subject.component != "padding_mask":
            allowed = allowed & up_to_own(case.L, case.L).to(case.device)
        yield entries(subject, one, allowed, 1.0, "the mask at keys that may be seen")


@requirement("MAKE-ID-1", stimuli.USUAL, any_weights=True)
def the_id_that_is_given_is_that_of_padding(subject: Subject, case: Case) -> Evidence:
    for how in ways(subject):
        call = told(subject.component, case, ends(case), how, padding_id=3)
        one = Asked(call, ends(case), "3 as the id of padding" if how == IDS else how)
        yield entries(subject, one, ~one.real[:, None, :], 0.0, "the mask at keys that are padding")
        own = torch.eye(case.L, dtype=torch.bool, device=case.device)
        yield entries(subject, one, own, 1.0, "the mask at each token's own key")


@requirement("MAKE-ALIGN-1", stimuli.USUAL, any_weights=True)
def more_keys_are_seen_from_one_corner(subject: Subject, case: Case) -> Evidence:
    corners = {"top-left", "bottom-right"}
    for queries, keys in ((case.L, case.S), (2, case.S)):
        try:
            got = subject.call(causal_call(case, queries, keys).asked()).out
        except Failure as failure:
            if failure.reason != "raised":
                raise
            yield holds(True, "refused with an error")
            return
        for corner in tuple(corners):
            want = up_to_own(queries, keys, 0 if corner == "top-left" else keys - queries).to(got)
            corners -= set() if torch.equal(got, want) else {corner}
        yield holds(bool(corners), f"L = {queries}, S = {keys}: the diagonal starts neither top-left nor bottom-right")
    (choice,) = corners
    yield Observed("causal-alignment", choice)
    declared = subject.declares.get("causal-alignment", choice)
    yield holds(choice == declared, f"declared {declared}, but the diagonal is {choice}")
