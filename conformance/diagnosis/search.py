"""Find the known mistake behind a failure: replay the check's calls on every mutant, and compare the replies.

A mutant is named only if it gives the implementation's replies to all calls of the check, and at least one of these
replies is not the reference's. Mutants and reference answer in the conventions that the implementation declares.
Replies are compared up to the rounding of float64 code; if no mutant fits, up to the error of float32 tables.
If several mutants fit, those are kept that reproduce most of the other failures; up to AT_MOST (mistakes.py)
are named together.
Two mistakes at once are looked for if no single one explains a failure, or a consequence remains unexplained.
"""

from collections.abc import Iterable, Mapping, Sequence

from attnconf.conformance.chapters.contents import with_variants
from attnconf.conformance.diagnosis import one_mistake
from attnconf.conformance.diagnosis.judgements import Judgements
from attnconf.conformance.diagnosis.mistakes import AT_MOST, Diagnosis, diagnosis_of, without_variants
from attnconf.conformance.diagnosis.no_mutant import hard_coded, undeclared, untrainable
from attnconf.conformance.diagnosis.replay import Comparison, Replies
from attnconf.conformance.diagnosis.suspects import Suspects, suspected
from attnconf.conformance.diagnosis.two_mistakes import TwoMistakes
from attnconf.conformance.engine.judge import Judged
from attnconf.conformance.engine.mutant import Mutant

CERTIFIED = 2e-5  # a fraction of the largest number in a reply: what certifies a binding is as near


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
    judgements = Judgements(component, asked, musts, list(passed), Replies(component, declares))
    suspects = suspected(judgements, beneath)
    two = TwoMistakes(judgements, suspects)
    found: dict[int, Diagnosis] = {}
    unexplained = []
    for root in sorted(asked, key=lambda judged: judged.requirement.strength != "MUST"):
        fitting = _one(judgements, suspects, root, supposed)
        if fitting:
            diagnosis = _named(root, fitting)
        else:
            known = untrainable(root) or hard_coded(judgements, root)
            diagnosis = known or undeclared(judgements, root, declares or {})
        if diagnosis:
            found[id(root)] = diagnosis
        elif not fitting and root.requirement.strength == "MUST" and judgements.in_numbers(root):  # pairs take seconds
            unexplained.append(root)
    for root in unexplained:
        pairs = two.behind(root, found.values())
        if pairs:
            found[id(root)] = diagnosis_of(root, *pairs)
    found = two.sharper(found)
    return [_plainly(found.get(id(failed))) for failed in (*roots, *consequences)]


def reproduces(mistake: str, failed: Judged, declares: Mapping[str, str] | None = None) -> bool:
    """Return whether a known mistake gives all wrong replies of a failed check, in the declared conventions."""
    replies = Replies(failed.log[0][0].component, declares)
    compare = Comparison(replies.spoken, CERTIFIED, replies)
    wrong = compare.telling(failed.log)
    return any(compare.fits(m.id, wrong) for m in with_variants(mistake.partition("~")[0]))


def _one(judgements: Judgements, suspects: Suspects, root: Judged, supposed: str) -> list[Mutant]:
    """Return the mutants that one mistake may be: those named before are tried first, the supposed one last."""
    return (
        one_mistake.named_before(judgements, suspects, root)
        or one_mistake.singles(judgements, suspects, root)
        or one_mistake.supposed(judgements, supposed, root)
    )


def _named(root: Judged, fitting: Sequence[Mutant]) -> Diagnosis | None:
    return diagnosis_of(root, fitting) if len(without_variants(fitting)) <= AT_MOST else None


def _plainly(diagnosis: Diagnosis | None) -> Diagnosis | None:
    return diagnosis and Diagnosis(tuple(map(without_variants, diagnosis.mistakes)), diagnosis.cases)
