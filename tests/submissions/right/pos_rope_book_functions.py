# Listing 5.4: the parameters of RoPE are computed once ...
import torch


def compute_rope_params(head_dim, theta_base=10_000, context_length=4096, dtype=torch.float32):
    assert head_dim % 2 == 0, "RoPE turns pairs of features"

    speeds = theta_base ** (-2 * torch.arange(head_dim // 2, dtype=dtype) / head_dim)
    angles = torch.outer(torch.arange(context_length, dtype=dtype), speeds)
    angles = torch.cat([angles, angles], dim=1)  # once for each element of a pair
    return torch.cos(angles), torch.sin(angles)


# Listing 5.5: ... and used in every layer
def apply_rope(x, cos, sin):
    # x: (batch_size, num_heads, seq_len, head_dim)
    _, _, seq_len, head_dim = x.shape
    assert head_dim % 2 == 0, "odd head"
    assert seq_len <= cos.shape[0], "longer than the table"

    first, second = x[..., : head_dim // 2], x[..., head_dim // 2 :]
    swapped = torch.cat((-second, first), dim=-1)
    turned = x * cos[:seq_len] + swapped * sin[:seq_len]
    return turned.to(dtype=x.dtype)
