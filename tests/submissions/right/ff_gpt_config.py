import math
import torch
import torch.nn as nn
from dataclasses import dataclass

@dataclass
class ModelArgs:
    n_embd: int = 64
    bias: bool = True
    dropout: float = 0.0

def new_gelu(x):
    """the gelu of the gpt-2 weights (tanh)"""
    inner = math.sqrt(2.0 / math.pi) * (x + 0.044715 * x * x * x)
    return x * (0.5 * torch.tanh(inner) + 0.5)

class MLP(nn.Module):

    def __init__(self, args):
        super().__init__()
        self.c_fc = nn.Linear(args.n_embd, 4 * args.n_embd, bias=args.bias)
        self.c_proj = nn.Linear(4 * args.n_embd, args.n_embd, bias=args.bias)
        self.dropout = nn.Dropout(args.dropout)

    def forward(self, x):
        x = new_gelu(self.c_fc(x)) # (B, T, 4C)
        return self.dropout(self.c_proj(x))
