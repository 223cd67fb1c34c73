# decoder = [layer, layer, ...]; the caller says how many by giving them
import math
import torch
import torch.nn as nn
import torch.nn.functional as F


def scaled_dot_product(q, k, v, mask=None):
    d_k = q.size()[-1]
    logits = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(d_k)
    if mask is not None:
        logits = logits + mask          # 0 or -inf
    attention = F.softmax(logits, dim=-1)
    return torch.matmul(attention, v), attention


class Attention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.q_layer = nn.Linear(d_model, d_model)
        self.kv_layer = nn.Linear(d_model, 2 * d_model)
        self.linear_layer = nn.Linear(d_model, d_model)

    def forward(self, x, y, mask):
        b, t, d = x.size()
        s = y.size(1)
        h = self.num_heads
        kv = self.kv_layer(y).reshape(b, s, h, 2 * d // h).permute(0, 2, 1, 3)
        q = self.q_layer(x).reshape(b, t, h, d // h).permute(0, 2, 1, 3)
        k, v = kv.chunk(2, dim=-1)
        values, attention = scaled_dot_product(q, k, v, mask)
        values = values.permute(0, 2, 1, 3).reshape(b, t, d)
        return self.linear_layer(values)


class DecoderLayer(nn.Module):
    def __init__(self, d_model, ffn_hidden, num_heads, drop_prob):
        super().__init__()
        self.self_attention = Attention(d_model, num_heads)
        self.layer_norm1 = nn.LayerNorm(d_model)
        self.dropout1 = nn.Dropout(drop_prob)
        self.encoder_decoder_attention = Attention(d_model, num_heads)
        self.layer_norm2 = nn.LayerNorm(d_model)
        self.dropout2 = nn.Dropout(drop_prob)
        self.linear1 = nn.Linear(d_model, ffn_hidden)
        self.linear2 = nn.Linear(ffn_hidden, d_model)
        self.layer_norm3 = nn.LayerNorm(d_model)
        self.dropout3 = nn.Dropout(drop_prob)

    def forward(self, x, y, self_attention_mask, cross_attention_mask):
        # x: encoder output, y: decoder input
        _y = y
        y = self.dropout1(self.self_attention(y, y, self_attention_mask))
        y = self.layer_norm1(y + _y)
        _y = y
        y = self.dropout2(self.encoder_decoder_attention(y, x, cross_attention_mask))
        y = self.layer_norm2(y + _y)
        _y = y
        y = self.dropout3(self.linear2(F.relu(self.linear1(y))))
        return self.layer_norm3(y + _y)


class Decoder(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.layers = nn.ModuleList(layers)

    def forward(self, x, y, self_attention_mask=None, cross_attention_mask=None):
        for layer in self.layers:
            y = layer(x, y, self_attention_mask, cross_attention_mask)
        return y


if __name__ == "__main__":
    dec = Decoder([DecoderLayer(32, 64, 4, 0.1) for _ in range(3)])
    look_ahead = torch.triu(torch.full((9, 9), float("-inf")), diagonal=1)
    print(dec(torch.randn(2, 5, 32), torch.randn(2, 9, 32), look_ahead).shape)
