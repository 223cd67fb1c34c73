"""Work and cases: counted by hand, and by torch's own counter."""

import json

import pytest
import torch

from attnconf.conformance.chapters.shared import work
from attnconf.conformance.timing import grid, record
from attnconf.conformance.timing.grid import TimedCase


@pytest.mark.parametrize(("queries", "keys"), [(1, 1), (3, 3), (3, 7), (1, 9)])
def test_pairs_are_those_of_the_mask(queries, keys):
    mask = torch.ones(queries, keys).tril(keys - queries)
    assert work.pairs(queries, keys, causal=True) == int(mask.sum())
    assert work.pairs(queries, keys, causal=False) == queries * keys
    assert work.pairs_published(queries, keys, causal=True) == pytest.approx(int(mask.sum()), abs=queries / 2)


def test_a_row_without_keys_is_refused():
    with pytest.raises(ValueError, match="no more queries than keys"):
        work.pairs(5, 3, causal=True)


@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("which", ["smoke", "grid"])
def test_every_case_has_a_name_of_its_own(device, which):
    names = [case.name for case in grid.cases(device, which)]
    assert len(names) == len(set(names))


def test_the_published_figures_count_as_the_authors_do():
    """B=1, 64 heads of 128, 8192 tokens, causal: 2.2 TFLOP forward (4·B·H·L²·D / 2), 2.5 times that backward."""
    forward, backward = (
        next(c for c in grid.cases("cuda", "grid") if c.name == f"published-{p}").work for p in ("forward", "backward")
    )
    assert forward.flops_published == 4 * 64 * 8192**2 * 128 / 2
    assert backward.flops_published == 2.5 * forward.flops_published
    assert forward.flops == pytest.approx(forward.flops_published, rel=2e-4)


def test_attentions_operations_are_those_of_its_two_products():
    case = TimedCase("a", "attention", B=2, H=3, L=5, E=7)
    q, k = torch.randn(2, 3, 5, 7), torch.randn(2, 3, 5, 7)
    multiplied = q.numel() * 5 + k.numel() * 5
    assert case.work.flops == 2 * multiplied
    assert case.work.bytes == 4 * 4 * q.numel()
    assert case.work.tokens == 10


def test_a_modules_operations_are_attention_and_its_linear_layers():
    case = TimedCase("a", "encoder_layer", B=2, H=3, L=5, E=7, hidden=11)
    attention = TimedCase("a", "attention", B=2, H=3, L=5, E=7).work.flops
    assert case.work.flops == attention + 2 * 10 * (4 * 21 * 21 + 2 * 21 * 11)


def test_both_passes_are_forward_and_backward():
    for case in (
        TimedCase("a", "attention", B=2, H=3, L=5, E=7),
        TimedCase("a", "multi_head_attention", B=2, H=3, L=5, E=7),
    ):
        forward, backward, both = (grid.replace(case, passes=p).work for p in ("forward", "backward", "both"))
        assert both.flops == forward.flops + backward.flops
        assert both.bytes == forward.bytes + backward.bytes


def test_the_roof_is_what_binds():
    assert work.roof(work.Work(100, 100, 10, 1), 10, 10) == work.Roof(10, "compute")
    assert work.roof(work.Work(10, 10, 100, 1), 10, 10) == work.Roof(10, "memory")


@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("which", ["smoke", "grid"])
def test_cases_have_names_of_their_own(device, which):
    cases = grid.cases(device, which)
    assert len({c.name + c.dtype for c in cases}) == len(cases)
    assert all(c.device == device and c.work.bytes > 0 and c.group for c in cases)
    json.dumps([record.of_case(c) for c in cases], allow_nan=False)
    assert {c.name for c in grid.cases(device, "smoke")} <= {c.name for c in grid.cases(device, "grid")}


def test_there_are_no_other_cases():
    with pytest.raises(ValueError, match="want cpu or cuda"):
        grid.cases("tpu", "smoke")


def test_decoding_reads_about_a_byte_for_each_operation():
    decode = next(c for c in grid.cases("cuda", "grid") if c.name == "decode-forward").work
    assert decode.flops / decode.bytes == pytest.approx(1, rel=0.01)
