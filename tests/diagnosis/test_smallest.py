"""The smallest example under a failure: that it is small, still fails, says what it should, and never costs much."""

import json
import math
from dataclasses import replace

import jsonschema
import pytest
import torch

from attnconf.conformance.chapters.contents import all_checks, all_mutants, check_of
from attnconf.conformance.chapters.multi_head_attention.stimuli import SHAPE as LAYER
from attnconf.conformance.chapters.rotary.stimuli import SHAPE as ROTARY
from attnconf.conformance.engine.judge import judge_requirement
from attnconf.conformance.engine.mutant import apply
from attnconf.conformance.engine.request import Implementation
from attnconf.conformance.engine.subject import Subject
from attnconf.conformance.pictures import illustrate, smallest
from attnconf.conformance.pictures.trace import described
from attnconf.conformance.run.explain import draw
from attnconf.conformance.run.judging import judge_all
from attnconf.conformance.run.plan import Settings, make_plan
from attnconf.conformance.run.record import record
from attnconf.conformance.run.relate import relate
from attnconf.reports import examples
from attnconf.reports import record as records

torch.set_num_threads(1)
SCHEMA = json.loads(records.PAGE.read_text(encoding="utf-8"))


def found(implementation, name, component="attention", lens="direct", seconds=10.0):
    """Return the smallest example of a requirement's failure."""
    subject, checked = Subject(implementation, component, lens), check_of(name, component)
    judged = judge_requirement(subject, checked)
    case = next(c for c in checked.cases(subject, 0, "cpu") if c.name == judged.failing.name)
    reference = Subject(apply([]), component, lens)
    return smallest.smallest(subject, reference, checked, case, judged.failing.failure.reason, seconds)


def lines(implementation, name, component="attention", lens="direct"):
    """Return the text of an example."""
    example = described(found(implementation, name, component, lens), Subject(implementation, component, lens))
    return examples.example({"example": example})


def attention(compute):
    """Return an implementation of attention alone, ``compute(q, k, v)``."""
    return Implementation(
        "mine", {"attention": lambda config, weights: lambda query, key, value, **given: compute(query, key, value)}
    )


def unscaled(q, k, v):
    return torch.softmax(q @ k.transpose(-1, -2), dim=-1) @ v


def over_queries(q, k, v):
    scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
    return torch.nn.functional.softmax(scores, dim=-2) @ v


def by_hand(q, k, v):
    e = (q @ k.transpose(-1, -2)).exp()
    return e / e.sum(dim=-1, keepdim=True) @ v


def test_a_wrong_scale_is_seen_in_what_goes_into_the_softmax():
    assert lines(attention(unscaled), "ATT-SCALE-1") == [
        "q = [[0, -1]]   k = [[0, 0], [0, -1]]   v = [[1, 0], [0, 1]]",
        "scores   reference [[0, 0.707]]   yours [[0, 1]]   <- first difference",
        "weights  reference [[0.33, 0.67]]   yours [[0.269, 0.731]]",
        "out      reference [[0.33, 0.67]]   yours [[0.269, 0.731]]",
    ]


@pytest.mark.parametrize(
    "softmax", [torch.softmax, torch.nn.functional.softmax, torch.special.softmax, torch.Tensor.softmax]
)
def test_every_softmax_of_torch_is_seen(softmax):
    text = lines(attention(lambda q, k, v: softmax(q @ k.transpose(-1, -2), dim=-1) @ v), "ATT-SCALE-1")
    assert text[1].startswith("scores")
    assert text[1].endswith("yours [[0, 1]]   <- first difference")


def test_a_wrong_axis_is_seen_in_what_comes_out_of_it():
    text = lines(attention(over_queries), "ATT-ROWS-1")
    assert [line.partition("yours")[2] for line in text[1:]] == [
        " the same", " [[1, 1]]   <- first difference", " [[2]]"
    ]  # fmt: skip


def test_of_a_softmax_by_hand_nothing_is_said():
    text = lines(attention(by_hand), "ATT-SCALE-1")
    assert text[1:] == [
        "scores   reference [[0, 0.707]]",
        "weights  reference [[0.33, 0.67]]",
        "out      reference [[0.33, 0.67]]   yours [[0.269, 0.731]]   <- differs",
    ]


def test_a_missing_refusal_is_shown_beside_the_words_of_the_reference():
    text = lines(apply([all_mutants()["ATT-lengths-cut"]]), "ATT-ERROR-1")
    assert "reference raised ValueError: there are 2 keys, but 1 values   yours [[0]]" in text[-1]


def test_a_lost_gradient_is_shown():
    text = lines(apply([all_mutants()["ATT-query-detached"]]), "ATT-GRAD-1")
    assert text[-1].startswith("gradient of q")
    assert text[-1].endswith("<- first difference")
    assert "yours the same" in text[-2]


def test_projections_are_shown():
    text = lines(apply([all_mutants()["MHA-no-value-bias"]]), "MHA-BIAS-1", "multi_head_attention")
    assert any("v.bias = [" in line for line in text)
    assert any(line.startswith("context") for line in text)


def test_what_goes_into_fused_attention_is_shown():
    def forward(query, key, value, **given):
        q = query @ weights_of["q.weight"].T  # the bias forgotten
        k, v = (x @ weights_of[f"{n}.weight"].T + weights_of[f"{n}.bias"] for n, x in (("k", key), ("v", value)))
        q, k, v = (x.unflatten(-1, (heads[0], -1)).transpose(1, 2) for x in (q, k, v))
        out = torch.nn.functional.scaled_dot_product_attention(q, k, v)
        return out.transpose(1, 2).flatten(2) @ weights_of["out.weight"].T + weights_of["out.bias"]

    weights_of, heads = {}, [1]

    def build(config, weights):
        weights_of.update(weights)
        heads[0] = config.num_heads
        return forward

    mine = Implementation("mine", {"multi_head_attention": build})
    text = lines(mine, "MHA-BIAS-1", "multi_head_attention")
    assert any(line.startswith("q ") and line.endswith("<- first difference") for line in text)


def test_weights_that_pick_query_key_and_value_out_of_a_token_are_not_shown():
    text = lines(apply([all_mutants()["MASK-causal-peeking"]]), "MASK-CAUSAL-1", "multi_head_attention", "self")
    assert not any("weight =" in line for line in text)
    assert any("the weights pick them out" in line for line in text)


@pytest.mark.parametrize(
    ("mutant", "name", "component"),
    [
        ("ROPE-reversed", "ROPE-DIR-1", "rotary"), ("SIN-wrapped", "SIN-BEYOND-1", "sinusoidal"),
        ("LN-last-axis-only", "LN-AXES-1", "layer_norm"), ("FF-no-activation", "FF-RELU-1", "feed_forward"),
        ("ALIBI-from-one", "ALIBI-SLOPE-1", "alibi"),
    ],
)  # fmt: skip
def test_other_components_have_examples_too(mutant, name, component):
    assert "<- differs" in lines(apply([all_mutants()[mutant]]), name, component)[-1]


def test_numbers_are_small_and_whole_and_the_case_still_fails():
    example = found(apply([all_mutants()["MASK-first-sample"]]), "MASK-SAMPLE-1")
    assert isinstance(example.case, smallest.Plain)
    assert (example.case.B, example.case.H, example.case.L) == (2, 1, 1)
    q = example.case.q
    assert torch.equal(q, q.round())
    assert float(q.abs().max()) <= 2
    assert example.result.outcome == "fail"


def test_weights_of_projections_are_whole():
    plain = smallest.Plain("whole", LAYER, {"B": 2, "H": 3, "L": 4, "E": 2, "S": 5})
    drawn = plain.draw("q.weight", 6, 6) * 1.5 / 6**0.5
    assert torch.allclose(drawn, drawn.round(), atol=1e-12)


def test_nothing_is_found_where_nothing_is_wrong():
    checked, subject = all_checks()["ATT-SCALE-1"], Subject(apply([]), "attention", "direct")
    case = checked.cases(subject, 0, "cpu")[0]
    assert smallest.smallest(subject, subject, checked, case, "value") is None


@pytest.mark.parametrize("seconds", [0.0, math.inf])
def test_nothing_is_called_when_the_time_is_over(seconds):
    calls = []

    def counted(q, k, v):
        calls.append(1)
        return unscaled(q, k, v)

    checked, subject = all_checks()["ATT-SCALE-1"], Subject(attention(counted), "attention", "direct")
    case = checked.cases(subject, 0, "cpu")[0]
    smallest.smallest(subject, Subject(apply([]), "attention", "direct"), checked, case, "value", seconds)
    assert bool(calls) == (seconds > 0)


def test_calls_are_counted(monkeypatch):
    monkeypatch.setattr(smallest, "RUNS", 3)
    calls = []

    def counted(q, k, v):
        calls.append(1)
        return unscaled(q, k, v)

    checked, subject = all_checks()["ATT-ROWS-1"], Subject(attention(counted), "attention", "direct")
    smallest.smallest(subject, subject, checked, checked.cases(subject, 0, "cpu")[0], "value")
    assert len(calls) <= 2 * smallest.RUNS


# -- in a run


def drawn(implementation):
    """Return the record of a run with its pictures."""
    run = judge_all(make_plan([implementation], Settings()))
    run.pictures = draw(run, relate(run))
    return record(run)


def test_a_right_implementation_pays_nothing_and_has_none(monkeypatch):
    monkeypatch.setattr(illustrate, "apply", lambda mutants: pytest.fail("nothing is to be drawn"))
    reference = apply([])
    content = drawn(replace(reference, components={"attention": reference.components["attention"]}))
    assert not any(r["example"] or r["leaks"] for r in content["results"])


def test_at_most_three_failures_of_a_run_are_drawn():
    content = drawn(attention(lambda q, k, v: (q.sum() + v).cumsum(dim=-1)[:, :, :1].expand_as(q)))
    shown = [r["requirement"] for r in content["results"] if r["example"]]
    assert 1 <= len(shown) <= illustrate.AT_MOST
    jsonschema.Draft202012Validator(SCHEMA).validate(content)


@pytest.mark.parametrize("kind", ["raising", "random", "stateful", "none", "dying of a tensor mode"])
def test_whatever_an_implementation_does_nothing_is_raised(kind):
    calls = []

    def compute(q, k, v):
        calls.append(1)
        out = unscaled(q, k, v)
        if kind == "raising" and len(calls) > 40:
            raise SystemExit(3)
        if kind == "random":
            out = out * torch.rand(())
        if kind == "stateful":
            out = out + len(calls)
        if kind == "dying of a tensor mode" and torch.overrides._get_current_function_mode() is not None:
            raise RuntimeError("no modes, please")
        return None if kind == "none" and len(calls) > 40 else out

    content = drawn(attention(compute))
    jsonschema.Draft202012Validator(SCHEMA).validate(content)


def test_a_fault_of_the_drawing_is_no_fault_of_the_run(monkeypatch):
    def fails(*given):
        raise RuntimeError("no picture today")

    monkeypatch.setattr(illustrate, "described", fails)
    content = drawn(attention(unscaled))
    assert not any(r["example"] for r in content["results"])
    assert any(r["outcome"] == "fail" for r in content["results"])


def test_a_case_is_drawn_whole_whatever_it_was():
    assert smallest.resized(ROTARY.case("some", B=2, H=3, L=5, E=6), E=3).E == 4
    assert smallest.resized(LAYER.case("layer", B=2, H=3, L=4, E=7, S=5), H=1).embed == 7
