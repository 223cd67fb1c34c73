"""What a call of multi-head attention costs."""

from attnconf.adapters.contract import MultiHeadAttentionConfig
from attnconf.conformance.chapters.multi_head_attention.stimuli import SHAPE, layer_for
from attnconf.conformance.chapters.shared import work
from attnconf.conformance.chapters.shared.cost import Cost, Shapes, Timed, Workload, flops_of_attention, projections
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.subject import Subject


def workload(subject: Subject, case: Case) -> Workload:
    layer = layer_for(subject, case.seen_as(SHAPE, B=case.B, H=case.H, L=case.L, E=case.E, S=case.S))
    query = layer.inputs["query"]
    keys = layer.inputs.get("key", query).shape[1]
    lengths = {"q": case.L, "k": keys, "v": keys, "out": case.L}
    products = sum(2 * case.B * n * layer.weights[f"{name}.weight"].numel() for name, n in lengths.items())
    return layer, products + flops_of_attention(case, keys, case.E)


def config(case: work.Sizes) -> MultiHeadAttentionConfig:
    width = case.width
    return MultiHeadAttentionConfig(width, case.H, case.E, width, width, width, causal=case.causal)


def inputs(case: work.Sizes) -> Shapes:
    return {"query": (case.B, case.L, case.width)}


COSTS = {"multi_head_attention": Cost(workload, Timed(work.of_layer, config, inputs, projections, sublayers=3))}
