import torch.nn as nn
import torch.nn.functional as F


class DecoderSelfAttention(nn.Module):
    def __init__(self, hidden_dim, num_heads, is_causal=True):
        super().__init__()
        assert hidden_dim % num_heads == 0
        self.num_heads = num_heads
        self.is_causal = is_causal
        self.q_proj = nn.Linear(hidden_dim, hidden_dim)
        self.k_proj = nn.Linear(hidden_dim, hidden_dim)
        self.v_proj = nn.Linear(hidden_dim, hidden_dim)
        self.out_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, x, padding_mask=None):
        # padding_mask: (B, T) bool, True = keep
        B, T, C = x.shape
        q, k, v = [p(x).view(B, T, self.num_heads, -1).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj)]
        if padding_mask is not None:
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=padding_mask[:, None, None, :])
        else:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=self.is_causal)
        return self.out_proj(y.transpose(1, 2).reshape(B, T, C))
