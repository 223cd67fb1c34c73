"""What a rubric can ask of anybody: the plan of a batch, fixed before a submission runs.

It is what the reference passes, judged with the batch's own numbers: so the suite is seen to be sound on this machine,
and nothing is asked that nothing satisfies. What computes nothing satisfies some of it by definition (the shape is
right whatever the numbers): only the rest tells that something is computed.
"""

from attnconf.conformance.chapters.contents import all_vacuous
from attnconf.conformance.grading.rubric import Rubric
from attnconf.conformance.grading.scoring import Planned
from attnconf.conformance.run import implementations
from attnconf.conformance.run.judging import judge_all
from attnconf.conformance.run.plan import Settings, make_plan, only

REFERENCE = "reference"
NOTHING = frozenset({"zeros", "echo", "mean", "constant", "ones"})  # ways to compute nothing


class Unsound(Exception):
    """The reference itself fails, so nobody can be judged; the message says what."""


def planned(rubric: Rubric, seed: int) -> list[Planned]:
    """Return what a rubric's items ask and the reference passes. Raises Unsound if it fails anything of that."""
    asked = {(item.component, requirement) for item in rubric.items for requirement in item.requirements}
    outcomes: dict[tuple[str, str], set[str]] = {}
    for implementation in implementations.load(REFERENCE):
        plan = make_plan([implementation], Settings(profile=rubric.profile, seed=seed))
        run = judge_all(only(plan, lambda p: (p.entry.component, p.entry.requirement) in asked))
        for p in run.plan.planned:
            judged = run.outcomes[p.id]
            if judged.outcome not in ("pass", "not-applicable"):
                raise Unsound(f"the reference itself fails {p.entry.requirement} here: {judged.message}")
            outcomes.setdefault((p.entry.component, p.entry.requirement), set()).add(judged.outcome)
    return [
        Planned(item.component, requirement, tells(item.component, requirement))
        for item in rubric.items
        for requirement in item.requirements
        if "pass" in outcomes.get((item.component, requirement), ())
    ]


def tells(component: str, requirement: str) -> bool:
    """Return whether everything that computes nothing fails a requirement, in every case."""
    return not any(
        NOTHING & set(entry.controls)
        and requirement in entry.requirements.split()
        and component in (entry.components or (component,))
        for entry in all_vacuous()
    )
