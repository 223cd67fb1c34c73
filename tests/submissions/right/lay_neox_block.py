import torch
import torch.nn.functional as F
from torch import nn


class GPTNeoXLayer(nn.Module):
    def __init__(self, hidden_size: int, num_attention_heads: int, intermediate_size: int, layer_norm_eps: float = 1e-5):
        super().__init__()
        self.heads = num_attention_heads
        self.input_layernorm = nn.LayerNorm(hidden_size, eps=layer_norm_eps)
        self.post_attention_layernorm = nn.LayerNorm(hidden_size, eps=layer_norm_eps)
        # [heads, (q, k, v), width of a head]
        self.query_key_value = nn.Linear(hidden_size, 3 * hidden_size)
        self.dense = nn.Linear(hidden_size, hidden_size)
        self.dense_h_to_4h = nn.Linear(hidden_size, intermediate_size)
        self.dense_4h_to_h = nn.Linear(intermediate_size, hidden_size)

    def attend(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        qkv = self.query_key_value(x).view(batch, length, self.heads, 3 * width // self.heads).transpose(1, 2)
        q, k, v = qkv.chunk(3, dim=-1)
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.dense(out.transpose(1, 2).reshape(batch, length, width))

    def mlp(self, x: torch.Tensor) -> torch.Tensor:
        return self.dense_4h_to_h(F.gelu(self.dense_h_to_4h(x)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        # the parallel residual: x = x + attn(ln1(x)) + mlp(ln2(x))
        attention_output = self.attend(self.input_layernorm(x))
        mlp_output = self.mlp(self.post_attention_layernorm(x))
        return mlp_output + attention_output + x
