import copy
import torch
import torch.nn as nn


class LayerNormalization(nn.Module):
    def __init__(self, features: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.eps = eps
        self.alpha = nn.Parameter(torch.ones(features))
        self.bias = nn.Parameter(torch.zeros(features))

    def forward(self, x):
        mean = x.mean(dim=-1, keepdim=True)
        std = x.std(dim=-1, keepdim=True)
        return self.alpha * (x - mean) / (std + self.eps) + self.bias


class FeedForwardBlock(nn.Module):
    def __init__(self, d_model: int, d_ff: int, dropout: float) -> None:
        super().__init__()
        self.linear_1 = nn.Linear(d_model, d_ff)
        self.dropout = nn.Dropout(dropout)
        self.linear_2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.linear_2(self.dropout(torch.relu(self.linear_1(x))))


class MultiHeadAttentionBlock(nn.Module):
    def __init__(self, d_model: int, h: int, dropout: float) -> None:
        super().__init__()
        self.h, self.d_k = h, d_model // h
        self.w_q, self.w_k = nn.Linear(d_model, d_model, bias=False), nn.Linear(d_model, d_model, bias=False)
        self.w_v, self.w_o = nn.Linear(d_model, d_model, bias=False), nn.Linear(d_model, d_model, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, mask):
        query, key, value = (w(t).view(t.shape[0], t.shape[1], self.h, self.d_k).transpose(1, 2)
                             for w, t in ((self.w_q, q), (self.w_k, k), (self.w_v, v)))
        scores = (query @ key.transpose(-2, -1)) / self.d_k ** 0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        x = self.dropout(scores.softmax(dim=-1)) @ value
        return self.w_o(x.transpose(1, 2).contiguous().view(x.shape[0], -1, self.h * self.d_k))


class EncoderBlock(nn.Module):
    def __init__(self, features: int, self_attention_block: MultiHeadAttentionBlock,
                 feed_forward_block: FeedForwardBlock, dropout: float) -> None:
        super().__init__()
        self.self_attention_block = self_attention_block
        self.feed_forward_block = feed_forward_block
        self.norms = nn.ModuleList([LayerNormalization(features) for _ in range(2)])
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, src_mask):
        n = self.norms[0](x)
        x = x + self.dropout(self.self_attention_block(n, n, n, src_mask))
        return x + self.dropout(self.feed_forward_block(self.norms[1](x)))


class Encoder(nn.Module):
    def __init__(self, features: int, layers: nn.ModuleList) -> None:
        super().__init__()
        self.layers = layers
        self.norm = LayerNormalization(features)

    def forward(self, x, mask):
        for layer in self.layers:
            x = layer(x, mask)
        return self.norm(x)


def build_encoder(d_model: int = 32, N: int = 2, h: int = 4, d_ff: int = 64, dropout: float = 0.1) -> Encoder:
    blocks = []
    for _ in range(N):
        blocks.append(EncoderBlock(d_model, MultiHeadAttentionBlock(d_model, h, dropout),
                                   FeedForwardBlock(d_model, d_ff, dropout), dropout))
    return Encoder(d_model, nn.ModuleList(blocks))
