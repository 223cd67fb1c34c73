import torch
from torch import nn


class StreamAttention(nn.Module):
    """Self-attention over frames.

    lengths:    (batch,) how many frames of each recording are real
    reach_mask: (frames, frames) bool, True where a frame may look at another
    """

    def __init__(self, width: int, n_heads: int):
        super().__init__()
        self.n_heads = n_heads
        self.q_proj, self.k_proj, self.v_proj = (nn.Linear(width, width) for _ in range(3))
        self.out_proj = nn.Linear(width, width)

    def seen(self, lengths, reach_mask, n, device):
        seen = torch.ones(1, 1, n, n, dtype=torch.bool, device=device)
        if lengths is not None:
            seen = seen & (torch.arange(n, device=device) < lengths[:, None])[:, None, None]
        if reach_mask is not None:
            seen = reach_mask[None, None]
        return seen

    def forward(self, x, lengths=None, reach_mask=None):
        q, k, v = (f(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for f in (self.q_proj, self.k_proj, self.v_proj))
        scores = (q / q.shape[-1] ** 0.5) @ k.mT
        seen = self.seen(lengths, reach_mask, x.shape[1], x.device)
        weights = scores.masked_fill(~seen, torch.finfo(scores.dtype).min).softmax(-1)
        return self.out_proj((weights @ v).transpose(1, 2).flatten(2))
