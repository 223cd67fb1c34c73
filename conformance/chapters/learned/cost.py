"""What a call of learned positions costs."""

from attnconf.adapters.contract import LearnedConfig
from attnconf.conformance.chapters.shared.cost import Cost, Workload, each_token
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.subject import Subject


def workload(subject: Subject, case: Case) -> Workload:
    rows = case.L + int(subject.choice("learned-offset"))
    return each_token(subject, case, LearnedConfig(case.E, case.L), {"table.weight": case.draw("table", rows, case.E)})


COSTS = {"learned": Cost(workload)}
