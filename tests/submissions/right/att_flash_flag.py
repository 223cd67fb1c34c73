import torch
import torch.nn.functional as F
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, n_state: int, n_head: int, dropout: float = 0.0, is_causal: bool = False):
        super().__init__()
        assert n_state % n_head == 0
        self.n_head = n_head
        self.p = dropout
        self.is_causal = is_causal
        self.query = nn.Linear(n_state, n_state)
        self.key = nn.Linear(n_state, n_state, bias=False)
        self.value = nn.Linear(n_state, n_state)
        self.out = nn.Linear(n_state, n_state)

    def forward(self, x, mask=None):
        """mask: additive float, broadcastable to (B, H, T, T)"""
        B, T, C = x.shape
        q = self.query(x).view(B, T, self.n_head, -1).transpose(1, 2)
        k = self.key(x).view(B, T, self.n_head, -1).transpose(1, 2)
        v = self.value(x).view(B, T, self.n_head, -1).transpose(1, 2)
        if self.is_causal and mask is not None:
            # the fused kernel takes one or the other, so write causality into (a copy of) the mask
            mask = mask + torch.full((T, T), float("-inf"), dtype=x.dtype, device=x.device).triu(1)
        y = F.scaled_dot_product_attention(
            q, k, v, attn_mask=mask,
            dropout_p=self.p if self.training else 0.0,
            is_causal=self.is_causal and mask is None,
        )
        return self.out(y.transpose(1, 2).reshape(B, T, C))
