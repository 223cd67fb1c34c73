import torch


def rotary_of(hp: dict):
    """hp["head_dim"] features turn, i with i + head_dim / 2; hp["theta"] is 10000 where it is not given."""
    half = hp["head_dim"] // 2
    speed = hp.get("theta", 10000.0) ** (-torch.arange(half, dtype=torch.float64) / half)

    def turn(x, steps=None):
        steps = torch.arange(x.shape[-2], device=x.device) if steps is None else steps
        angle = steps.double().unsqueeze(-1) * speed.to(x.device)
        c, s = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
        a, b = x[..., :half], x[..., half:]
        return torch.cat([a * c - b * s, b * c + a * s], dim=-1)

    return turn
