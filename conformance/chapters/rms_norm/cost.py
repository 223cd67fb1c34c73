"""What a call of root mean square normalization costs."""

from attnconf.adapters.contract import RmsNormConfig
from attnconf.conformance.chapters.shared import work
from attnconf.conformance.chapters.shared.cost import Cost, Timed, Workload, each_token, tokens
from attnconf.conformance.chapters.shared.norms import eps_of
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.subject import Subject


def workload(subject: Subject, case: Case) -> Workload:
    config = RmsNormConfig(case.E, eps_of(subject, case.dtype), subject.choice("rms-norm-eps"))
    return each_token(subject, case, config, {"weight": case.draw("weight", case.E)})


COSTS = {
    "rms_norm": Cost(
        workload,
        Timed(
            work.of_copying,
            lambda case: RmsNormConfig(case.width),
            tokens,
            lambda case: {"weight": (case.width,)},
            copies=True,
        ),
    )
}
