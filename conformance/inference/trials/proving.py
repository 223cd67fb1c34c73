"""The one prover: hypotheses are run on fresh weights, and compared with the textbook, then with known mistakes.

What is proposed is a hypothesis in each reading: conventions that it may stand for, and the calls in which it is then
compared. The first reading that equals the textbook is believed, in whatever order the proposals come: those who
propose begin with the likeliest. Only where none does, known mistakes are compared with what ran; and where none of
these gives its replies either, what ran first is a guess.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.engine.mutant import Mutant
from attnconf.conformance.engine.request import Reply, Request
from attnconf.conformance.inference.trials.angles import of_a_shape
from attnconf.conformance.inference.trials.binding import Attempts, Place, Refusal, refused
from attnconf.conformance.inference.trials.budgets import COMPARED, FOR_HYPOTHESES
from attnconf.conformance.inference.trials.probing import search
from attnconf.conformance.inference.trials.slots import Hypothesis
from attnconf.conformance.inference.trials.trial import ROUNDING, Certificate, why

H = TypeVar("H", bound=Hypothesis)


@dataclass(frozen=True)
class Reading(Generic[H]):
    """A hypothesis in conventions that it may stand for, and the calls in which it is compared."""

    hypothesis: H
    certificate: Certificate
    run: Hashable = None  # readings of one proposal that are alike in this are asked alike, and run once


@dataclass(eq=False)
class Trial(Generic[H]):
    """A reading that ran: its replies, and by what they are judged."""

    hypothesis: H
    certificate: Certificate
    replies: list[Reply | Failure]
    proposal: int  # the number of the proposal that it is a reading of

    @property
    def right(self) -> bool:
        return self.certificate.agrees(self.replies, self.hypothesis.conventions())

    @cached_property
    def distance(self) -> float:
        """How far the replies are from the textbook's."""
        return self.certificate.distance(self.replies, self.hypothesis.conventions())

    def equals(self, mistake: str) -> bool:
        return self.certificate.agrees(self.replies, self.hypothesis.conventions(), mistake)

    def mistakes(self, rounding: float = ROUNDING) -> Iterator[Mutant]:
        """Yield the known mistakes that give these replies."""
        return self.certificate.mistakes(self.replies, self.hypothesis.conventions(), rounding)


@dataclass
class Proof(Generic[H]):
    """What a search came to: the trial that is believed, and by what it is certified."""

    trial: Trial[H]
    certified: str | None  # "reference", the id of a known mistake, or None: a guess

    @property
    def hypothesis(self) -> H:
        return self.trial.hypothesis


class Prover(Generic[H]):
    """The trials of a place's hypotheses, and what is told of those that failed."""

    def __init__(self, place: Place, failures: Attempts | None = None):
        self.place = place
        self.failures = failures or Attempts()
        self.ran: list[Trial[H]] = []  # and differ from the textbook
        self.failure: Failure | None = None  # of the last run
        self._proposals = 0

    def certified(self, proposals: Iterable[Iterable[Reading[H]]]) -> Proof[H] | None:
        """Return the first reading that equals the textbook, or None; the others that ran are kept.

        A part of what the search may cost is spent here; the rest is for comparing with known mistakes.
        """
        with search.sharing(FOR_HYPOTHESES):
            return self._certified(proposals)

    def _certified(self, proposals: Iterable[Iterable[Reading[H]]]) -> Proof[H] | None:
        for readings in proposals:
            for trial in self._trials(readings):
                if trial.right:
                    return Proof(trial, "reference")
                supposed = trial.hypothesis.supposed
                if not supposed or trial.equals(supposed):
                    self.ran.append(trial)
            if self.failure is not None and self.failure.reason == "given up":
                return None
        return None

    def _trials(self, readings: Iterable[Reading[H]]) -> Iterator[Trial[H]]:
        self._proposals += 1
        runs: dict[Hashable, list[Reply | Failure]] = {}
        for reading in readings:
            if reading.run not in runs:
                runs[reading.run] = self._replies(reading)
            if replies := runs[reading.run]:
                yield Trial(reading.hypothesis, reading.certificate, replies, self._proposals)

    def _replies(self, reading: Reading[H]) -> list[Reply | Failure]:
        """Return the replies to all calls; none where one of them failed, or where the text is none of Python's."""
        try:
            replies = reading.certificate.replies(reading.hypothesis.implementation(self.place))
        except SyntaxError:
            return []
        self.failure = replies[-1] if replies and isinstance(replies[-1], Failure) else None
        if self.failure is not None:
            self.failures.say(why(self.failure))
            return []
        return replies

    def mistaken(
        self, trials: Iterable[Trial[H]], allowed: Callable[[Mutant, H], bool] = lambda mistake, hypothesis: True,
        rounding: float = ROUNDING,
    ) -> Proof[H] | None:  # fmt: skip
        """Return the first trial that a known mistake gives the replies of, or None.

        A mistake that a hypothesis supposes comes first. ``allowed``: whether a mistake may be it.
        """
        for trial in self.ran:
            if trial.hypothesis.supposed:
                return Proof(trial, trial.hypothesis.supposed)
        for trial in trials:
            for mutant in trial.mistakes(rounding):
                if allowed(mutant, trial.hypothesis):
                    return Proof(trial, mutant.id)
        return None

    def refusal(self, otherwise: str) -> Refusal:
        """Return what came of what was tried as the reason why nothing is bound; ``otherwise`` where nothing was."""
        failures = self.failures.failures
        return refused([words for words in failures if not of_a_shape(words)] or failures, otherwise)


Compared = Callable[[Sequence[Trial[H]]], Iterable[Trial[H]]]


def prove(
    prover: Prover[H], proposals: Iterable[Iterable[Reading[H]]], compared: Compared[H] | None = None
) -> Proof[H] | None:
    """Return what the textbook certifies, else a known mistake, else what ran first; None where nothing runs."""
    proof = prover.certified(proposals) or prover.mistaken((compared or in_order)(prover.ran))
    return Proof(prover.ran[0], None) if proof is None and prover.ran else proof


def in_order(
    trials: Sequence[Trial[H]], besides: Callable[[H], Hashable] = lambda hypothesis: None
) -> Iterator[Trial[H]]:
    """Yield the first trials that differ: of several that have the same distance in the same calls, the first.

    ``besides``: in what else they may differ.
    """
    seen: set[Hashable] = set()
    for trial in trials:
        choices = sorted(trial.hypothesis.conventions().items())
        known = (id(trial.certificate), round(trial.distance, 9), besides(trial.hypothesis), *choices)
        if known not in seen and len(seen) < COMPARED:
            seen.add(known)
            yield trial


def nearest_first(trials: Sequence[Trial[H]]) -> Sequence[Trial[H]]:
    """Return the two trials that are nearest, the other readings of the nearest one's proposal, and the rest."""
    near = sorted(trials, key=lambda trial: trial.distance)
    order = {id(trial): (at > 1, trial.proposal != near[0].proposal, at) for at, trial in enumerate(near)}
    return sorted(near, key=lambda trial: order[id(trial)])[:COMPARED]


def first_readings(trials: Sequence[Trial[H]]) -> list[Trial[H]]:
    """Return the first trial of each proposal."""
    return list({trial.proposal: trial for trial in reversed(trials)}.values())[::-1]


def holds(place: Place, hypothesis: Hypothesis, requests: Sequence[Request], mistake: str = "") -> bool:
    """Return whether a hypothesis gives what the textbook, or a known mistake, gives in some calls."""
    certificate = Certificate(requests[0].component, requests)
    return certificate.agrees(certificate.replies(hypothesis.implementation(place)), hypothesis.conventions(), mistake)
