"""What a call of attention with ALiBi costs."""

from attnconf.adapters.contract import AlibiAttentionConfig
from attnconf.conformance.chapters.shared.cost import Cost, Workload, with_positions
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.subject import Subject


def workload(subject: Subject, case: Case) -> Workload:
    return with_positions(subject, case, AlibiAttentionConfig(case.H, case.E, dtype=case.dtype, device=case.device), {})


COSTS = {"alibi_attention": Cost(workload)}
