"""What a call of layer normalization costs."""

from attnconf.adapters.contract import LayerNormConfig
from attnconf.conformance.chapters.shared import work
from attnconf.conformance.chapters.shared.cost import Cost, Timed, Workload, each_token, tokens
from attnconf.conformance.chapters.shared.norms import eps_of, shifted
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.subject import Subject
from attnconf.conformance.engine.translations.layers import divisor


def workload(subject: Subject, case: Case) -> Workload:
    names = ("weight", "bias") if shifted(subject) else ("weight",)
    config = LayerNormConfig((case.E,), eps_of(subject, case.dtype), bias=shifted(subject), **divisor(subject.choice))
    return each_token(subject, case, config, {name: case.draw(name, case.E) for name in names})


COSTS = {
    "layer_norm": Cost(
        workload,
        Timed(
            work.of_copying,
            lambda case: LayerNormConfig((case.width,)),
            tokens,
            lambda case: {"weight": (case.width,), "bias": (case.width,)},
            copies=True,
        ),
    )
}
