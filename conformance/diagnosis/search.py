"""Which known mistake reproduces what came out: replay the very same calls on every mutant, and compare.

A mutant is named only if it gives the implementation's own replies on every call that the check made, and at least
one of them is not the reference's; both in the conventions that the implementation declares. Replies are compared up
to the rounding of float64 code, and, where nothing fits so, up to what float32 tables are off by. Where several fit,
those are kept that reproduce most of the other failures; where several are left, they are named together, unless they
are too many to help. Two mistakes at once are looked for where one explains nothing, or not what follows from it.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product

from attnconf.conformance.chapters.contents import all_mutants, plain, with_variants
from attnconf.conformance.diagnosis.fixed_settings import fixed, said
from attnconf.conformance.diagnosis.pairs import Pair, alternatives, joined, reproducing
from attnconf.conformance.diagnosis.replay import FLOAT32, LIMIT, ROUNDING, Comparison, Log, Shared, cost
from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.engine.judge import Judged
from attnconf.conformance.engine.mutant import Mutant, reaches
from attnconf.conformance.engine.translate import others_than

AT_MOST = 3
Mistake = tuple[Mutant, ...]  # one of these


@dataclass(frozen=True)
class Diagnosis:
    """The mistakes that, made together, reproduce a failure on all of its cases; of each, what may be meant."""

    mistakes: tuple[Mistake, ...]
    cases: int

    @property
    def mutants(self) -> tuple[Mutant, ...]:
        return tuple(mutant for mistake in self.mistakes for mutant in mistake)


def explain(
    roots: Sequence[Judged], consequences: Iterable[Judged] = (), passed: Iterable[Judged] = (),
    declares: Mapping[str, str] | None = None, beneath: Iterable[Mutant] = (), supposed: str = "",
) -> list[Diagnosis | None]:  # fmt: skip
    """Return for each failure, those at the root first, the mistake that reproduces it; None if none or too many do.

    ``consequences``: the other failures; one of them is explained only where what is named at the roots does not do
    it, and a second mistake does. ``passed``: what holds; a mistake that would break one of them was not made.
    A mistake of another chapter breaks nothing that is judged here, so it has to reproduce what holds as well.
    ``declares``: the conventions in which the mutants are to answer. ``beneath``: the mistakes that were named in
    components that this one may be made of, which are tried first. ``supposed``: the one with which a file was bound,
    which is tried where no other one explains a failure, though all that it breaks elsewhere holds here.
    """
    consequences = list(consequences)
    asked = [root for root in roots if root.log]
    if not asked:
        return [None for _ in (*roots, *consequences)]
    component = asked[0].log[0][0].component
    musts = [judged for judged in consequences if judged.requirement.strength == "MUST"]
    search = _Search(component, asked, musts, list(passed), Shared(component, declares))
    search.known += [variant for m in beneath if reaches(component, m) for variant in with_variants(m.id)]
    found: dict[int, Diagnosis] = {}
    unexplained = []
    for root in sorted(asked, key=lambda judged: judged.requirement.strength != "MUST"):
        fitting = search.again(root) or search.singles(root) or search.of(supposed, root)
        diagnosis = search.named(root, fitting) if fitting else search.fixed(root)
        if not fitting and not diagnosis:
            diagnosis = _undeclared(root, declares or {}, search.shared)
        if diagnosis:
            found[id(root)] = diagnosis
        elif not fitting and root.requirement.strength == "MUST" and search.answers(root):  # pairs take seconds
            unexplained.append(root)
    for root in unexplained:
        pairs = search.pairs(root, found.values())
        if pairs:
            found[id(root)] = Diagnosis(pairs, len(root.cases))
    found = search.sharper(found)
    return [_plainly(found.get(id(failed))) for failed in (*roots, *consequences)]


def _plainly(diagnosis: Diagnosis | None) -> Diagnosis | None:
    """Return the diagnosis without the constants that the mistakes were found with."""
    return diagnosis and Diagnosis(tuple(map(_plain, diagnosis.mistakes)), diagnosis.cases)


def _plain(mistake: Iterable[Mutant]) -> Mistake:
    return tuple({m.id: m for m in map(plain, mistake)}.values())


def _mistakes(diagnoses: Iterable[Diagnosis]) -> list[Mistake]:
    """Return the mistakes that are named, each once, without those in what is declared."""
    named = {_names(mistake): mistake for d in diagnoses for mistake in d.mistakes}
    least = [mistake for names, mistake in named.items() if not any(other < names for other in named)]
    return [mistake for mistake in least if all(plain(m).id in all_mutants() for m in mistake)]


def _names(mistake: Mistake) -> frozenset[str]:
    return frozenset(m.id for m in mistake)


def _adds(mutant: Mutant) -> bool:
    """Return whether a variant is the mistake itself and something besides, which alone is not the mistake."""
    return set(plain(mutant).replace) < set(mutant.replace)


@dataclass
class _Search:
    """The search for the mistakes in one component of one implementation."""

    component: str
    roots: list[Judged]
    consequences: list[Judged]
    passed: list[Judged]
    shared: Shared
    near: list[Mutant] = field(default_factory=list)  # may break something that is judged here
    far: list[Mutant] = field(default_factory=list)  # of other chapters: nothing says that they were not made
    known: list[Mutant] = field(default_factory=list)  # what was found for other failures
    partly: list[Mutant] = field(default_factory=list)  # far ones that reproduce a failure, if not all that holds

    def __post_init__(self) -> None:
        self.held = {judged.requirement.id for judged in self.passed}
        self.failed = {judged.requirement.id for judged in self.failures}
        reached = [m for m in all_mutants().values() if reaches(self.component, m)]
        possible = [variant for m in reached for variant in with_variants(m.id)]
        self.near = [m for m in possible if self.failed & set(m.breaks)]
        self.far = [m for m in possible if m not in self.near and not set(m.breaks) <= self.held]

    @property
    def failures(self) -> list[Judged]:
        return [*self.roots, *self.consequences]

    def answers(self, failed: Judged) -> bool:
        """Return whether numbers came back that are wrong; words that were raised tell one mistake, not two."""
        return any(not isinstance(reply, Failure) for _, reply in self.rough.telling(failed.log))

    def again(self, failed: Judged) -> list[Mutant]:
        """Return what has been found for another failure, where it reproduces this one too."""
        compare = self.comparison(ROUNDING)
        return self._fitting(self.known, failed, compare)

    def of(self, name: str, failed: Judged) -> list[Mutant]:
        """Return one mistake in all its variants, as far as it reproduces a failure."""
        name = name.partition("~")[0]
        there = name in all_mutants() and reaches(self.component, all_mutants()[name])
        return self._fitting(with_variants(name), failed, self.comparison(ROUNDING)) if there else []

    def singles(self, failed: Judged) -> list[Mutant]:
        """Return the mutants that reproduce a failure, and of those the ones that reproduce most of the others."""
        far = self.far if self.shared.spent < LIMIT // 3 else self.partly
        for compare in (self.comparison(ROUNDING), self.comparison(FLOAT32)):
            fitting = [m for m in self._fitting(self.near, failed, compare) if self._breaks_nothing(m, compare)]
            if not fitting:
                found = self._fitting(self.partly, failed, compare) or self._fitting(far, failed, compare)
                self.partly += [m for m in found if m not in self.partly]
                fitting = [m for m in found if all(compare.agrees(m.id, j.log) for j in self.passed)]
            if fitting:
                best = self.best([m.id for m in fitting], compare)
                fitting = [m for m in fitting if m.id in best]
                self.known += fitting
                return fitting
        return self._raising(failed)

    def _raising(self, failed: Judged) -> list[Mutant]:
        """Return the mutants that raise where the implementation does, and nowhere else, if in other words."""
        compare = Comparison(self.shared.spoken, ROUNDING, self.shared, words=False)
        raising = [m for m in self.near if failed.requirement.id in m.raises]
        fitting = self._fitting(raising, failed, compare)
        held = [call for judged in self.passed for call in judged.log]
        fitting = [m for m in fitting if all(compare.raises_alike(m.id, *call) for call in held)]
        best = self.best([m.id for m in fitting], compare) if fitting else []
        return [m for m in fitting if m.id in best]

    def _fitting(self, mutants: Iterable[Mutant], failed: Judged, compare: Comparison) -> list[Mutant]:
        telling = compare.telling(failed.log)
        log = [*telling, *failed.log] if telling else []
        possible = [m for m in mutants if not m.rounding or self.failed >= set(m.breaks)]
        found = [m for m in possible if log and compare.fits(m.id, log) and self._answers_elsewhere(m, telling)]
        return [m for m in found if not _adds(m) or not all(compare.silent(plain(m).id, r) for r, _ in telling)]

    def _answers_elsewhere(self, mutant: Mutant, telling: Log) -> bool:
        """Return whether, where all that came back are words, there are answers too, to calls that the mutant answers.

        Else whatever never runs would be every mistake that never does.
        """
        if not all(isinstance(reply, Failure) and reply.reason == "raised" for _, reply in telling):
            return True
        answered = [call for judged in self.passed for call in judged.log if not isinstance(call[1], Failure)]
        replies = (self.shared.reply(mutant.id, self.shared.spoken, request) for request, _ in answered[:20])
        return bool(answered) and not any(isinstance(reply, Failure) for reply in replies)

    def _breaks_nothing(self, mutant: Mutant, compare: Comparison) -> bool:
        """Return whether a mutant gives what came out where something holds that it breaks through other lenses."""
        return all(compare.agrees(mutant.id, j.log) for j in self.passed if j.requirement.id in mutant.breaks)

    def comparison(self, rounding: float) -> Comparison:
        return Comparison(self.shared.spoken, rounding, self.shared)

    @cached_property
    def rough(self) -> Comparison:
        """By what the replies that are right are off: the rounding of float64, or that of float32 tables."""
        calls = [call for judged in self.passed[:10] for call in judged.log[:1]]
        rough, fine = self.comparison(FLOAT32), self.comparison(ROUNDING)
        imprecise = [call for call in calls if rough.same("", *call) and not fine.same("", *call)]
        seen = all(rough.telling(failure.log) for failure in self.failures)
        return rough if seen and imprecise else fine

    def best(self, names: Sequence[str], compare: Comparison) -> list[str]:
        """Return those that reproduce most of the failures."""
        counts = [self.count(name, compare) for name in names]
        return [name for name, count in zip(names, counts, strict=True) if count == max(counts)]

    def count(self, name: str, compare: Comparison) -> int:
        """Return how many of the failures are reproduced."""
        return sum(compare.fits(name, failure.log) for failure in self.failures)

    def named(self, failed: Judged, fitting: Sequence[Mutant]) -> Diagnosis | None:
        return Diagnosis((tuple(fitting),), len(failed.cases)) if len(_plain(fitting)) <= AT_MOST else None

    def fixed(self, failed: Judged) -> Diagnosis | None:
        """Return the setting that, written into the code, reproduces a failure, or None."""
        for rounding in (ROUNDING, FLOAT32):
            compare = self.comparison(rounding)
            log = [*compare.telling(failed.log), *failed.log] if compare.telling(failed.log) else []
            found = [name for name in fixed(failed.log[0][0].config) if log and compare.fits(name, log)]
            if found:
                break
        words = said(self.best(found, compare)) if found else None
        if words is None:
            return None
        mutant = Mutant(f"{failed.requirement.id.split('-')[0]}-{found[0]}", words[0], set(), words[1], {})
        return Diagnosis(((mutant,),), len(failed.cases))

    def pairs(self, failed: Judged, found: Collection[Diagnosis]) -> tuple[Mistake, ...] | None:
        """Return the two mistakes that reproduce a failure together, or None if none do or too many."""
        for diagnosis in found:
            both = [m[0] for m in diagnosis.mistakes]
            if len(both) > 1 and self.rough.fits(joined(both), failed.log):
                return diagnosis.mistakes
        if self.partly:
            beneath = self.beneath_partly
            if beneath and self.rough.fits(joined(m[0] for m in beneath), failed.log):
                return beneath
        known = {m.id for mistake in _mistakes(found) for m in mistake} | {m.id for m in self.known}
        roots = {judged.requirement.id for judged in self.roots}
        near, far = ([m for m in some if m is plain(m) or m.id in known] for some in (self.near, self.far))
        return self._told_apart(reproducing(failed.log, known, near, far, roots, self.rough))

    @cached_property
    def beneath_partly(self) -> tuple[Mistake, ...] | None:
        """A mistake of another chapter that reproduces some failures, with the one that does the rest."""
        found = self._beneath(self.partly, [*self.failures, *self.passed])
        return found and found[1]

    def _told_apart(self, pairs: Sequence[Pair]) -> tuple[Mistake, ...] | None:
        near = [pair for pair in pairs if all(m in self.near for m in pair)]
        pairs = near or [p for p in pairs[:20] if all(self.rough.agrees(joined(p), j.log) for j in self.passed)]
        if not pairs:
            return None
        best = self.best([joined(pair) for pair in pairs], self.rough)
        pairs = [pair for pair in pairs if joined(pair) in best]
        return alternatives(pairs) if len(pairs) <= AT_MOST else None

    def sharper(self, found: Mapping[int, Diagnosis]) -> dict[int, Diagnosis]:
        """Return what was found for each failure in the light of what was found for the others.

        A second mistake that shows in consequences alone is that of the consequence, and of no failure at the root.
        """
        mistakes = _mistakes(found.values())
        if len(mistakes) == 1 and len(found) == len(self.roots):
            return self._with_one_beneath(found, mistakes[0])
        kept = {m.id for mistake in mistakes for m in mistake}
        if len(mistakes) == 2:
            pairs = [pair for pair in product(*mistakes) if not set(pair[0].replace) & set(pair[1].replace)]
            best = self.best([joined(pair) for pair in pairs], self.rough)
            kept = {m.id for pair in pairs if joined(pair) in best for m in pair}

        def sharp(mistake: Mistake) -> Mistake:
            return tuple(m for m in mistake if m.id in kept) or mistake

        alone = {m.id for d in found.values() if len(d.mistakes) == 1 for m in sharp(d.mistakes[0])}

        def told(diagnosis: Diagnosis) -> Diagnosis:
            """What explains no other failure is what is new here, and comes first."""
            both = sorted(map(sharp, diagnosis.mistakes), key=lambda mistake: any(m.id in alone for m in mistake))
            return Diagnosis(tuple(both), diagnosis.cases)

        return {root: told(diagnosis) for root, diagnosis in found.items()}

    def _with_one_beneath(self, found: Mapping[int, Diagnosis], mistake: Mistake) -> dict[int, Diagnosis]:
        """Return what was found for the failures at the root with what a consequence needs besides, if any does.

        A second mistake that is only to compute coarsely is not believed: rounding is like any other. Of what may be
        meant at the root, that is kept which makes the consequence together with the second mistake.
        """
        below = self._beneath(mistake, self.consequences)
        if below is None or any(m.rounding for m in below[1][0]):
            return dict(found)
        kept = {m.id for one in below[1] for m in one}
        at_roots = {
            root: Diagnosis(tuple(tuple(m for m in one if m.id in kept) or one for one in d.mistakes), d.cases)
            for root, d in found.items()
        }
        return {**at_roots, id(below[0]): Diagnosis(below[1], len(below[0].cases))}

    def _beneath(
        self, mistake: Sequence[Mutant], elsewhere: Iterable[Judged]
    ) -> tuple[Judged, tuple[Mistake, ...]] | None:
        """Return what a mistake alone does not do of what came out elsewhere, and that mistake with the one that does.

        The other one stands first.
        """
        names = {m.id for m in mistake}
        left = [j for j in elsewhere if not any(self.rough.fits(name, j.log) for name in names)]
        telling = [(judged, calls) for judged in left if (calls := self.rough.telling(judged.log))]
        roots = {judged.requirement.id for judged in self.roots}
        alone = max(self.count(name, self.rough) for name in names)
        for judged, _ in sorted(telling, key=lambda one: cost(one[1][0][0]))[:2]:
            near, far = ([m for m in some if m is plain(m) or m.id in names] for some in (self.near, self.far))
            pairs = reproducing(judged.log, names, near, far, roots, self.rough, beside=True)
            both = self._told_apart([pair for pair in pairs[:20] if self.count(joined(pair), self.rough) > alone])
            if both:
                return judged, tuple(sorted(both, key=lambda one: any(m.id in names for m in one)))
        return None


def _undeclared(failed: Judged, declares: Mapping[str, str], shared: Shared) -> Diagnosis | None:
    """Return the one set of conventions in which the reference gives these replies: right, but not as declared.

    The smallest: a convention that has no effect on these replies, the gate's where there is none, is not named.
    """
    found: list[dict[str, str]] = []
    for choices in others_than(failed.log[0][0].component, declares):
        if any(known.items() <= choices.items() for known in found):
            continue
        compare = Comparison(frozenset({**declares, **choices}.items()), FLOAT32, shared)
        if compare.fits("", failed.log):
            found.append(choices)
    if len(found) != 1:
        return None
    said = ", ".join(f'"{name}": "{choice}"' for name, choice in found[0].items())
    story = "this is right in other conventions than those that are declared"
    mutant = Mutant(f"{failed.requirement.id.split('-')[0]}-undeclared", story, set(), f"declares = {{{said}}}", {})
    return Diagnosis(((mutant,),), len(failed.cases))
