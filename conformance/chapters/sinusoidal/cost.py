"""What a call of sinusoidal positions costs."""

from attnconf.adapters.contract import SinusoidalConfig
from attnconf.conformance.chapters.shared.cost import Cost, Workload, each_token
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.subject import Subject


def workload(subject: Subject, case: Case) -> Workload:
    return each_token(subject, case, SinusoidalConfig(case.E, case.L, dtype=case.dtype, device=case.device), {})


COSTS = {"sinusoidal": Cost(workload)}
