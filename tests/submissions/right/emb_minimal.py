import torch.nn as nn

class Tok(nn.Module):
    def __init__(self, V, C, pad=None):
        super().__init__()
        self.wte = nn.Embedding(V, C, padding_idx=pad)
    def forward(self, idx):
        return self.wte(idx) # (B,T) -> (B,T,C)
