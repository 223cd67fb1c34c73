"""Judge a plan: all of it at once, or one planned check at a time, as pytest does."""

from collections.abc import Callable
from contextlib import nullcontext

from attnconf.conformance.engine import coverage
from attnconf.conformance.engine.coverage import Recording
from attnconf.conformance.engine.judge import Judged, judge_requirement
from attnconf.conformance.pictures.thorough import explore
from attnconf.conformance.run.plan import Plan, Planned, Run
from attnconf.conformance.run.relate import standing

NO_FILE, APART = "it is no .py file of your own", "its lines run in another process"


def judge_all(plan: Plan) -> Run:
    """Return the run of a plan, judged but not explained. Raises ValueError as ``begin`` does."""
    run = begin(plan)
    for planned in plan.planned:
        judge_one(run, planned)
    return run


def begin(plan: Plan) -> Run:
    """Return a run without outcomes yet. Raises ValueError if throughput is asked for and the device has no cases."""
    run = Run(plan)
    _watch(run)
    if plan.settings.throughput:
        from attnconf.conformance.timing.run import Races

        run.races = Races(plan.settings.throughput, plan.settings.device, plan.judgeable,
                          lambda implementation, component: standing(run, implementation, component))  # fmt: skip
        run.races.make_plan()
    return run


def _watch(run: Run) -> None:
    """Record the executed lines of implementations that are judged by a full profile, or of all if asked for."""
    asked = run.settings.blind_spots
    wanted = [i for i in run.plan.judgeable if asked or run.plan.profiles[i.name].name.startswith("full-")]
    if wanted and not coverage.available():
        run.remarks.append(coverage.MISSING)
    elif wanted:
        run.recording = Recording([i.source for i in wanted if i.apart is None])
        unseen = [i for i in wanted if run.recording.coverage(i.source) is None and asked]
        run.remarks += [f"no blind spots of {i.name}: {APART if i.apart else NO_FILE}" for i in unseen]


def judge_one(run: Run, planned: Planned) -> Judged:
    """Judge one planned check, and keep its outcome in the run."""
    settings, subject = run.settings, planned.subject
    keep: Callable[[str], bool] | None = None if planned.kept is None else planned.kept.__contains__
    with run.recording or nullcontext():
        judged = judge_requirement(subject, planned.checked, settings.seed, settings.device, keep)
        if judged.outcome not in ("fail", "pass"):
            judged.log = []
        elif settings.thorough:
            cases = planned.checked.cases(subject, settings.seed, settings.device)
            judged.explored = explore(subject, planned.checked, cases)
    run.outcomes[planned.id] = judged
    return judged
