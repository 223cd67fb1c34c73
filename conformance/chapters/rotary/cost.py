"""What a call of rotary positions costs, alone and in attention."""

from attnconf.adapters.contract import RotaryAttentionConfig, RotaryConfig
from attnconf.conformance.chapters.shared import work
from attnconf.conformance.chapters.shared.cost import Cost, Shapes, Timed, Workload, with_positions
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.request import Call
from attnconf.conformance.engine.subject import Subject


def rotary(subject: Subject, case: Case) -> Workload:
    x = case.draw("x", case.B, case.H, case.L, case.E)
    config = RotaryConfig(case.E, case.E, max_len=case.L, dtype=case.dtype, device=case.device)
    return Call(subject.component, config, {}, {"x": x}, tuple(x.shape)), 0


def rotary_attention(subject: Subject, case: Case) -> Workload:
    config = RotaryAttentionConfig(case.H, case.E, max_len=case.L, dtype=case.dtype, device=case.device)
    return with_positions(subject, case, config, {})


def config(case: work.Sizes) -> RotaryConfig:
    return RotaryConfig(case.E, case.E, max_len=case.L, dtype=case.torch_dtype, device=case.device)


def inputs(case: work.Sizes) -> Shapes:
    return {"x": (case.B, case.H, case.L, case.E)}


COSTS = {
    "rotary": Cost(rotary, Timed(work.of_copying, config, inputs, copies=True)),
    "rotary_attention": Cost(rotary_attention),
}
