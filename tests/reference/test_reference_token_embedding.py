"""The reference of token embedding against loops, torch.nn and closed forms: nothing here shares its code."""

import math

import pytest
import torch
from torch import nn

from attnconf.reference.token_embedding import embed, scale, token_attention

torch.set_num_threads(1)


def drawn_table(rows=11, dim=4):
    torch.manual_seed(0)
    return torch.randn(rows, dim, dtype=torch.float64)


def test_rows_are_picked_one_by_one():
    table, ids = drawn_table(), torch.tensor([[3, 0, 10, 3], [1, 1, 5, 0]])
    want = [[table.tolist()[number] for number in sample] for sample in ids.tolist()]
    assert embed(ids, table).tolist() == want


def test_it_is_a_product_with_one_hot_vectors():
    table, ids = drawn_table(), torch.randint(11, (3, 7))
    hot = torch.zeros(3, 7, 11, dtype=torch.float64).scatter_(2, ids[..., None], 1.0)
    torch.testing.assert_close(embed(ids, table), hot @ table, rtol=0, atol=0)


@pytest.mark.parametrize("padding", [None, 0, 4, 10])
def test_output_and_gradient_are_those_of_nn_embedding(padding):
    ids, weighing = torch.randint(11, (3, 7)), torch.randn(3, 7, 4, dtype=torch.float64)
    theirs = nn.Embedding(11, 4, padding_idx=padding, dtype=torch.float64)
    with torch.no_grad():
        theirs.weight.copy_(drawn_table())
    ours = drawn_table().requires_grad_()
    (theirs(ids) * weighing).sum().backward()
    (embed(ids, ours, padding) * weighing).sum().backward()
    assert torch.equal(embed(ids, ours, padding), theirs(ids))
    torch.testing.assert_close(ours.grad, theirs.weight.grad)


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64, torch.int16, torch.uint8])
def test_any_integers_are_ids(dtype):
    ids = torch.tensor([[3, 0, 10], [1, 1, 5]])
    assert torch.equal(embed(ids.to(dtype), drawn_table()), drawn_table()[ids])


def test_no_tokens_give_no_vectors():
    assert embed(torch.zeros(3, 0, dtype=torch.int64), drawn_table()).shape == (3, 0, 4)


@pytest.mark.parametrize(("wrong", "words"), [(-1, "from -1 to 0"), (11, "from 0 to 11"), (2**40, "to 1099511627776")])
def test_ids_without_a_row_are_refused(wrong, words):
    with pytest.raises(IndexError, match=f"{words}, want 0 to 10"):
        embed(torch.tensor([[0, wrong]]), drawn_table())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bool, torch.complex64])
def test_what_is_no_integer_is_refused(dtype):
    with pytest.raises(TypeError, match=f"ids are {dtype}, want integers"):
        embed(torch.ones(2, 3).to(dtype), drawn_table())


@pytest.mark.parametrize(("dim", "want"), [(512, 22.627417), (3072, 55.425626), (2048, 45.254834)])
def test_the_root_of_the_width(dim, want):
    torch.testing.assert_close(scale(torch.ones(1, 1, dim)), torch.full((1, 1, dim), want))


# -- from ids to attention


def positions(length, dim):
    """Return sines and cosines side by side, number by number."""
    rows = [[(math.sin, math.cos)[j % 2](p / 10000 ** ((j - j % 2) / dim)) for j in range(dim)] for p in range(length)]
    return torch.tensor(rows, dtype=torch.float64)


@pytest.mark.parametrize("how", ["plain", "causal", "padded"])
def test_output_and_gradients_are_those_of_torch(how):
    torch.manual_seed(1)
    dim, heads, B, L = 12, 3, 2, 5
    ids, weighing = torch.randint(11, (B, L)), torch.randn(B, L, dim, dtype=torch.float64)
    layer = nn.MultiheadAttention(dim, heads, batch_first=True, dtype=torch.float64)
    nn.init.normal_(layer.in_proj_bias)
    table = drawn_table(11, dim).requires_grad_()
    later = torch.ones(L, L, dtype=torch.bool).triu(1)
    lengths = torch.tensor([5, 3])
    pads = torch.arange(L) >= lengths[:, None]
    x = nn.functional.embedding(ids, table) + positions(L, dim)
    masks = {"causal": {"attn_mask": later}, "padded": {"key_padding_mask": pads}}.get(how, {})
    theirs = layer(x, x, x, need_weights=False, **masks)[0]
    (theirs_grad,) = torch.autograd.grad((theirs * weighing).sum(), [table])

    weights = {"table.weight": table, "attn.out.weight": layer.out_proj.weight, "attn.out.bias": layer.out_proj.bias}
    for name, w, b in zip("qkv", layer.in_proj_weight.chunk(3), layer.in_proj_bias.chunk(3), strict=True):
        weights |= {f"attn.{name}.weight": w, f"attn.{name}.bias": b}
    mask = {"causal": ~later, "padded": ~pads[:, None, None, :]}.get(how)
    ours = token_attention(ids, weights, heads, mask)
    torch.testing.assert_close(ours, theirs)
    torch.testing.assert_close(torch.autograd.grad((ours * weighing).sum(), [table])[0], theirs_grad)


def test_one_token_that_is_left_alone_is_its_row_and_position_zero():
    table, eye = drawn_table(), torch.eye(4, dtype=torch.float64)
    weights = {"table.weight": table, **{f"attn.{name}.weight": eye for name in ("q", "k", "v", "out")}}
    want = table[[7]] + torch.tensor([0.0, 1.0, 0.0, 1.0], dtype=torch.float64)
    torch.testing.assert_close(token_attention(torch.tensor([[7]]), weights, 2), want[None])


def test_heads_that_do_not_fit_are_refused():
    eye = torch.eye(4, dtype=torch.float64)
    weights = {"table.weight": drawn_table(), **{f"attn.{name}.weight": eye for name in ("q", "k", "v", "out")}}
    with pytest.raises(ValueError, match="a width of 4 cannot be split into 3 equal heads"):
        token_attention(torch.tensor([[7]]), weights, 3)
