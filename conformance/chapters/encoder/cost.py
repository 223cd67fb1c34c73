"""What a call of an encoder layer, or of a stack of two, costs."""

from attnconf.adapters.contract import EncoderLayerConfig
from attnconf.conformance.chapters.encoder.stimuli import SHAPE
from attnconf.conformance.chapters.shared import layers, work
from attnconf.conformance.chapters.shared.cost import Cost, Shapes, Timed, Workload, of_block, projections, tokens
from attnconf.conformance.chapters.shared.placements import best_known
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.subject import Subject


def _layer(case: Case) -> Case:
    return case.seen_as(SHAPE, B=case.B, heads=case.H, L=case.L, head_width=case.E, hidden=case.F)


def encoder_layer(subject: Subject, case: Case) -> Workload:
    return of_block(case, layers.encoder_layer(subject, _layer(case), best_known(subject)[-1]), 1)


def encoder(subject: Subject, case: Case) -> Workload:
    block = layers.encoder(subject, _layer(case), best_known(subject)[-1], layers.endings(subject)[0], layers=2)
    return of_block(case, block, 2)


def config(case: work.Sizes) -> EncoderLayerConfig:
    return EncoderLayerConfig(case.width, case.H, case.hidden, causal=case.causal)


def weights(case: work.Sizes) -> Shapes:
    width, hidden = case.width, case.hidden
    return {
        **{f"attn.{name}": shape for name, shape in projections(case).items()},
        "ff.up.weight": (hidden, width), "ff.up.bias": (hidden,),
        "ff.down.weight": (width, hidden), "ff.down.bias": (width,),
        **{f"norm{i}.{name}": (width,) for i in (1, 2) for name in ("weight", "bias")},
    }  # fmt: skip


COSTS = {
    "encoder_layer": Cost(encoder_layer, Timed(work.of_layer, config, tokens, weights, sublayers=5)),
    "encoder": Cost(encoder),
}
