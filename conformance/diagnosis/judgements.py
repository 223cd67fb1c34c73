"""What came of the checks of one component, and queries of the replies: which mutants reproduce what came?"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

from attnconf.conformance.diagnosis.replay import FLOAT32, ROUNDING, Comparison, Replies, has_numbers
from attnconf.conformance.engine.judge import Judged


@dataclass(eq=False)
class Judgements:
    """The failures and the passed checks of one component of one implementation, beside the mutants' replies."""

    component: str
    roots: Sequence[Judged]
    consequences: Sequence[Judged]
    passed: Sequence[Judged]
    replies: Replies

    @property
    def failures(self) -> list[Judged]:
        return [*self.roots, *self.consequences]

    @cached_property
    def failed(self) -> set[str]:
        """The ids of the requirements that failed."""
        return {judged.requirement.id for judged in self.failures}

    @cached_property
    def failed_at_the_root(self) -> set[str]:
        return {judged.requirement.id for judged in self.roots}

    def compared(self, rounding: float, words: bool = True) -> Comparison:
        """Return the comparison of replies up to this rounding; with ``words``, exceptions in the same words."""
        return Comparison(self.replies.spoken, rounding, self.replies, words)

    @cached_property
    def rough(self) -> Comparison:
        """The comparison with the rounding of the right replies: that of float64, or that of float32 tables."""
        calls = [call for judged in self.passed[:10] for call in judged.log[:1]]
        rough, fine = self.compared(FLOAT32), self.compared(ROUNDING)
        imprecise = [call for call in calls if rough.same("", *call) and not fine.same("", *call)]
        seen = all(rough.telling(failure.log) for failure in self.failures)
        return rough if seen and imprecise else fine

    def in_numbers(self, failed: Judged) -> bool:
        """Return whether some wrong reply has numbers. Exceptions or NaN alone can tell one mistake, but not two."""
        return any(has_numbers(reply) for _, reply in self.rough.telling(failed.log))

    def reproduced(self, name: str, compare: Comparison) -> int:
        """Return how many failures a mutant reproduces."""
        return sum(compare.fits(name, failure.log) for failure in self.failures)

    def best(self, names: Sequence[str], compare: Comparison) -> list[str]:
        """Return the mutants that reproduce most failures."""
        counts = [self.reproduced(name, compare) for name in names]
        return [name for name, count in zip(names, counts, strict=True) if count == max(counts)]

    def passes(
        self, name: str, compare: Comparison, only: Collection[str] | None = None, musts_alone: bool = False
    ) -> bool:
        """Return whether a mutant gives the replies of all passed checks; with ``only``, of those with these ids.

        ``musts_alone``: but for recommendations. What a file does in half precision, say, is no part of a mistake in
        the numbers.
        """
        asked = (j for j in self.passed if only is None or j.requirement.id in only)
        counting = (j for j in asked if not musts_alone or j.requirement.strength == "MUST")
        return all(compare.agrees(name, judged.log) for judged in counting)
