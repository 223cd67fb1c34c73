# Trabalho prático: atenção com RoPE
import torch
import torch.nn as nn


class AtencaoRotativa(nn.Module):
    def __init__(self, dim_cabeca, causal=False, base=10000.0):
        super().__init__()
        self.dim = dim_cabeca
        self.causal = causal
        if dim_cabeca % 2:
            raise ValueError('dim_cabeca precisa ser par')
        self.register_buffer('freq', base ** (-torch.arange(0, dim_cabeca, 2, dtype=torch.float64) / dim_cabeca), persistent=False)

    def girar(self, x):
        ang = torch.arange(x.shape[2], dtype=torch.float64)[:, None] * self.freq.double()
        z = torch.polar(torch.ones_like(ang), ang)
        pares = torch.view_as_complex(x.double().reshape(*x.shape[:3], -1, 2).contiguous())
        return torch.view_as_real(pares * z).reshape(x.shape).to(x.dtype)

    def forward(self, consultas, chaves, valores):
        consultas = self.girar(consultas)
        notas = consultas @ chaves.transpose(2, 3) / self.dim ** 0.5
        if self.causal:
            n = notas.shape[-1]
            notas = notas.masked_fill(torch.ones(n, n, dtype=torch.bool, device=notas.device).triu(1), float('-inf'))
        return torch.softmax(notas, dim=-1) @ valores
