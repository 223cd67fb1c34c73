"""GPT-2 so that released checkpoints fit: Conv1D layers with their transposed weights, names as in the release."""

import math

import torch
from torch import Tensor, nn


class Conv1D(nn.Module):
    def __init__(self, nf: int, nx: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(nx, nf) * 0.02)
        self.bias = nn.Parameter(torch.zeros(nf))

    def forward(self, x: Tensor) -> Tensor:
        return x @ self.weight + self.bias


def gelu(x: Tensor) -> Tensor:
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


class Attention(nn.Module):
    def __init__(self, n_embd: int, n_head: int, n_ctx: int) -> None:
        super().__init__()
        self.n_head = n_head
        self.c_attn = Conv1D(3 * n_embd, n_embd)
        self.c_proj = Conv1D(n_embd, n_embd)
        self.register_buffer("bias", torch.tril(torch.ones(n_ctx, n_ctx, dtype=torch.bool)), persistent=False)

    def heads(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.n_head, -1)).transpose(1, 2)

    def forward(self, x: Tensor) -> Tensor:
        n = x.shape[1]
        q, k, v = map(self.heads, self.c_attn(x).chunk(3, dim=-1))
        w = q @ k.mT / math.sqrt(v.shape[-1])
        w = w.masked_fill(~self.bias[:n, :n], torch.finfo(w.dtype).min)
        a = w.softmax(dim=-1) @ v
        return self.c_proj(a.transpose(1, 2).flatten(2))


class MLP(nn.Module):
    def __init__(self, n_embd: int) -> None:
        super().__init__()
        self.c_fc = Conv1D(4 * n_embd, n_embd)
        self.c_proj = Conv1D(n_embd, 4 * n_embd)

    def forward(self, x: Tensor) -> Tensor:
        return self.c_proj(gelu(self.c_fc(x)))


class Block(nn.Module):
    def __init__(self, n_embd: int, n_head: int, n_ctx: int) -> None:
        super().__init__()
        self.ln_1 = nn.LayerNorm(n_embd, eps=1e-5)
        self.attn = Attention(n_embd, n_head, n_ctx)
        self.ln_2 = nn.LayerNorm(n_embd, eps=1e-5)
        self.mlp = MLP(n_embd)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class GPT2LMHead(nn.Module):
    """Logits (batch, sequence, n_vocab); the output layer is the token embedding, transposed."""

    def __init__(self, n_vocab: int, n_ctx: int, n_embd: int, n_head: int, n_layer: int) -> None:
        super().__init__()
        self.wte = nn.Embedding(n_vocab, n_embd)
        self.wpe = nn.Embedding(n_ctx, n_embd)
        self.h = nn.ModuleList([Block(n_embd, n_head, n_ctx) for _ in range(n_layer)])
        self.ln_f = nn.LayerNorm(n_embd, eps=1e-5)

    def forward(self, input_ids: Tensor) -> Tensor:
        places = torch.arange(input_ids.shape[-1], device=input_ids.device)
        x = self.wte(input_ids) + self.wpe(places)
        for block in self.h:
            x = block(x)
        return self.ln_f(x) @ self.wte.weight.T
