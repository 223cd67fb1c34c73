"""A block of an encoder for sensor readings, built from one frozen set of options."""

from dataclasses import dataclass

from torch import nn

NETWORKS = {"relu": nn.ReLU, "gelu": nn.GELU}


@dataclass(frozen=True)
class Options:
    width: int = 48
    heads: int = 4
    inner: int = 96
    act: str = "relu"  # or "gelu"
    eps: float = 1e-5

    def __post_init__(self):
        if self.act not in NETWORKS:
            raise ValueError(f"act: one of {sorted(NETWORKS)}")


class SensorBlock(nn.Module):
    """Readings (batch, time, width); attention, then a network, each with its norm in front."""

    def __init__(self, options: Options):
        super().__init__()
        self.options = options
        self.before_attention = nn.LayerNorm(options.width, options.eps)
        self.attention = nn.MultiheadAttention(options.width, options.heads, batch_first=True)
        self.before_network = nn.LayerNorm(options.width, options.eps)
        self.network = nn.Sequential(
            nn.Linear(options.width, options.inner), nn.ReLU(), nn.Linear(options.inner, options.width)
        )

    def forward(self, readings):
        normed = self.before_attention(readings)
        readings = readings + self.attention(normed, normed, normed, need_weights=False)[0]
        return readings + self.network(self.before_network(readings))
