"""Checks of the chapter spec/rotary.md: some features only."""

from attnconf.conformance.chapters.rotary import stimuli
from attnconf.conformance.chapters.rotary.checks.shared import Evidence, coarse
from attnconf.conformance.chapters.rotary.stimuli import drawn, refused, rotated
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import close, identical
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject


@requirement("ROPE-REST-1", stimuli.PARTIAL)
def what_does_not_turn_passes(subject: Subject, case: Case) -> Evidence:
    x = coarse(drawn(case))
    for width in (4, case.E - 2):
        out = rotated(subject, case, x, rotary_dim=width)
        yield identical(out[..., width:], x[..., width:], f"features {width} … {case.E - 1} of out")


@requirement("ROPE-PART-1", stimuli.PARTIAL)
def what_turns_does_so_as_a_head_of_its_width(subject: Subject, case: Case) -> Evidence:
    x = drawn(case)
    for width in (4, case.E - 2):
        for base in (10000.0, 500.0):
            want = rotated(subject, case, x[..., :width].contiguous(), base=base)
            got = rotated(subject, case, x, rotary_dim=width, base=base)[..., :width]
            what = f"the first {width} features of {case.E} with base {base:g}, against a head of {width},"
            yield close(got, want, what)


@requirement("ROPE-WIDTH-1", stimuli.PARTIAL)
def more_features_than_there_are_do_not_turn(subject: Subject, case: Case) -> Evidence:
    for width in (case.E + 2, 3):
        yield refused(subject, case, f"rotary_dim {width} of {case.E} features", drawn(case), rotary_dim=width)
