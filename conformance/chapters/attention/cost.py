"""What a call of attention costs."""

from attnconf.adapters.contract import AttentionConfig
from attnconf.conformance.chapters.shared import work
from attnconf.conformance.chapters.shared.cost import Cost, Shapes, Timed, Workload, flops_of_attention
from attnconf.conformance.chapters.shared.layers import causality
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.request import Call
from attnconf.conformance.engine.subject import Subject


def workload(subject: Subject, case: Case) -> Workload:
    q = case.draw("q", case.B, case.H, case.L, case.E)
    k = case.draw("k", case.B, case.H, case.S, case.E)
    v = case.draw("v", case.B, case.H, case.S, case.F)
    config = AttentionConfig(causal=causality(subject))
    inputs = {"query": q, "key": k, "value": v}
    call = Call(subject.component, config, {}, inputs, (*q.shape[:-1], case.F))
    return call, flops_of_attention(case, case.S, case.F)


def inputs(case: work.Sizes) -> Shapes:
    keys = (case.B, case.kv_heads or case.H, case.keys, case.E)
    return {"query": (case.B, case.H, case.L, case.E), "key": keys, "value": keys}


COSTS = {
    "attention": Cost(workload, Timed(work.of_attention, lambda case: AttentionConfig(causal=case.causal), inputs))
}
