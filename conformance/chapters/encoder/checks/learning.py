"""Checks of the chapter spec/encoder.md: learning."""

from itertools import product

from attnconf.conformance.chapters.encoder import stimuli
from attnconf.conformance.chapters.encoder.stimuli import Evidence, order_name
from attnconf.conformance.chapters.shared import layers as blocks
from attnconf.conformance.chapters.shared.layers import endings
from attnconf.conformance.chapters.shared.learning import (
    LEARNED,
    STEPS,
    WORDS,
    Task,
    accuracy_of,
    copy,
    guess,
    recall,
    reverse,
    sort,
)
from attnconf.conformance.chapters.shared.placements import best_known
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import holds
from attnconf.conformance.engine.request import Call
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject

UNPLACED = 0.5  # of the words: who knows which there are, but not where, says the most frequent, and hits 38.6 %
FORESEEN = 0.15  # of random words: 1 of 8 is hit by chance, and 5 standard deviations are 2.3 %


def trained(subject: Subject, case: Case, placement: str) -> Call:
    return blocks.encoder(subject, case, placement, endings(subject)[-1])


def learns(subject: Subject, case: Case, *tasks: Task) -> Evidence:
    """Yield that each task is learned, in each order of norm and sublayer; in the last two where there are more."""
    for placement, task in product(best_known(subject), tasks):
        got = accuracy_of(subject, case, trained(subject, case, placement), task)
        rate = f"{100 * got:.1f} % of new words are right"
        words = f"{order_name(placement)}: after {STEPS} steps of {task.__name__} {rate}"
        yield holds(got >= LEARNED, f"{words}, want {100 * LEARNED:g} %")


@requirement("ENC-LEARN-1", stimuli.LEARN)
def it_learns_what_takes_positions(subject: Subject, case: Case) -> Evidence:
    yield from learns(subject, case, copy, reverse, sort)


@requirement("ENC-LEARN-2", stimuli.LEARN)
def it_learns_to_recall(subject: Subject, case: Case) -> Evidence:
    yield from learns(subject, case, recall)


@requirement("ENC-LEARN-3", stimuli.LEARN)
def it_learns_no_order_without_positions(subject: Subject, case: Case) -> Evidence:
    for task in (copy, reverse, sort):
        got = accuracy_of(subject, case, trained(subject, case, best_known(subject)[-1]), task, places=False)
        words = f"without positions, after {STEPS} steps of {task.__name__}, {100 * got:.1f} % of new words are right"
        yield holds(got <= UNPLACED, f"{words}, want at most {100 * UNPLACED:g} %")


@requirement("ENC-LEARN-4", stimuli.LEARN)
def it_cannot_know_the_next_word(subject: Subject, case: Case) -> Evidence:
    got = accuracy_of(subject, case, trained(subject, case, best_known(subject)[-1]).with_config(causal=True), guess)
    words = f"{100 * got:.1f} % of random words are foreseen, where chance hits {100 / WORDS:g} %"
    yield holds(got <= FORESEEN, f"{words}, want at most {100 * FORESEEN:g} %")
