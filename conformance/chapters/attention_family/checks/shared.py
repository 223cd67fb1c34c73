"""Checks of the chapter spec/attention_family.md: what several sections use."""

from collections.abc import Iterator

from attnconf.conformance.chapters.multi_head_attention.stimuli import layer_for, with_inside
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import Measure
from attnconf.conformance.engine.member_lens import entries
from attnconf.conformance.engine.request import Call
from attnconf.conformance.engine.subject import Subject

Evidence = Iterator[Measure]

KINDS = {"positions-inside": ("rotary", "alibi", "relative-bias", "shaw"), "relative-values": ("no", "yes"),
         "qk-norm": ("rms", "layer"),
         "qk-norm-over": ("head", "width"), "qk-norm-place": ("before", "after"), "sinks": ("learned", "add-one"),
         "output-gate": ("features", "heads")}  # fmt: skip


def part_of(width: int) -> int:
    """Return how many features of a head of some width are to turn: about half of them, in pairs."""
    return 2 * max(1, width // 4)


def kinds(subject: Subject, convention: str) -> tuple[str, ...]:
    """Return the kinds of a part that a subject is asked for: all where it declares "any", else the one it declares."""
    declared = subject.choice(convention)
    return KINDS[convention] if declared == "any" else tuple(kind for kind in KINDS[convention] if kind == declared)


def having(subject: Subject, case: Case, **inside: str) -> Call:
    """Return a layer with these parts inside, and what the subject always has."""
    return with_inside(layer_for(subject, case), case, {**entries(subject.declares), **inside})
