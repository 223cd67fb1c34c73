"""Counting without a clock: exact FLOPs, slopes of 1 and 2, operations that compute; and what is none of the call's."""

import itertools
import math
import subprocess
import sys

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from attnconf.adapters import bind
from attnconf.adapters.contract import AttentionConfig
from attnconf.conformance.engine.boundary import call
from attnconf.conformance.engine.evidence import Failure, Unsupported
from attnconf.conformance.engine.request import Implementation, Request
from attnconf.conformance.worker.counter import Counting

torch.set_num_threads(1)


def textbook(q, k, v):
    return torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), dim=-1) @ v


def fused(q, k, v):
    return F.scaled_dot_product_attention(q, k, v)


def counted(attend, q, k, v, train=True):
    """Return what forward, and backward where it is asked for, of an attention function did."""
    q, k, v = (x.clone().requires_grad_(train) for x in (q, k, v))
    counting = Counting([q, k, v])
    with counting:
        out = attend(q, k, v)
    forward = counting.take()
    if not train:
        return forward
    with counting:
        torch.autograd.grad(out.sum(), [q, k, v])
    return forward, counting.take()


def peaks(attend, length):
    """Return the peak memory of forward without a graph, forward and backward on so many tokens, in bytes."""
    x = torch.randn(1, 2, length, 2)
    forward, backward = counted(attend, x, x, x)
    return counted(attend, x, x, x, train=False).peak_bytes, forward.peak_bytes, backward.peak_bytes


# -- memory


@pytest.mark.parametrize(("attend", "slope"), [(textbook, 2.0), (fused, 1.0)])
def test_the_slope_of_memory_is_one_or_two_in_every_pass(attend, slope):
    measured = [peaks(attend, length) for length in (256, 512, 1024)]
    for short, long in itertools.pairwise(measured):
        assert [math.log2(b / a) for a, b in zip(short, long, strict=True)] == pytest.approx([slope] * 3, abs=0.012)


def test_the_memory_of_the_textbook_is_that_of_its_matrices():
    """Forward: two matrices of scores at a time. Backward: the weights, their gradient, and that of the scores."""
    L, matrix = 512, 2 * 512**2 * 4
    forward, kept, backward = (x / matrix for x in peaks(textbook, L))
    assert (forward, kept) == (2, 2)
    assert backward == pytest.approx(3, abs=0.02)


def test_the_memory_of_fused_attention_is_its_output_and_a_number_for_each_query():
    assert peaks(fused, 512)[0] == 2 * 512 * (2 + 1) * 4


def test_memory_is_counted_once_and_until_it_is_freed():
    x = torch.zeros(1000)
    counting = Counting([x])
    with counting:
        one = x + 1
        view = one.view(10, 100)[2:]
        one.add_(1)
        assert counting.take().peak_bytes == 4000
        del one
        assert view.sum() == 1600
        assert counting.take().peak_bytes == 4004 + 1  # the sum, and whether it is equal
        del view
        x.mul(2)
    assert counting.take().peak_bytes == 4000  # first is gone what was there, then the product comes


def test_what_was_there_before_is_not_counted():
    x, table = torch.zeros(10, 10), torch.ones(10, 10)
    counting = Counting([x])
    with counting:
        table.t()[1:].unsqueeze(0)
        x.fill_(2.0)
    work = counting.take()
    assert (work.peak_bytes, work.operations) == (0, {"aten.fill_": 1})


def test_a_tensor_made_of_numbers_is_counted():
    counting = Counting([])
    with counting:
        torch.tensor([[1.0, 2.0]] * 50)
    assert counting.take().peak_bytes == 400


# -- FLOPs


@pytest.mark.parametrize(("attend", "backward"), [(textbook, 2.0), (fused, 2.5)])
def test_flops_are_exactly_those_of_the_formula(attend, backward):
    B, H, L, S, E, value = 2, 3, 5, 7, 4, 4 if attend is fused else 6
    q, k, v = torch.randn(B, H, L, E), torch.randn(B, H, S, E), torch.randn(B, H, S, value)
    need = 2 * B * H * L * S * (E + value)
    forward, back = counted(attend, q, k, v)
    assert (forward.flops, back.flops) == (need, backward * need)


@pytest.mark.parametrize(("fast", "operation"), [
    (nn.MultiheadAttention(8, 2, batch_first=True), "aten._native_multi_head_attention"),
    (nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), "aten._transformer_encoder_layer_fwd"),
])  # fmt: skip
def test_flops_of_the_fast_path_are_those_of_the_slow_one(fast, operation):
    x, found = torch.randn(3, 5, 8), []
    given = (x, x, x) if isinstance(fast, nn.MultiheadAttention) else (x,)
    for slow in (False, True):
        counting = Counting([x])
        with torch.set_grad_enabled(slow), counting:
            fast.eval()(*given)
        found.append(counting.take())
    assert operation in found[0].operations
    assert operation not in found[1].operations
    assert found[0].flops == found[1].flops > 0


# -- operations


def test_views_are_no_operations():
    forward, _ = counted(textbook, *torch.randn(3, 2, 3, 5, 4))
    assert forward.operations == {"aten.bmm": 2, "aten.div": 1, "aten._softmax": 1}


def test_each_turn_counts_from_nothing():
    x = torch.randn(3)
    counting = Counting([x])
    with counting:
        x.exp()
    counting.take()
    with counting:
        x.log()
    assert counting.take().operations == {"aten.log": 1}


# -- through the door


def attention(attend):
    return Implementation("mine", {"attention": lambda config, weights: attend})


def ask(attend, **options):
    q, k, v = torch.randn(3, 1, 2, 6, 4)
    inputs = {"query": q, "key": k, "value": v}
    return call(attention(attend), Request("attention", AttentionConfig(), {}, inputs, (1, 2, 6, 4), **options))


def test_counts_come_with_the_reply():
    counts = ask(textbook, counted=True, cotangent=torch.ones(1, 2, 6, 4), wrt=("query", "key", "value")).counts
    assert counts.forward.operations == {"aten.bmm": 2, "aten.div": 1, "aten._softmax": 1}
    assert counts.backward.flops == 2 * counts.forward.flops


def test_nothing_is_counted_where_it_is_not_asked_for():
    assert ask(textbook).counts is None


def test_neither_building_nor_earlier_calls_are_counted():
    def build(config, weights):
        torch.randn(1000, 1000) @ torch.randn(1000, 1000)
        return textbook

    x = torch.randn(1, 2, 6, 4)
    inputs = {"query": x, "key": x, "value": x}
    request = Request("attention", AttentionConfig(), {}, inputs, (1, 2, 6, 4), counted=True, before=(inputs,))
    counts = call(Implementation("mine", {"attention": build}), request).counts
    assert counts.forward.operations == {"aten.bmm": 2, "aten.div": 1, "aten._softmax": 1}
    assert counts.backward is None


def test_what_another_library_computes_cannot_be_counted():
    def in_numpy(q, k, v):
        q, k, v = (x.numpy() for x in (q, k, v))
        return torch.from_numpy(q + k + v).clone()

    with pytest.raises(Unsupported, match="no operation of PyTorch leads from its inputs to its output"):
        ask(in_numpy, counted=True)


def test_an_error_that_counting_causes_is_no_failure():
    def suspicious(q, k, v):
        if torch._C._len_torch_dispatch_stack():
            raise RuntimeError("no modes, please")
        return textbook(q, k, v)

    with pytest.raises(Unsupported, match="only while its operations are counted"):
        ask(suspicious, counted=True)


def test_an_error_of_its_own_is_one():
    def broken(q, k, v):
        raise ValueError("always")

    with pytest.raises(Failure, match="raised ValueError: always"):
        ask(broken, counted=True)


class WithASpare(nn.Module):
    """Has a parameter that no output depends on: ``bind`` is never certain, and tries the module in each call."""

    def __init__(self):
        super().__init__()
        self.used, self.spare = nn.Parameter(torch.randn(4, 4)), nn.Parameter(torch.randn(4))

    def forward(self, x):
        return x @ self.used


def test_what_binding_tries_is_not_counted():
    x = torch.randn(3, 4)
    bound = bind(WithASpare(), {"used": torch.randn(4, 4), "spare": torch.randn(4)})
    counting = Counting([x])
    with counting:
        bound(x)
    assert counting.take().flops == 2 * 3 * 4 * 4


# -- what PyTorch imports


def imported_by(code):
    """Return what is printed by a process of its own."""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return done.stdout.split()


def test_counting_imports_no_compiler():
    code = "import sys, torch; from attnconf.conformance.worker.counter import Counting\n"
    code += "x = torch.randn(2, 2)\nwith Counting([x]): x @ x\nprint('torch._dynamo' in sys.modules)"
    assert imported_by(code) == ["False"]


def test_counting_is_not_compiled_itself():
    """Else every operation would be compiled anew, up to a limit and with warnings."""
    code = "import torch; from attnconf.conformance.worker.counter import Counting\n"
    code += "f = torch.compile(lambda x: (x @ x).exp(), backend='eager')\nx = torch.randn(2, 2)\nf(x)\n"
    code += "counting = Counting([x])\nwith counting: f(x)\n"
    code += "print(*counting.take().operations, torch._dynamo.utils.counters['stats']['unique_graphs'])"
    assert imported_by(code) == ["aten.mm", "aten.exp", "1"]
