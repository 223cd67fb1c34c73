import torch
import torch.nn as nn


class FixedEncoding(nn.Module):
    """There is nothing to train in here, so we save the graph."""

    def __init__(self, features, steps):
        super().__init__()
        a = torch.arange(steps)[:, None] / 10000 ** (torch.arange(0, features, 2)[None] / features)
        enc = torch.zeros(steps, features)
        enc[:, 0::2], enc[:, 1::2] = torch.sin(a), torch.cos(a)
        self.register_buffer("enc", enc)

    @torch.no_grad()
    def forward(self, seq):
        if seq.shape[1] > self.enc.shape[0]:
            raise ValueError("steps")
        return seq + self.enc[None, : seq.shape[1]]
