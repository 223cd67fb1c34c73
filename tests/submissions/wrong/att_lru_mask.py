import torch
import torch.nn as nn


class CausalMHA(nn.Module):
    def __init__(self, dim_embeddings, num_heads):
        super().__init__()
        assert dim_embeddings % num_heads == 0
        self.num_heads = num_heads
        self.to_qkv = nn.Linear(dim_embeddings, 3 * dim_embeddings, bias=False)
        self.to_out = nn.Linear(dim_embeddings, dim_embeddings, bias=False)
        self._mask = None

    def causal(self, n, device):
        # build it once, it is always the same
        if self._mask is None:
            self._mask = torch.ones(n, n, device=device).triu(1).bool()
        return self._mask

    def forward(self, x):
        b, n, c = x.shape
        q, k, v = self.to_qkv(x).chunk(3, dim=-1)
        q, k, v = (t.reshape(b, n, self.num_heads, c // self.num_heads).transpose(1, 2) for t in (q, k, v))
        sim = q @ k.transpose(-1, -2) * (c // self.num_heads) ** -0.5
        sim = sim.masked_fill(self.causal(n, x.device)[:n, :n], -1e30)
        return self.to_out((sim.softmax(-1) @ v).transpose(1, 2).reshape(b, n, c))
