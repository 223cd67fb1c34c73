import torch
import torch.nn as nn


class ResLayer(nn.Module):
    def __init__(self, width, heads, inner):
        super().__init__()
        self.mha = nn.MultiheadAttention(width, heads, batch_first=True)
        self.l1, self.l2 = nn.Linear(width, inner), nn.Linear(inner, width)
        self.n1, self.n2 = nn.LayerNorm(width), nn.LayerNorm(width)

    def forward(self, x):
        x = self.n1(x + self.mha(x, x, x)[0])
        return self.n2(x + self.l2(self.l1(x).relu()))


class DeepEncoder(nn.Module):
    def __init__(self, num_layers, width, heads, inner):
        super().__init__()
        self.layers = nn.ModuleList([ResLayer(width, heads, inner)] * num_layers)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


if __name__ == "__main__":
    model = DeepEncoder(6, 64, 8, 256)
    print(f"{sum(p.numel() for p in model.parameters()) / 1e6:.2f}M parameters")
