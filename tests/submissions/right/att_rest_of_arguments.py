import torch
import torch.nn as nn
import torch.nn.functional as F


class SelfAttention(nn.Module):
    def __init__(self, n_embd, n_head):
        super().__init__()
        self.n_head = n_head
        self.in_proj = nn.Linear(n_embd, 3 * n_embd, bias=False)
        self.out_proj = nn.Linear(n_embd, n_embd, bias=False)

    def forward(self, x, *rest):
        # rest: maybe a boolean mask (B, T, T), True where a token may look
        mask = rest[0] if rest else None
        B, T, C = x.size()
        q, k, v = self.in_proj(x).view(B, T, 3, self.n_head, -1).permute(2, 0, 3, 1, 4)
        if mask is not None:
            mask = mask.unsqueeze(1)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.out_proj(y.transpose(1, 2).reshape(B, T, C))
