import torch


def alibi_bias(num_heads: int, length: int) -> torch.Tensor:
    """(num_heads, length, length). num_heads has to be a power of two."""
    if num_heads & (num_heads - 1):
        raise ValueError("power of two, please")
    heads = torch.arange(num_heads, dtype=torch.float64)
    slopes = 2 ** (-8 * heads / num_heads)
    position = torch.arange(length)
    distance = torch.abs(position[:, None] - position[None, :])
    return -slopes[:, None, None] * distance
