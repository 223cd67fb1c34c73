"""Checks of the chapter spec/kv_cache.md: positions that are given, and rows of other lengths in one batch."""

from collections.abc import Sequence

import torch
from torch import Tensor

from attnconf.conformance.chapters.kv_cache import stimuli
from attnconf.conformance.chapters.kv_cache.checks.chunks import Evidence
from attnconf.conformance.chapters.kv_cache.stimuli import chunks, layer, rows, run, whole, with_padding
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import close
from attnconf.conformance.engine.member_lens import entries
from attnconf.conformance.engine.request import Call
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject


def alone(subject: Subject, call: Call, sample: int, tokens: Tensor) -> Tensor:
    """Return what a sample's tokens (indices) give as a sequence of their own: (1, T, O)."""
    x = call.inputs["x"][sample : sample + 1, tokens]
    return run(subject, call, whole(1, len(tokens)), x=x)


@requirement("CACHE-POS-1", stimuli.STEPS)
def positions_that_are_given_are_those_of_the_rotation(subject: Subject, case: Case) -> Evidence:
    """Tokens with a gap between them are a whole sequence of which those in the gap are left out of the scores."""
    call = layer(subject, case, positions="rotary")
    L, x = case.L, call.inputs["x"]
    count = torch.arange(L, device=case.device)
    every = torch.stack([count + 3 * b for b in range(case.B)])  # of each sample its own
    want = run(subject, call)
    for lengths in ((L,), (2, *(1,) * (L - 2))):
        got = run(subject, call, chunks(case.B, lengths), positions=every)
        yield close(got, want, f"out with all positions of a sample moved alike, in chunks of {lengths}, against out,")
    if not subject.offers("key-mask"):
        return
    kept = torch.cat([count[:2], count[3:]])
    mask = (count != 2).expand(case.B, L).contiguous()
    want = run(subject, call, key_mask=mask)[:, kept]
    got = run(
        subject, call, chunks(case.B, (2, L - 3)), x=x[:, kept], positions=kept.expand(case.B, L - 1).contiguous()
    )
    yield close(got, want, "out with a gap in the positions, against out with a hidden token in it,")


def ways(subject: Subject, case: Case, mask: Tensor, free: bool) -> list[tuple[Call, dict[str, Tensor], str]]:
    """Return the layers that rows of other lengths are put through, each with its positions, and words on them.

    ``free``: whether a rotation may do without positions, as padding moves all tokens of a row alike.
    """
    found = [(layer(subject, case), dict[str, Tensor](), "")]
    if entries(subject.declares)["positions"] == "rotary" and not free:
        found = []
    if subject.offers("rotary-inside"):
        turned = layer(subject, case, positions="rotary")
        found += [(turned, {}, " with a rotation inside")] if free else []
        count = (mask.cumsum(1) - 1).clamp(min=0)
        found.append((turned, {"positions": count}, " with a rotation inside, at the places of the real tokens"))
    return found


def as_apart(
    subject: Subject, case: Case, mask: Tensor, lengths: Sequence[int], free: bool, where: str
) -> Evidence:  # fmt: skip
    for call, beside, what in ways(subject, case, mask, free):
        tables = {name: 0 * w for name, w in call.weights.items() if name.startswith("relative")}
        call = call.with_weights(tables)  # a gap is a distance
        padded = with_padding(case, call.inputs["x"], mask)
        got = run(subject, call, chunks(case.B, lengths), x=padded, key_mask=mask, **beside)
        for sample in range(case.B):
            real = mask[sample].nonzero()[:, 0]
            want = alone(subject, call, sample, real)
            yield close(
                got[sample : sample + 1, real], want,
                f"out of sample {sample} with padding {where}{what}, in chunks of {lengths}, against out of it alone,",
            )  # fmt: skip


@requirement("CACHE-LEFT-1", stimuli.STEPS)
def rows_padded_on_the_left_are_as_apart(subject: Subject, case: Case) -> Evidence:
    L = case.L
    mask = rows(case, [L - b % (L - 2) for b in range(case.B)], left=True)
    for lengths in ((L - 2, 1, 1), (L - 2, 2)):
        yield from as_apart(subject, case, mask, lengths, True, "on the left")


@requirement("CACHE-RIGHT-1", stimuli.STEPS)
def rows_padded_on_the_right_are_as_apart(subject: Subject, case: Case) -> Evidence:
    L = case.L
    first = rows(case, [L - 2 - b % (L - 2) for b in range(case.B)], left=False)
    mask = torch.cat([first, first.new_ones(case.B, 2)], dim=1)
    for lengths in ((L - 2, 1, 1), (L - 2, 2)):
        yield from as_apart(subject, case, mask, lengths, False, "on the right of the first chunk")
