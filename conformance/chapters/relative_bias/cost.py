"""What a call of attention with T5's bias costs."""

from attnconf.adapters.contract import RelativeBiasAttentionConfig
from attnconf.conformance.chapters.shared.cost import Cost, Workload, with_positions
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.subject import Subject

BUCKETS = 32


def workload(subject: Subject, case: Case) -> Workload:
    table = case.draw("table.weight", BUCKETS, case.H)
    return with_positions(subject, case, RelativeBiasAttentionConfig(case.H, case.E, BUCKETS), {"table.weight": table})


COSTS = {"relative_bias_attention": Cost(workload)}
