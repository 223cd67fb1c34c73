"""Positions in other hands: recurrences, whole numbers, matrices, one-hot rows. All of it is right."""

import math

import torch
from torch.nn import functional as F

declares = {
    "sinusoidal-output": "add",
    "sinusoidal-layout": "interleaved",
    "sinusoidal_2d": {"grid-axes": "height-first", "grid-layout": "halves", "sinusoidal-frequencies": "endpoint"},
    "learned-output": "table",
    "rotary": {"rope-pairing": "half"},
    "rotary_attention": {"rope-pairing": "interleaved"},
    "alibi-slopes": "published",
    "t5-alignment": "bottom-right",
    "t5-scale": "sqrt",
    "fourier-factor": "pi",
    "fourier-order": "coordinate",
    "random-fourier-order": "sin-first",
    "coordinate_mlp": {"fourier-factor": "2pi", "fourier-order": "function"},
}


def sinusoidal(config, weights):
    """Every hand is turned on by one step: a product of complex numbers."""

    def forward(x, *, positions=None):
        if positions is not None:
            raise NotImplementedError("explicit positions")
        pairs = torch.arange((config.dim + 1) // 2, dtype=torch.float64)
        step = torch.polar(torch.ones_like(pairs), config.base ** (-2 * pairs / config.dim))
        hands = torch.cat([torch.ones_like(step)[None], step.expand(x.shape[1] - 1, -1)]).cumprod(0)
        encoded = torch.stack([hands.imag, hands.real], -1).flatten(1)[:, : config.dim]
        return F.dropout(x + encoded.to(x.dtype), config.dropout, config.training)

    return forward


def sinusoidal_2d(config, weights):
    if config.dim % 4:
        raise ValueError("dim must be a multiple of four")
    quarter = config.dim // 4
    bank = torch.tensor([config.base ** -(i / max(quarter - 1, 1)) for i in range(quarter)])

    def axis(length):
        theta = torch.outer(torch.arange(length).float(), bank)
        return torch.cat([theta.sin(), theta.cos()], 1)

    def forward(height, width):
        rows, columns = axis(height)[:, None], axis(width)[None]
        both = [rows.expand(-1, width, -1), columns.expand(height, -1, -1)]
        return torch.cat(both, -1).to(config.dtype)

    return forward


def learned(config, weights):
    """One-hot positions times a matrix."""

    def forward(x, *, positions=None):
        table = weights["table.weight"]
        p = torch.arange(x.shape[1]) if positions is None else positions
        if p.is_floating_point() or tuple(p.shape) not in ((x.shape[1],), tuple(x.shape[:2])):
            raise ValueError("one whole number for each token")
        rows = F.one_hot(p, len(table)).to(table) @ table
        return F.dropout(rows.expand(x.shape), config.dropout, config.training)

    return forward


def rotary(config, weights):
    """With the matrices R_p written out."""
    if config.scaling:
        raise NotImplementedError("scaling")
    R, half = config.rotary_dim, config.rotary_dim // 2
    if R % 2 or not 0 < R <= config.head_dim:
        raise ValueError(f"{R} of {config.head_dim} features cannot turn")
    omega = torch.tensor([config.base ** (-2 * i / R) for i in range(half)], dtype=torch.float64)

    def forward(x, *, positions=None):
        p = torch.arange(x.shape[2]) if positions is None else positions
        if tuple(p.shape) not in ((x.shape[2],), (x.shape[0], x.shape[2])):
            raise ValueError("one position for each token")
        theta = p.double()[..., None] * omega
        cos, sin = torch.diag_embed(theta.cos()), torch.diag_embed(theta.sin())
        matrix = torch.cat([torch.cat([cos, -sin], -1), torch.cat([sin, cos], -1)], -2)
        wide = torch.promote_types(x.dtype, torch.float32)
        letters = "lij,bhlj->bhli" if p.ndim == 1 else "blij,bhlj->bhli"
        turned = torch.einsum(letters, matrix.to(wide), x[..., :R].to(wide))
        return torch.cat([turned.to(x.dtype), x[..., R:]], -1)

    return forward


def rotary_attention(config, weights):
    """Nothing is turned: scores are made of differences of positions."""
    E = config.head_dim
    omega = torch.tensor([config.base ** (-2 * i / E) for i in range(E // 2)], dtype=torch.float64)

    def forward(query, key, value, *, positions=None):
        p = torch.arange(query.shape[2]) if positions is None else positions
        theta = (p[..., :, None] - p[..., None, :]).double()[..., None] * omega
        theta = theta[:, None] if theta.ndim == 4 else theta
        cos, sin = theta.cos().to(query.dtype), theta.sin().to(query.dtype)
        a, b = query[..., :, None, ::2], query[..., :, None, 1::2]
        c, d = key[..., None, :, ::2], key[..., None, :, 1::2]
        scores = ((a * c + b * d) * cos + (a * d - b * c) * sin).sum(-1) / math.sqrt(E)
        if config.causal:
            hidden = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
            scores = scores.masked_fill(hidden, torch.finfo(scores.dtype).min)
        return scores.softmax(-1) @ value

    return forward


def slopes(heads):
    near = 2 ** (heads.bit_length() - 1)
    exponents = [8 * h / near for h in range(1, near + 1)] + [4 * (2 * h + 1) / near for h in range(heads - near)]
    return torch.tensor([0.5**exponent for exponent in exponents])


def alibi(config, weights):
    """One row for all queries, counted from the last key."""
    if not config.causal:
        raise NotImplementedError("without causality")

    def forward(query_length, key_length):
        row = slopes(config.num_heads)[:, None, None] * torch.arange(1 - key_length, 1)
        return row.expand(-1, query_length, -1)

    return forward


def alibi_attention(config, weights):
    """Query by query, over the keys that it sees."""

    def forward(query, key, value):
        H, L, E = query.shape[1:]
        m, out = slopes(H).to(query.dtype)[:, None], []
        for i in range(L):
            seen = i + 1 if config.causal else L
            scores = torch.einsum("bhe,bhse->bhs", query[:, :, i], key[:, :, :seen]) * E**-0.5
            weight = (scores - m * (i - torch.arange(seen)).abs()).softmax(-1)
            out.append(torch.einsum("bhs,bhse->bhe", weight, value[:, :, :seen]))
        return torch.stack(out, 2)

    return forward


def bucket(distance, buckets, largest):
    """Whole numbers only: exact + k where (D/exact)^(k/m) ≤ distance/exact."""
    exact, k = buckets // 2, 0
    m = buckets - exact
    while k + 1 < m and distance**m * exact ** (k + 1) >= largest ** (k + 1) * exact**m:
        k += 1
    return distance if distance < exact else exact + k


def offset_bucket(offset, config, both):
    half = config.num_buckets // 2 if both else config.num_buckets
    distance = abs(offset) if both else max(-offset, 0)
    return bucket(distance, half, config.max_distance) + (half if both and offset > 0 else 0)


def diagonals(table, L, S, config, both):
    """The bias (H, L, S) from one vector of all offsets, of which every row is a part."""
    vector = table[[offset_bucket(r, config, both) for r in range(1 - S, L + S)]].T
    return torch.stack([vector[:, L - 1 - i : L - 1 - i + S] for i in range(L)], 1)


def relative_bias(config, weights):
    return lambda L, S: diagonals(weights["table.weight"], L, S, config, config.bidirectional)


def relative_bias_attention(config, weights):
    if config.cross:
        raise NotImplementedError("cross-attention")

    def forward(query, key, value):
        L = query.shape[2]
        bias = diagonals(weights["table.weight"], L, L, config, not config.causal)
        if config.causal:
            bias = bias.masked_fill(torch.ones(L, L, dtype=torch.bool).triu(1), -math.inf)
        return F.scaled_dot_product_attention(query, key, value, attn_mask=bias.expand(len(query), -1, -1, -1))

    return forward


def fourier(config, weights):
    """By doubling: sin 2a = 2 sin a cos a."""
    if any(b != 2 * a for a, b in zip(config.frequencies, config.frequencies[1:], strict=False)):
        raise NotImplementedError("other frequencies than each twice the one before")

    def forward(x):
        theta = math.pi * config.frequencies[0] * x.double()
        steps = [torch.polar(torch.ones_like(theta), theta)]
        for _ in config.frequencies[1:]:
            steps.append(steps[-1] ** 2)
        z = torch.stack(steps, -1)
        return torch.cat([z.imag, z.real], -1).flatten(-2).to(x.dtype)

    return forward


def random_fourier(config, weights):
    def forward(x):
        theta = x.flatten(0, -2).double() @ weights["projection"].double().T * (2 * math.pi)
        return torch.cat([theta.sin(), theta.cos()], 1).unflatten(0, x.shape[:-1]).to(x.dtype)

    return forward


def coordinate_mlp(config, weights):
    def forward(x):
        theta = (2 * math.pi * x[:, :, None] * torch.tensor(config.frequencies).to(x)).flatten(1)
        h = torch.cat([theta.sin(), theta.cos()], 1)
        for i in range(len(weights) // 2):
            h = torch.addmm(weights[f"{i}.bias"], h.relu() if i else h, weights[f"{i}.weight"].T)
        return h

    return forward
