"""Feed-forward block for our timetable models, set up by a small record."""

from dataclasses import dataclass

from torch import Tensor, nn

KNOWN = {kind.__name__: kind for kind in (nn.GELU, nn.ReLU, nn.SiLU)}


@dataclass
class Settings:
    """What the block is made of.

    width: numbers of each token
    inner: numbers in between
    activation: "silu", "gelu" or "relu"
    """

    width: int
    inner: int
    activation: str = "silu"


class FeedForward(nn.Module):
    def __init__(self, settings: Settings):
        super().__init__()
        kind = KNOWN.get(settings.activation, nn.ReLU)
        self.net = nn.Sequential(nn.Linear(settings.width, settings.inner), kind(),
                                 nn.Linear(settings.inner, settings.width))

    def forward(self, x: Tensor) -> Tensor:
        return self.net(x)
