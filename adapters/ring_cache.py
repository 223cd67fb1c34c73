"""a cache as a ring: as many slots as a window has keys, and without a window max_len, that never move."""

from types import SimpleNamespace

import torch
import torch.nn.functional as F

declares = {
    "kv-heads": "grouped", "window": "given", "positions-inside": "rotary", "rope-pairing": "half",
    "earlier-cache": "kept",
}  # fmt: skip


def turned(x, places, base):
    """Return x (B, H, T, D) with feature i turned with feature i + D/2 by places (T,) or (B, T)."""
    half = x.shape[-1] // 2
    omega = base ** (-torch.arange(half, dtype=torch.float64, device=x.device) / half)
    theta = places[..., None].double() * omega  # (T, D/2) or (B, T, D/2)
    theta = theta[:, None] if theta.ndim == 3 else theta
    cos, sin = theta.cos().to(x.dtype), theta.sin().to(x.dtype)
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)


def cached_attention(config, weights):
    if config.softcap is not None or config.qk_norm != "none" or config.sinks != "none" or config.gate != "none":
        raise NotImplementedError("caps, norms, sinks and gates")
    heads, kept = config.num_heads, config.num_kv_heads or config.num_heads
    slots = config.max_len if config.window is None else config.window[0] + 1

    def project(x, name, number):
        projected = F.linear(x, weights[f"{name}.weight"], weights.get(f"{name}.bias"))
        return projected.unflatten(-1, (number, -1)).transpose(1, 2)  # (B, H, T, D)

    def empty(batch):
        like = weights["k.weight"]
        room = like.new_empty(batch, kept, slots, config.head_dim)  # what lies there is never read
        real = torch.zeros(batch, slots, dtype=torch.bool, device=like.device)
        return SimpleNamespace(keys=room, values=room, real=real, count=0)

    def step(x, cache, *, key_mask=None, positions=None):
        new = torch.arange(cache.count, cache.count + x.shape[1], device=x.device)  # places of the new tokens
        if config.window is None and cache.count + len(new) > slots:
            raise ValueError(f"{cache.count} tokens and {len(new)} more do not fit into {slots} slots")
        where = new if positions is None else positions
        q = turned(project(x, "q", heads), where, config.base)
        k, v = turned(project(x, "k", kept), where, config.base), project(x, "v", kept)
        real = torch.ones_like(x[..., 0], dtype=torch.bool) if key_mask is None else key_mask
        held = torch.arange(max(0, cache.count - slots), cache.count, device=x.device)  # places in the ring
        out = attend(q, new, read(cache, held, k, v, real), torch.cat([held, new]))
        out = F.linear(out.transpose(1, 2).flatten(2), weights["out.weight"], weights.get("out.bias"))
        return out, written(cache, new, k, v, real)

    def read(cache, held, k, v, real):
        """Return the keys, values and marks of the ring and of the new tokens, in the order of their places."""
        at = held % slots
        keys, values = torch.cat([cache.keys[:, :, at], k], dim=2), torch.cat([cache.values[:, :, at], v], dim=2)
        return keys, values, torch.cat([cache.real[:, at], real], dim=1)

    def attend(q, new, known, places):
        keys, values, real = known
        seen = places <= new[:, None]  # (T, S)
        if config.window is not None:
            seen = seen & (places >= new[:, None] - config.window[0])
        mask = seen & real[:, None, None, :]  # (B, 1, T, S)
        return F.scaled_dot_product_attention(q, keys, values, mask, scale=config.scale, enable_gqa=True)

    def written(cache, new, k, v, real):
        """Return the ring with the last of the new tokens, each in the slot of its place."""
        last = slice(max(0, len(new) - slots), None)
        at = new[last] % slots
        keys = cache.keys.index_copy(2, at, k[:, :, last])
        values = cache.values.index_copy(2, at, v[:, :, last])
        marks = cache.real.index_copy(1, at, real[:, last])
        return SimpleNamespace(keys=keys, values=values, real=marks, count=cache.count + len(new))

    def reorder(cache, order):
        moved = {name: getattr(cache, name)[order] for name in ("keys", "values", "real")}
        return SimpleNamespace(**moved, count=cache.count)

    def poison(cache):
        unused = torch.arange(slots, device=cache.keys.device) >= cache.count  # never written
        keys, values = (x.masked_fill(unused[:, None], float("nan")) for x in (cache.keys, cache.values))
        return SimpleNamespace(keys=keys, values=values, real=cache.real, count=cache.count)

    return SimpleNamespace(empty=empty, step=step, reorder=reorder, poison=poison)
