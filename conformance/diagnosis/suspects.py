"""The mutants that may be behind the failures of one component, and what the search has learned of them."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from attnconf.conformance.chapters.contents import all_mutants, plain, with_variants
from attnconf.conformance.diagnosis.judgements import Judgements
from attnconf.conformance.engine.mutant import Mutant, reaches
from attnconf.spec import registry


@dataclass
class Suspects:
    """Mutants in four lists, each in the order of the chapters; a list of one mutant holds its variants, too."""

    near: list[Mutant]  # known to break a requirement that failed here
    far: list[Mutant]  # of other chapters, or with other constants: no passed check excludes them
    known: list[Mutant]  # named for another failure, or in a part of this component
    partly: list[Mutant] = field(default_factory=list)  # far ones that reproduce a failure, but not all passed checks

    def without_others_variants(self, known: Iterable[str]) -> tuple[list[Mutant], list[Mutant]]:
        """Return (near, far) without variants, but for those with a known name."""
        names = set(known)
        near, far = ([m for m in some if m is plain(m) or m.id in names] for some in (self.near, self.far))
        return near, far


def suspected(judgements: Judgements, beneath: Iterable[Mutant]) -> Suspects:
    """Return the mutants that reach the component; known are those that were named in the parts of it."""
    held = {judged.requirement.id for judged in judgements.passed}
    possible = [
        variant for m in all_mutants().values() if reaches(judgements.component, m) for variant in with_variants(m.id)
    ]
    near = [m for m in possible if _near(m, judgements.failed, judgements.failed | held)]
    far = [m for m in possible if m not in near and not (m is plain(m) and set(m.breaks) <= held)]
    known = [variant for m in beneath if reaches(judgements.component, m) for variant in with_variants(m.id)]
    return Suspects(near, far, known)


def _near(mutant: Mutant, failed: set[str], judged: set[str]) -> bool:
    """Return whether a mutant is known to break what failed; a law of every call counts for what is judged here.

    A mistake of attention that breaks such a law, too, is not near a decoder for that.
    """
    own = {name for name in mutant.breaks if registry.get(name).chapter != "calls"}
    return bool(failed & (set(mutant.breaks) if not own or own & judged else own))
