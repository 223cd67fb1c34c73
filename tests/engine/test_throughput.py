"""What a call costs, judged: right implementations of all kinds pass, claims are checked, and only who asks is told."""

import math

import pytest
import torch

from attnconf.conformance.chapters.contents import all_checks
from attnconf.conformance.engine.judge import judge_requirement
from attnconf.conformance.engine.mutant import apply
from attnconf.conformance.engine.request import Implementation
from attnconf.conformance.engine.subject import Subject
from attnconf.conformance.run import judge
from attnconf.conformance.run.implementations import load
from attnconf.conformance.run.judging import judge_all
from attnconf.conformance.run.plan import Settings, make_plan, only
from attnconf.conformance.run.record import record
from attnconf.spec import profiles

torch.set_num_threads(1)

COSTS = profiles.load("throughput").entries
GROWTH = ("PERF-MEM-1", "PERF-MEM-2")


def judged(implementation, component, lens="direct"):
    """Return what came of each requirement of the chapter on a component."""
    subject = Subject(implementation, component, lens)
    return {
        e.requirement: judge_requirement(subject, all_checks()[e.requirement])
        for e in COSTS
        if e.component == component
    }


def failed(implementation, component="attention"):
    return {name: j.message for name, j in judged(implementation, component).items() if j.outcome != "pass"}


def shipped(name):
    return next(i for i in load(name.partition(":")[0]) if i.name == name)


def claiming(attend, **declares):
    """Return attention that a plain function computes."""
    build = lambda config, weights: lambda query, key, value: attend(query, key, value)  # noqa: E731  # it is short
    return Implementation("mine", {"attention": build}, {"value-width": "free", **declares})


def textbook(q, k, v):
    return torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), dim=-1) @ v


def in_blocks(q, k, v):
    """256 queries at a time."""
    return torch.cat([textbook(block, k, v) for block in q.split(256, dim=-2)], dim=-2)


class InBlocks(torch.autograd.Function):
    """Linear in memory, forward and backward: 256 queries at a time, computed again for the gradients."""

    @staticmethod
    def forward(ctx, q, k, v):
        ctx.save_for_backward(q, k, v)
        return in_blocks(q, k, v)

    @staticmethod
    def backward(ctx, slope):
        q, k, v = ctx.saved_tensors
        grads = [torch.empty_like(q), torch.zeros_like(k), torch.zeros_like(v)]
        for at in range(0, q.shape[-2], 256):
            rows = slice(at, at + 256)
            leaves = [x.detach().requires_grad_() for x in (q[..., rows, :], k, v)]
            with torch.enable_grad():
                loss = (textbook(*leaves) * slope[..., rows, :]).sum()
            found = torch.autograd.grad(loss, leaves)
            grads[0][..., rows, :] = found[0]
            grads[1] += found[1]
            grads[2] += found[2]
        return tuple(grads)


class LinearInForwardOnly(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v):
        ctx.save_for_backward(q, k, v)
        return in_blocks(q, k, v)

    @staticmethod
    def backward(ctx, slope):
        leaves = [x.detach().requires_grad_() for x in ctx.saved_tensors]
        with torch.enable_grad():
            loss = (textbook(*leaves) * slope).sum()
        return torch.autograd.grad(loss, leaves)


def with_a_mask(q, k, v):
    """Fused, but with a mask that lets everything through: one byte for each pair of tokens."""
    keep = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool)
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=keep)


# -- right ones


@pytest.mark.parametrize(("name", "component"), [
    ("reference", "attention"), ("reference", "multi_head_attention"), ("reference", "encoder"),
    ("torch_sdpa:math", "attention"), ("torch_sdpa:math", "multi_head_attention"),
    ("torch_sdpa:flash", "attention"), ("torch_sdpa:flash", "multi_head_attention"),
    ("torch_nn", "multi_head_attention"), ("torch_nn", "encoder_layer"), ("torch_nn", "layer_norm"),
    ("textbook_modules", "encoder"), ("einops_separate", "multi_head_attention"),
])  # fmt: skip
def test_right_implementations_cost_what_they_should(name, component):
    assert not failed(shipped(name), component)


@pytest.mark.parametrize("component", sorted({e.component for e in COSTS} - {"attention", "multi_head_attention"}))
def test_the_flops_of_the_reference_are_those_of_the_formula(component):
    found = judged(apply([]), component)
    for name, times in (
        ("PERF-FLOP-1", 1),
        ("PERF-FLOP-2", 2 / 3),
    ):  # what is allowed is three times, what it takes two
        if name in found:
            (case,) = found[name].cases
            assert case.error == times * case.bound > 0


# -- claims of linear memory


def test_a_claim_that_holds_is_verified():
    found = judged(shipped("torch_sdpa:flash"), "attention")
    assert [found[name].cases[0].error for name in GROWTH] == pytest.approx([1, 1], abs=1e-3)
    assert [found[name].cases[0].bound for name in GROWTH] == [1.15, 1.15]


def test_work_in_blocks_is_linear():
    assert not failed(claiming(lambda q, k, v: InBlocks.apply(q, k, v), memory="linear"))


def test_the_textbook_is_not_linear_in_either_pass():
    found = failed(claiming(textbook, memory="linear"))
    assert set(found) == set(GROWTH)
    assert "forward: " in found["PERF-MEM-1"]
    assert "for 944 tokens, " in found["PERF-MEM-1"]
    assert "for 1888: grows with length^2.00, want at most 1" in found["PERF-MEM-1"]
    assert "backward: " in found["PERF-MEM-2"]


def test_what_is_linear_in_forward_only_is_found():
    wrong = claiming(lambda q, k, v: LinearInForwardOnly.apply(q, k, v), memory="linear")
    assert set(failed(wrong)) == {"PERF-MEM-2"}


def test_a_byte_for_each_pair_is_found():
    assert set(failed(claiming(with_a_mask, memory="linear", **{"value-width": "key"}))) == set(GROWTH)


def test_without_a_claim_all_of_these_are_right():
    for attend in (textbook, in_blocks, lambda q, k, v: LinearInForwardOnly.apply(q, k, v)):
        assert not failed(claiming(attend))


# -- messages


def test_a_loop_is_named_by_its_operations():
    def over_heads(q, k, v):
        return torch.stack([textbook(q[:, h], k[:, h], v[:, h]) for h in range(q.shape[1])], dim=1)

    found = failed(claiming(over_heads))
    assert set(found) == {"PERF-OPS-2"}
    assert found["PERF-OPS-2"] == (
        "forward: 13 operations for 3 heads, 25 for 6: aten.bmm 6 → 12, aten.div 3 → 6, aten._softmax 3 → 6"
    )


def test_flops_beyond_the_formula_are_told():
    def twice(q, k, v):
        return textbook(q, k, v) + 0 * textbook(q, k, v).detach()

    found = failed(claiming(twice))
    assert set(found) == {"PERF-FLOP-1"}
    assert found["PERF-FLOP-1"].startswith("forward: ")
    assert "2 times the " in found["PERF-FLOP-1"]


def test_an_error_at_some_length_is_said_and_judged_elsewhere():
    def short_only(q, k, v):
        if q.shape[-2] > 20:
            raise IndexError("too long")
        return textbook(q, k, v)

    found = judged(claiming(short_only), "attention")
    assert {name for name, j in found.items() if j.outcome == "unsupported"} == {
        "PERF-FLOP-1", "PERF-FLOP-2", "PERF-MEM-1", "PERF-MEM-2", "PERF-MEM-3",
    }  # fmt: skip
    assert found["PERF-MEM-1"].message == "59 tokens: raised IndexError: too long"


# -- who is judged


def plan(implementation, **settings):
    return make_plan([implementation], Settings(**settings))


def planned_costs(found):
    return [p for p in found.planned if p.checked.requirement.chapter == "throughput"]


def test_costs_are_judged_only_where_throughput_is_asked_for():
    right = shipped("torch_sdpa:math")
    assert not planned_costs(plan(right))
    asked = plan(right, throughput="smoke")
    assert {p.entry.component for p in planned_costs(asked)} == {"attention", "multi_head_attention"}
    assert len(asked.planned) == len(plan(right).planned) + len(planned_costs(asked))
    assert all(p.entry.optional for p in planned_costs(asked))


def test_self_attention_is_judged_as_such():
    (one,) = load("fused_per_head")
    asked = plan(one, throughput="smoke")
    assert {p.entry.lens for p in planned_costs(asked)} == {"direct-self"}
    found = judge_all(only(asked, planned_costs(asked).__contains__))
    assert {judged.outcome for judged in found.outcomes.values()} == {"pass"}


def test_what_costs_too_much_is_a_deviation_and_is_compared_with_no_mistake():
    costly = claiming(lambda q, k, v: textbook(q, k, v) + 0 * textbook(q, k, v).detach())
    run = judge([costly], Settings(profile="throughput"))
    assert not run.diagnoses
    (verdict,) = record(run)["verdicts"]
    assert verdict["verdict"] == "conformant"
    assert verdict["counts"]["fail"] == 1
