import numpy as np
import torch
import torch.nn as nn

class config:
    d_model = 64
    num_heads = 8
    dff = 256
    rate = 0.1

def scaled_dot_product_attention(q, k, v, mask, scale):
    matmul_qk = torch.matmul(q, k.transpose(-1, -2))
    scaled_attention_logits = matmul_qk / scale
    if mask is not None:
        scaled_attention_logits = scaled_attention_logits.masked_fill(mask.bool(), float('-inf'))
    attention_weights = torch.softmax(scaled_attention_logits, dim=-1)
    return torch.matmul(attention_weights, v)

class EncoderLayer(nn.Module):
    def __init__(self, d_model=config.d_model, num_heads=config.num_heads, dff=config.dff, rate=config.rate):
        super(EncoderLayer, self).__init__()
        self.d_model, self.num_heads, self.depth = d_model, num_heads, d_model // num_heads
        self.wq = nn.Linear(d_model, d_model)
        self.wk = nn.Linear(d_model, d_model)
        self.wv = nn.Linear(d_model, d_model)
        self.dense = nn.Linear(d_model, d_model)
        self.ffn1, self.ffn2 = nn.Linear(d_model, dff), nn.Linear(dff, d_model)
        self.layernorm1 = nn.LayerNorm(d_model, eps=1e-6)
        self.layernorm2 = nn.LayerNorm(d_model, eps=1e-6)
        self.dropout1, self.dropout2 = nn.Dropout(rate), nn.Dropout(rate)

    def split_heads(self, x, batch_size):
        return x.reshape(batch_size, -1, self.num_heads, self.depth).permute(0, 2, 1, 3)

    def forward(self, x, mask=None):
        # mask: (batch, 1, 1, seq_len), 1 at the positions to be left out
        n = x.shape[0]
        q = self.split_heads(self.wq(x), n)
        k = self.split_heads(self.wk(x), n)
        v = self.split_heads(self.wv(x), n)
        attn_output = scaled_dot_product_attention(q, k, v, mask, np.sqrt(self.d_model))
        attn_output = self.dense(attn_output.permute(0, 2, 1, 3).reshape(n, -1, self.d_model))
        out1 = self.layernorm1(x + self.dropout1(attn_output))
        ffn_output = self.ffn2(torch.relu(self.ffn1(out1)))
        return self.layernorm2(out1 + self.dropout2(ffn_output))
