import torch
from torch import nn


def attention_mask_from(keep_query, keep_key):
    """(batch, n) and (batch, m), true for what is real -> (batch, 1, n, m) for the call below."""
    return (keep_query.unsqueeze(-1) & keep_key.unsqueeze(-2)).unsqueeze(1)


class DotProductAttention(nn.Module):
    """Attention over several heads. `mask`: true where a query may look, broadcast against (batch, heads, n, m)."""

    def __init__(self, features, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.query, self.key = nn.Linear(features, features), nn.Linear(features, features)
        self.value, self.out = nn.Linear(features, features), nn.Linear(features, features)

    def forward(self, inputs_q, inputs_kv, mask=None):
        q, k, v = self.query(inputs_q), self.key(inputs_kv), self.value(inputs_kv)
        q, k, v = (x.reshape(*x.shape[:2], self.num_heads, -1) for x in (q, k, v))
        logits = torch.einsum("bnhd,bmhd->bhnm", q, k) * inputs_q.shape[-1] ** -0.5
        if mask is not None:
            logits = torch.where(mask, logits, torch.finfo(logits.dtype).min)
        out = torch.einsum("bhnm,bmhd->bnhd", logits.softmax(-1), v)
        return self.out(out.flatten(-2))
