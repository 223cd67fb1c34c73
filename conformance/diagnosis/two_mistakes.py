"""Two mistakes that reproduce a failure together, or a consequence that one of them does not reproduce alone."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import product

from attnconf.conformance.diagnosis.judgements import Judgements
from attnconf.conformance.diagnosis.mistakes import AT_MOST, Diagnosis, Mistake, diagnosis_of, distinct
from attnconf.conformance.diagnosis.pairs import Pair, alternatives, joined, reproducing
from attnconf.conformance.diagnosis.replay import cost
from attnconf.conformance.diagnosis.suspects import Suspects
from attnconf.conformance.engine.judge import Judged
from attnconf.conformance.engine.mutant import Mutant


class TwoMistakes:
    """The search for a second mistake among the suspects."""

    def __init__(self, judgements: Judgements, suspects: Suspects) -> None:
        self.judgements, self.suspects = judgements, suspects

    def behind(self, failed: Judged, found: Collection[Diagnosis]) -> tuple[Mistake, ...] | None:
        """Return the two mistakes that together reproduce a failure; None if no or too many pairs do."""
        for diagnosis in found:
            both = [m[0] for m in diagnosis.mistakes]
            if len(both) > 1 and self.judgements.rough.fits(joined(both), failed.log):
                return diagnosis.mistakes
        if self.suspects.partly:
            beneath = self._beneath_partly
            if beneath and self.judgements.rough.fits(joined(m[0] for m in beneath), failed.log):
                return beneath
        known = {m.id for mistake in distinct(found) for m in mistake} | {m.id for m in self.suspects.known}
        near, far = self.suspects.without_others_variants(known)
        return self._told_apart(
            reproducing(failed.log, known, near, far, self.judgements.failed_at_the_root, self.judgements.rough)
        )

    @cached_property
    def _beneath_partly(self) -> tuple[Mistake, ...] | None:
        """A mistake of another chapter that reproduces some failures, with a second one that reproduces the others."""
        found = self._beneath(self.suspects.partly, [*self.judgements.failures, *self.judgements.passed])
        return found and found[1]

    def _told_apart(self, pairs: Sequence[Pair]) -> tuple[Mistake, ...] | None:
        near = [pair for pair in pairs if all(m in self.suspects.near for m in pair)]
        pairs = near or [pair for pair in pairs[:20] if self.judgements.passes(joined(pair), self.judgements.rough)]
        if not pairs:
            return None
        best = self.judgements.best([joined(pair) for pair in pairs], self.judgements.rough)
        pairs = [pair for pair in pairs if joined(pair) in best]
        return alternatives(pairs) if len(pairs) <= AT_MOST else None

    def sharper(self, found: Mapping[int, Diagnosis]) -> dict[int, Diagnosis]:
        """Return the diagnoses with fewer alternatives: those that explain most failures together.

        A second mistake that only a consequence needs is named for that consequence alone.
        """
        mistakes = distinct(found.values())
        if len(mistakes) == 1 and len(found) == len(self.judgements.roots):
            return self._with_one_beneath(found, mistakes[0])
        kept = {m.id for mistake in mistakes for m in mistake}
        if len(mistakes) == 2:
            pairs = [pair for pair in product(*mistakes) if not set(pair[0].replace) & set(pair[1].replace)]
            best = self.judgements.best([joined(pair) for pair in pairs], self.judgements.rough)
            kept = {m.id for pair in pairs if joined(pair) in best for m in pair}

        def sharp(mistake: Mistake) -> Mistake:
            return tuple(m for m in mistake if m.id in kept) or mistake

        alone = {m.id for d in found.values() if len(d.mistakes) == 1 for m in sharp(d.mistakes[0])}

        def told(diagnosis: Diagnosis) -> Diagnosis:
            """Return the diagnosis with the mistake first that explains no other failure."""
            both = sorted(map(sharp, diagnosis.mistakes), key=lambda mistake: any(m.id in alone for m in mistake))
            return Diagnosis(tuple(both), diagnosis.cases)

        return {root: told(diagnosis) for root, diagnosis in found.items()}

    def _with_one_beneath(self, found: Mapping[int, Diagnosis], mistake: Mistake) -> dict[int, Diagnosis]:
        """Return the diagnoses of the roots, and one for a consequence that needs a second mistake, if there is one.

        A second mistake that is only coarse computing is not believed, as all rounding looks alike. Of the
        alternatives at the root, those stay that explain the consequence together with the second mistake.
        """
        below = self._beneath(mistake, self.judgements.consequences)
        if below is None or any(m.rounding for m in below[1][0]):
            return dict(found)
        failed, both = below
        kept = {m.id for one in both for m in one}
        at_roots = {
            root: Diagnosis(tuple(tuple(m for m in one if m.id in kept) or one for one in d.mistakes), d.cases)
            for root, d in found.items()
        }
        return {**at_roots, id(failed): diagnosis_of(failed, *both)}

    def _beneath(
        self, mistake: Sequence[Mutant], elsewhere: Iterable[Judged]
    ) -> tuple[Judged, tuple[Mistake, ...]] | None:
        """Return a check that the mistake alone does not reproduce, and (second mistake, mistake), which do together.

        None if there is no such check or no such second mistake.
        """
        judgements, rough = self.judgements, self.judgements.rough
        names = {m.id for m in mistake}
        left = [j for j in elsewhere if not any(rough.fits(name, j.log) for name in names)]
        telling = [(judged, calls) for judged in left if (calls := rough.telling(judged.log))]
        alone = max(judgements.reproduced(name, rough) for name in names)
        for judged, _ in sorted(telling, key=lambda one: cost(one[1][0][0]))[:2]:
            near, far = self.suspects.without_others_variants(names)
            pairs = reproducing(judged.log, names, near, far, judgements.failed_at_the_root, rough, beside=True)
            both = self._told_apart([pair for pair in pairs[:20] if judgements.reproduced(joined(pair), rough) > alone])
            if both:
                return judged, tuple(sorted(both, key=lambda one: any(m.id in names for m in one)))
        return None
