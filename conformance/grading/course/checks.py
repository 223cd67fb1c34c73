"""Checks of requirements.md. A check is a function of a subject and a case that yields what it measured."""

from collections.abc import Iterator

from torch.nn.functional import linear

from attnconf.conformance.chapters.multi_head_attention.stimuli import LAYERS, draw_layer, run
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.evidence import Measure, close
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject

Evidence = Iterator[Measure]
ONE_KEY = tuple(case.but(name=f"one-key-{n}", S=1) for n, case in enumerate(LAYERS, 1))


@requirement("HW-SHORT-1", ONE_KEY)
def one_key_gives_every_query_its_value(subject: Subject, case: Case) -> Evidence:
    layer = draw_layer(case)
    w = layer.weights
    value = linear(layer.inputs["value"], w["v.weight"], w.get("v.bias"))
    want = linear(value, w["out.weight"], w.get("out.bias"))
    yield close(run(subject, layer).out, want.expand(-1, case.L, -1))


@requirement("HW-COPIES-1", LAYERS)
def copies_of_the_memory_change_nothing(subject: Subject, case: Case) -> Evidence:
    layer = draw_layer(case)
    copies = {name: layer.inputs[name].repeat(1, 3, 1) for name in ("key", "value")}
    yield close(run(subject, layer.with_inputs(**copies)).out, run(subject, layer).out, "out with three copies")
