"""Find the known mistake behind a failure: replay the check's calls on every mutant, and compare the replies.

A mutant is named only if it gives the implementation's replies to all calls of the check, and at least one of these
replies is not the reference's. Mutants and reference answer in the conventions that the implementation declares.
Replies are compared up to the rounding of float64 code; if no mutant fits, up to the error of float32 tables.
If several mutants fit, those are kept that reproduce most of the other failures; up to AT_MOST are named together.
Two mistakes at once are looked for if no single one explains a failure, or a consequence remains unexplained.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product

from attnconf.conformance.chapters.contents import all_mutants, plain, with_variants
from attnconf.conformance.diagnosis.fixed_settings import fixed, said
from attnconf.conformance.diagnosis.pairs import Pair, alternatives, joined, reproducing
from attnconf.conformance.diagnosis.replay import FLOAT32, LIMIT, ROUNDING, Comparison, Log, Replies, cost
from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.engine.judge import Judged
from attnconf.conformance.engine.mutant import Mutant, reaches
from attnconf.conformance.engine.translate import others_than

AT_MOST = 3
Mistake = tuple[Mutant, ...]  # alternatives: the replies cannot tell which of them it is


@dataclass(frozen=True)
class Diagnosis:
    """Mistakes that together reproduce a failure on all of its cases; each may have several alternatives."""

    mistakes: tuple[Mistake, ...]
    cases: int

    @property
    def mutants(self) -> tuple[Mutant, ...]:
        return tuple(mutant for mistake in self.mistakes for mutant in mistake)


def explain(
    roots: Sequence[Judged], consequences: Iterable[Judged] = (), passed: Iterable[Judged] = (),
    declares: Mapping[str, str] | None = None, beneath: Iterable[Mutant] = (), supposed: str = "",
) -> list[Diagnosis | None]:  # fmt: skip
    """Return a diagnosis for each of ``roots``, then for each of ``consequences``; None if no or too many mistakes fit.

    consequences  the other failures; one is explained only if the roots' mistakes do not reproduce it, but do so with a
                  second mistake
    passed        checks that passed; a mistake that breaks one of them was not made, and a mistake of another chapter
                  has to reproduce them all
    declares      the conventions in which the mutants answer
    beneath       mistakes named in the parts of this component, which are tried first
    supposed      the mistake with which the file was bound; tried last, even if a check passed that it breaks
    """
    consequences = list(consequences)
    asked = [root for root in roots if root.log]
    if not asked:
        return [None for _ in (*roots, *consequences)]
    component = asked[0].log[0][0].component
    musts = [judged for judged in consequences if judged.requirement.strength == "MUST"]
    search = _MistakeSearch(component, asked, musts, list(passed), Replies(component, declares))
    search.known += [variant for m in beneath if reaches(component, m) for variant in with_variants(m.id)]
    found: dict[int, Diagnosis] = {}
    unexplained = []
    for root in sorted(asked, key=lambda judged: judged.requirement.strength != "MUST"):
        fitting = search.again(root) or search.singles(root) or search.of(supposed, root)
        diagnosis = search.named(root, fitting) if fitting else search.fixed(root)
        if not fitting and not diagnosis:
            diagnosis = _undeclared(root, declares or {}, search.replies)
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
    """Return the diagnosis with each variant of a mutant (other constants) replaced by the mutant itself."""
    return diagnosis and Diagnosis(tuple(map(_plain, diagnosis.mistakes)), diagnosis.cases)


def _plain(mistake: Iterable[Mutant]) -> Mistake:
    return tuple({m.id: m for m in map(plain, mistake)}.values())


def _mistakes(diagnoses: Iterable[Diagnosis]) -> list[Mistake]:
    """Return the diagnosed mistakes, each once, without wrong declarations."""
    named = {_names(mistake): mistake for d in diagnoses for mistake in d.mistakes}
    least = [mistake for names, mistake in named.items() if not any(other < names for other in named)]
    return [mistake for mistake in least if all(plain(m).id in all_mutants() for m in mistake)]


def _names(mistake: Mistake) -> frozenset[str]:
    return frozenset(m.id for m in mistake)


def _adds(mutant: Mutant) -> bool:
    """Return whether a variant replaces more functions than the mutant that it is a variant of."""
    return set(plain(mutant).replace) < set(mutant.replace)


@dataclass
class _MistakeSearch:
    """The search for the mistakes in one component of one implementation."""

    component: str
    roots: list[Judged]
    consequences: list[Judged]
    passed: list[Judged]
    replies: Replies
    near: list[Mutant] = field(default_factory=list)  # mutants known to break a requirement that failed here
    far: list[Mutant] = field(default_factory=list)  # mutants of other chapters: no passed check excludes them
    known: list[Mutant] = field(default_factory=list)  # mutants named for other failures
    partly: list[Mutant] = field(default_factory=list)  # far ones that reproduce a failure, but not all passed checks

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
        """Return whether some wrong reply is numbers. Exceptions alone can tell one mistake, but not two."""
        return any(not isinstance(reply, Failure) for _, reply in self.rough.telling(failed.log))

    def again(self, failed: Judged) -> list[Mutant]:
        """Return the mutants named for other failures that reproduce this one too."""
        compare = self.comparison(ROUNDING)
        return self._fitting(self.known, failed, compare)

    def of(self, name: str, failed: Judged) -> list[Mutant]:
        """Return the variants of one mutant that reproduce a failure."""
        name = name.partition("~")[0]
        there = name in all_mutants() and reaches(self.component, all_mutants()[name])
        return self._fitting(with_variants(name), failed, self.comparison(ROUNDING)) if there else []

    def singles(self, failed: Judged) -> list[Mutant]:
        """Return, of the mutants that reproduce a failure, those that reproduce most of the other failures."""
        far = self.far if self.replies.spent < LIMIT // 3 else self.partly
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
        """Return the mutants that raise on exactly the calls on which the implementation raises, in any words."""
        compare = Comparison(self.replies.spoken, ROUNDING, self.replies, words=False)
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
        """Return whether the mutant is excluded or confirmed by replies that are no exceptions.

        If all wrong replies are exceptions, passed checks must hold answers, and the mutant must answer their calls.
        Otherwise an implementation that always raises would match every mutant that always raises.
        """
        if not all(isinstance(reply, Failure) and reply.reason == "raised" for _, reply in telling):
            return True
        answered = [call for judged in self.passed for call in judged.log if not isinstance(call[1], Failure)]
        replies = (self.replies.reply(mutant.id, self.replies.spoken, request) for request, _ in answered[:20])
        return bool(answered) and not any(isinstance(reply, Failure) for reply in replies)

    def _breaks_nothing(self, mutant: Mutant, compare: Comparison) -> bool:
        """Return whether the mutant reproduces every passed check that it is known to break through other lenses.

        If it does not, this mistake was not made.
        """
        return all(compare.agrees(mutant.id, j.log) for j in self.passed if j.requirement.id in mutant.breaks)

    def comparison(self, rounding: float) -> Comparison:
        return Comparison(self.replies.spoken, rounding, self.replies)

    @cached_property
    def rough(self) -> Comparison:
        """The comparison with the rounding of the right replies: that of float64, or that of float32 tables."""
        calls = [call for judged in self.passed[:10] for call in judged.log[:1]]
        rough, fine = self.comparison(FLOAT32), self.comparison(ROUNDING)
        imprecise = [call for call in calls if rough.same("", *call) and not fine.same("", *call)]
        seen = all(rough.telling(failure.log) for failure in self.failures)
        return rough if seen and imprecise else fine

    def best(self, names: Sequence[str], compare: Comparison) -> list[str]:
        """Return the mutants that reproduce most failures."""
        counts = [self.count(name, compare) for name in names]
        return [name for name, count in zip(names, counts, strict=True) if count == max(counts)]

    def count(self, name: str, compare: Comparison) -> int:
        """Return how many failures a mutant reproduces."""
        return sum(compare.fits(name, failure.log) for failure in self.failures)

    def named(self, failed: Judged, fitting: Sequence[Mutant]) -> Diagnosis | None:
        return Diagnosis((tuple(fitting),), len(failed.cases)) if len(_plain(fitting)) <= AT_MOST else None

    def fixed(self, failed: Judged) -> Diagnosis | None:
        """Return a diagnosis "eps is 1e-6 whatever the configuration says" if that reproduces a failure, or None."""
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
        """Return the two mistakes that together reproduce a failure; None if no or too many pairs do."""
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
        """A mistake of another chapter that reproduces some failures, with a second one that reproduces the others."""
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
        """Return the diagnoses with fewer alternatives: those that explain most failures together.

        A second mistake that only a consequence needs is named for that consequence alone.
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
            """Return the diagnosis with the mistake first that explains no other failure."""
            both = sorted(map(sharp, diagnosis.mistakes), key=lambda mistake: any(m.id in alone for m in mistake))
            return Diagnosis(tuple(both), diagnosis.cases)

        return {root: told(diagnosis) for root, diagnosis in found.items()}

    def _with_one_beneath(self, found: Mapping[int, Diagnosis], mistake: Mistake) -> dict[int, Diagnosis]:
        """Return the diagnoses of the roots, and one for a consequence that needs a second mistake, if there is one.

        A second mistake that is only coarse computing is not believed, as all rounding looks alike. Of the
        alternatives at the root, those stay that explain the consequence together with the second mistake.
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
        """Return a check that the mistake alone does not reproduce, and (second mistake, mistake), which do together.

        None if there is no such check or no such second mistake.
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


def _undeclared(failed: Judged, declares: Mapping[str, str], replies: Replies) -> Diagnosis | None:
    """Return a diagnosis "right in other conventions than declared", if one combination of them gives these replies.

    It is the smallest one: a convention without effect on these replies is not named.
    """
    found: list[dict[str, str]] = []
    for choices in others_than(failed.log[0][0].component, declares):
        if any(known.items() <= choices.items() for known in found):
            continue
        compare = Comparison(frozenset({**declares, **choices}.items()), FLOAT32, replies)
        if compare.fits("", failed.log):
            found.append(choices)
    if len(found) != 1:
        return None
    said = ", ".join(f'"{name}": "{choice}"' for name, choice in found[0].items())
    story = "this is right in other conventions than those that are declared"
    mutant = Mutant(f"{failed.requirement.id.split('-')[0]}-undeclared", story, set(), f"declares = {{{said}}}", {})
    return Diagnosis(((mutant,),), len(failed.cases))
