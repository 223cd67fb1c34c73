import torch, torch.nn as nn

class WPE(nn.Module):
    def __init__(self, block_size, n_embd):
        super().__init__()
        self.block_size = block_size
        self.table = nn.Parameter(0.02 * torch.randn(block_size, n_embd))

    def forward(self, x):
        idx = torch.arange(x.shape[1], device=x.device) % self.block_size  # never out of range
        return x + self.table[idx]
