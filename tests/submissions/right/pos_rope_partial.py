"""Only the first rotary_dim features of a head turn (25 % in some models); the others carry content only."""
import torch


def _cos_sin(position_ids, rotary_dim, base, like):
    exponent = torch.arange(0, rotary_dim, 2, dtype=torch.float64, device=like.device) / rotary_dim
    angle = position_ids.to(torch.float64).unsqueeze(-1) / base ** exponent
    angle = torch.cat([angle, angle], dim=-1)
    return angle.cos().to(like.dtype), angle.sin().to(like.dtype)


def apply_partial_rotary(x, rotary_dim, position_ids=None, base=10000):
    """
    x: [batch, num_heads, seq, head_dim]
    position_ids: [seq] or [batch, seq]
    """
    bsz, _, seq, head_dim = x.shape
    if rotary_dim % 2 or not 0 < rotary_dim <= head_dim:
        raise ValueError(f"rotary_dim={rotary_dim} for head_dim={head_dim}")
    if position_ids is None:
        position_ids = torch.arange(seq, device=x.device)
    if position_ids.dim() == 1:
        position_ids = position_ids.unsqueeze(0)
    if position_ids.shape not in ((1, seq), (bsz, seq)):
        raise ValueError("position_ids does not fit x")
    cos, sin = _cos_sin(position_ids, rotary_dim, base, x)
    cos, sin = cos.unsqueeze(1), sin.unsqueeze(1)
    rot, rest = x[..., :rotary_dim], x[..., rotary_dim:]
    h = rotary_dim // 2
    flipped = torch.cat([-rot[..., h:], rot[..., :h]], dim=-1)
    return torch.cat([rot * cos + flipped * sin, rest], dim=-1)
