"""The reference's packed sequences against torch's attention, document by document."""

import pytest
import torch
import torch.nn.functional as F

from attnconf.reference.attention_family import Member, family_attention
from attnconf.reference.masks import causal as causal_mask
from attnconf.reference.packed_sequences import documents_between, packed_attention, places

H, D = 4, 4
LENGTHS = (3, 1, 5, 2)
IDS = torch.tensor([[7] * 3 + [0] + [9] * 5 + [2] * 2])


def drawn(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def weights_of(kept=H):
    rows = {"q": H * D, "k": kept * D, "v": kept * D, "out": H * D}
    return {f"{name}.weight": drawn(n, H * D, seed=i) / 4 for i, (name, n) in enumerate(rows.items(), 1)}


def document_by_document(x, attend):
    return torch.cat([attend(part) for part in x.split(LENGTHS, dim=1)], dim=1)


@pytest.mark.parametrize("causal", [True, False])
def test_a_row_is_what_torch_gives_each_document(causal):
    weights, x = weights_of(), drawn(1, 11, H * D)

    def attend(part):
        q, k, v = (F.linear(part, weights[f"{n}.weight"]).unflatten(-1, (H, D)).transpose(1, 2) for n in "qkv")
        out = F.scaled_dot_product_attention(q, k, v, is_causal=causal)
        return F.linear(out.transpose(1, 2).flatten(2), weights["out.weight"])

    got = packed_attention(x, IDS, weights, H, Member(), causal)
    torch.testing.assert_close(got, document_by_document(x, attend))


@pytest.mark.parametrize(
    "member",
    [
        Member(positions="rotary", num_kv_heads=2), Member(positions="alibi"), Member(window=(2, 0), softcap=0.8),
        Member(sinks="add-one"),
    ],
    ids=lambda member: f"{member.positions}-{member.window}-{member.sinks}",
)  # fmt: skip
def test_a_row_is_what_the_family_gives_each_document(member):
    weights, x = weights_of(member.num_kv_heads or H), drawn(1, 11, H * D)

    def attend(part):
        return family_attention(part, part, part, weights, H, member, causal_mask(part.shape[1], part.shape[1]))[0]

    torch.testing.assert_close(packed_attention(x, IDS, weights, H, member), document_by_document(x, attend))


def test_bounds_and_ids_say_the_same():
    ids = documents_between(torch.tensor([0, 3, 4, 9, 11]), 11)
    assert ids.tolist() == [[0] * 3 + [1] + [2] * 5 + [3] * 2]
    assert places(ids).tolist() == places(IDS).tolist() == [[0, 1, 2, 0, 0, 1, 2, 3, 4, 0, 1]]


def test_rows_have_documents_of_their_own():
    ids = torch.tensor([[1, 1, 1, 0, 0], [5, 4, 4, 4, 4]])
    assert places(ids).tolist() == [[0, 1, 2, 0, 1], [0, 0, 1, 2, 3]]
