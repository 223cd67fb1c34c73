"""A run: plan -> judge -> relate -> explain -> verdict -> record, functions over the data of ``plan.Run``.

One generator of (implementation, component, lens, requirement), ``plan.make_plan``, stands behind pytest,
``attnconf run``, ``attnconf.check`` and the kill matrix.
"""

from collections.abc import Sequence

from attnconf.conformance.engine.request import Implementation, Unjudgeable
from attnconf.conformance.run.explain import explain_failures
from attnconf.conformance.run.judging import judge_all
from attnconf.conformance.run.plan import Run, Settings, make_plan


def judge(implementations: Sequence[Implementation | Unjudgeable], settings: Settings | None = None) -> Run:
    """Return the run of all there is to judge, its failures explained.

    Raises SpecError or DeviationError if the suite itself is not in order, ValueError if throughput is to be measured
    on a device without cases.
    """
    run = judge_all(make_plan(implementations, settings or Settings()))
    explain_failures(run)
    return run
