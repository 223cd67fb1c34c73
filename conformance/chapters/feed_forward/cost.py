"""What a call of a feed-forward network costs."""

from attnconf.adapters.contract import FeedForwardConfig
from attnconf.conformance.chapters.feed_forward.stimuli import SHAPE
from attnconf.conformance.chapters.shared.cost import Cost, Workload, each_token
from attnconf.conformance.chapters.shared.layers import draw_feed_forward
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.subject import Subject


def workload(subject: Subject, case: Case) -> Workload:
    ratio = subject.choice("hidden-ratio")
    hidden = case.F if ratio == "free" else int(ratio) * case.E
    gated, bias = subject.choice("gated") == "yes", subject.choice("layer-bias") == "yes"
    config = FeedForwardConfig(case.E, hidden, subject.choice("activation"), gated, bias)
    network = case.seen_as(SHAPE, B=case.B, L=case.L, width=case.E, hidden=hidden)
    weights = draw_feed_forward(network, "ff", gated, bias)
    own = {name.removeprefix("ff."): w for name, w in weights.items()}
    matrices = sum(w.numel() for w in own.values() if w.ndim == 2)
    return each_token(subject, case, config, own, 2 * case.B * case.L * matrices)


COSTS = {"feed_forward": Cost(workload)}
