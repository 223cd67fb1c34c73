import torch

class SinusoidPE(torch.nn.Module):
    def __init__(self, n_embd, block_size):
        super().__init__()
        k = torch.arange(n_embd // 2)
        freq = 10000.0 ** (-k / n_embd)
        t = torch.arange(block_size)
        arg = t[:, None] * freq[None, :]
        self.register_buffer("pe", torch.stack([arg.sin(), arg.cos()], 2).reshape(block_size, n_embd))

    def forward(self, x):
        B, T, C = x.shape
        assert T <= len(self.pe)
        return x + self.pe[:T]
