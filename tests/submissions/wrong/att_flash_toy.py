import torch


def flash_attention(q, k, v, block_size=8):
    """
    Online softmax over blocks of keys.
    q: [B, H, N, d], k and v: [B, H, M, d]
    """
    B, H, N, d = q.shape
    M = k.shape[2]
    assert v.shape[2] == M
    out = torch.zeros(B, H, N, v.shape[3], dtype=q.dtype, device=q.device)
    m = torch.full((B, H, N, 1), float("-inf"), dtype=q.dtype, device=q.device)
    l = torch.zeros(B, H, N, 1, dtype=q.dtype, device=q.device)
    for j in range(0, M, block_size):
        kj, vj = k[:, :, j:j + block_size], v[:, :, j:j + block_size]
        s = q @ kj.transpose(2, 3) * d ** -0.5
        m_new = torch.maximum(m, s.max(dim=-1, keepdim=True).values)
        p = torch.exp(s - m_new)
        l = l * torch.exp(m - m_new) + p.sum(dim=-1, keepdim=True)
        out = out + p @ vj
        m = m_new
    return out / l
