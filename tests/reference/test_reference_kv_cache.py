"""The reference's cache against loops over single numbers, written from the formulas: each token's past, once more."""

import math

import pytest
import torch

from attnconf.reference.attention_family import Member
from attnconf.reference.kv_cache import empty, poison, reorder, step

B, L, H, D = 2, 6, 4, 4
MEMBERS = {
    "plain": Member(),
    "grouped": Member(num_kv_heads=2),
    "window": Member(window=(2, 0)),
    "capped": Member(softcap=0.7, scale=0.9),
    "rotary": Member(positions="rotary", num_kv_heads=2),
    "alibi": Member(positions="alibi"),
    "relative": Member(positions="relative-bias", both_ways=False),
    "offsets": Member(positions="shaw", relative_values="yes", scale=0.9),
    "sinks": Member(sinks="learned", window=(3, 0)),
    "normed": Member(qk_norm="rms", positions="rotary"),
}
CHUNKS = [(6,), (1,) * 6, (4, 2), (3, 1, 2)]


def drawn(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def weights_of(member):
    kept = member.num_kv_heads or H
    rows = {"q": H * D, "k": kept * D, "v": kept * D, "out": H * D}
    weights = {f"{name}.weight": drawn(n, H * D, seed=i) / 4 for i, (name, n) in enumerate(rows.items(), 1)}
    return weights | {
        "relative.weight": drawn(32, H, seed=8), "sinks": drawn(H, seed=9), "q_norm.weight": 1 + drawn(D, seed=10) / 3,
        "k_norm.weight": 1 + drawn(D, seed=11) / 3, "relative_keys.weight": drawn(5, D, seed=12),
        "relative_values.weight": drawn(5, D, seed=13),
    }  # fmt: skip


def turned(x, place):
    """Return a row of D numbers with its neighbours turned by a place."""
    out = []
    for i in range(0, D, 2):
        theta = place * 10000.0 ** (-i / D)
        out += [
            x[i] * math.cos(theta) - x[i + 1] * math.sin(theta),
            x[i] * math.sin(theta) + x[i + 1] * math.cos(theta),
        ]
    return out


def row(x, weight, head):
    return (weight[head * D : (head + 1) * D] @ x).tolist()


def added(x, row):
    return [a + float(b) for a, b in zip(x, row, strict=True)]


def normed(x, gain):
    size = math.sqrt(sum(a * a for a in x) / D + 1e-6)
    return [a / size * float(g) for a, g in zip(x, gain, strict=True)]


def one(x, weights, member, t, head, places, hidden=()):
    """Return what a head has for token t of one sequence (L, E), from all tokens before it."""
    kept = member.num_kv_heads or H
    shared = head // (H // kept)
    left = t if member.window is None else member.window[0]
    seen = [s for s in range(max(0, t - left), t + 1) if s not in hidden]
    q = row(x[t], weights["q.weight"], head)
    keys = {s: row(x[s], weights["k.weight"], shared) for s in seen}
    if member.qk_norm == "rms":
        q = normed(q, weights["q_norm.weight"])
        keys = {s: normed(k, weights["k_norm.weight"]) for s, k in keys.items()}
    if member.positions == "rotary":
        q, keys = turned(q, places[t]), {s: turned(k, places[s]) for s, k in keys.items()}
    if member.positions == "shaw":  # two tokens back is as far as the table goes
        keys = {s: added(k, weights["relative_keys.weight"][max(s - t, -2) + 2]) for s, k in keys.items()}
    scale = D**-0.5 if member.scale is None else member.scale
    scores = {s: scale * sum(a * b for a, b in zip(q, k, strict=True)) for s, k in keys.items()}
    if member.softcap:
        scores = {s: member.softcap * math.tanh(z / member.softcap) for s, z in scores.items()}
    if member.positions == "alibi":
        scores = {s: z - 2.0 ** (-8 * (head + 1) / H) * (t - s) for s, z in scores.items()}
    if member.positions == "relative-bias":  # near distances have buckets of their own
        scores = {s: z + float(weights["relative.weight"][t - s, head]) for s, z in scores.items()}
    below = sum(math.exp(z) for z in scores.values())
    below += math.exp(float(weights["sinks"][head])) if member.sinks == "learned" else 0.0
    values = {s: row(x[s], weights["v.weight"], shared) for s in seen}
    if member.relative_values == "yes":
        values = {s: added(v, weights["relative_values.weight"][max(s - t, -2) + 2]) for s, v in values.items()}
    return [sum(math.exp(z) / below * values[s][i] for s, z in scores.items()) for i in range(D)]


def in_loops(x, weights, member, places=None, hidden=()):
    places = range(len(x)) if places is None else places
    heads = [[one(x, weights, member, t, h, places, hidden) for h in range(H)] for t in range(len(x))]
    return torch.tensor(heads, dtype=torch.float64).flatten(1) @ weights["out.weight"].T


def in_steps(x, weights, member, chunks, **beside):
    cache, outs, at = empty(len(x), weights, H, member), [], 0
    for length in chunks:
        part = slice(at, at + length)
        out, cache = step(x[:, part], cache, weights, H, member, **{n: m[:, part] for n, m in beside.items()})
        outs.append(out)
        at += length
    return torch.cat(outs, dim=1), cache


@pytest.mark.parametrize("chunks", CHUNKS, ids=str)
@pytest.mark.parametrize("name", MEMBERS)
def test_every_token_has_what_a_loop_over_its_past_gives(name, chunks):
    member, x = MEMBERS[name], drawn(B, L, H * D)
    weights = weights_of(member)
    got, _ = in_steps(x, weights, member, chunks)
    torch.testing.assert_close(got, torch.stack([in_loops(one_row, weights, member) for one_row in x]))


@pytest.mark.parametrize("chunks", CHUNKS, ids=str)
def test_given_positions_and_padding_are_kept(chunks):
    member, x = MEMBERS["rotary"], drawn(1, L, H * D)
    weights = weights_of(member)
    places = torch.tensor([[0, 0, 1, 2, 7, 9]])
    mask = torch.tensor([[False, True, True, True, True, True]])
    got, _ = in_steps(x, weights, member, chunks, positions=places, key_mask=mask)
    want = in_loops(x[0], weights, member, places[0].tolist(), hidden=(0,))
    torch.testing.assert_close(got[0, 1:], want[1:])


def test_a_reordered_cache_has_its_samples_in_that_order():
    member, x = MEMBERS["rotary"], drawn(B, L, H * D)
    weights = weights_of(member)
    _, cache = in_steps(x[:, :4], weights, member, (4,))
    got, _ = step(x[:, 4:], reorder(cache, torch.tensor([1, 1])), weights, H, member)
    moved = torch.cat([x[[1, 1], :4], x[:, 4:]], dim=1)
    torch.testing.assert_close(got, torch.stack([in_loops(r, weights, member) for r in moved])[:, 4:])


def test_poison_fills_padding_alone():
    member, x = MEMBERS["plain"], drawn(B, 3, H * D)
    mask = torch.tensor([[False, True, True], [True, True, True]])
    _, cache = in_steps(x, weights_of(member), member, (3,), key_mask=mask)
    filled = poison(cache)
    assert torch.equal(filled.keys.isnan().any(-1).any(1), ~mask)
    assert torch.equal(filled.values.isnan().any(-1).any(1), ~mask)
    assert not cache.keys.isnan().any()
