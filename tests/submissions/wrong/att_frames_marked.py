import torch
from torch import nn


class FrameAttention(nn.Module):
    """Attention among the frames of a clip.

    ``frames`` is (clips, length, channels). Clips of different lengths are padded: hand over ``gaps``
    (clips, length), in which True marks a frame that is filler, and nobody listens to those.
    """

    def __init__(self, channels: int, heads: int):
        super().__init__()
        self.heads = heads
        self.ask, self.offer, self.carry, self.back = (nn.Linear(channels, channels) for _ in range(4))

    def apart(self, x):
        return x.unflatten(-1, (self.heads, -1)).movedim(-2, 1)

    def forward(self, frames, gaps=None):
        q, k, v = (self.apart(layer(frames)) for layer in (self.ask, self.offer, self.carry))
        fits = torch.einsum("chik,chjk->chij", q, k) * k.size(-1) ** -0.5
        if gaps is not None:
            fits = fits.masked_fill(~gaps[:, None, None], -torch.inf)
        heard = torch.einsum("chij,chjk->cihk", fits.softmax(-1), v)
        return self.back(heard.flatten(-2))
