"""What is found behind a failure: one mistake, or two, each with the mutants that it may be."""

from collections.abc import Iterable
from dataclasses import dataclass

from attnconf.conformance.chapters.contents import all_mutants, plain
from attnconf.conformance.engine.judge import Judged
from attnconf.conformance.engine.mutant import Mutant

AT_MOST = 3  # alternatives that are named together
Mistake = tuple[Mutant, ...]  # alternatives: the replies cannot tell which of them it is


@dataclass(frozen=True)
class Diagnosis:
    """Mistakes that together reproduce a failure on all of its cases; each may have several alternatives."""

    mistakes: tuple[Mistake, ...]
    cases: int

    @property
    def mutants(self) -> tuple[Mutant, ...]:
        return tuple(mutant for mistake in self.mistakes for mutant in mistake)


def diagnosis_of(failed: Judged, *mistakes: Iterable[Mutant]) -> Diagnosis:
    """Return the diagnosis of a failure by one mistake or several."""
    return Diagnosis(tuple(map(tuple, mistakes)), len(failed.cases))


def without_variants(mistake: Iterable[Mutant]) -> Mistake:
    """Return the mistake with each variant of a mutant (other constants) replaced by the mutant itself."""
    return tuple({m.id: m for m in map(plain, mistake)}.values())


def distinct(diagnoses: Iterable[Diagnosis]) -> list[Mistake]:
    """Return the diagnosed mistakes, each once, without wrong declarations."""
    named = {frozenset(m.id for m in mistake): mistake for d in diagnoses for mistake in d.mistakes}
    least = [mistake for names, mistake in named.items() if not any(other < names for other in named)]
    return [mistake for mistake in least if all(plain(m).id in all_mutants() for m in mistake)]
