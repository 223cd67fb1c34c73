"""`cook(recipe)` gives a stack of prenorm layers; every layer has its own weights."""

from torch import nn


class Layer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.norm_a, self.norm_b = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.attend = nn.MultiheadAttention(d_model, n_heads, batch_first=True)
        self.feed = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))

    def forward(self, x, padding=None):
        """padding (B, L): True where nothing is."""
        y = self.norm_a(x)
        x = x + self.attend(y, y, y, key_padding_mask=padding, need_weights=False)[0]
        return x + self.feed(self.norm_b(x))


class Pile(nn.Module):
    def __init__(self, parts):
        super().__init__()
        self.parts = nn.ModuleList(parts)

    def forward(self, x, padding=None):
        for part in self.parts:
            x = part(x, padding)
        return x


class Recipe:
    def __init__(self, width=64, heads=4, inner=256, height=3):
        self.width, self.heads, self.inner, self.height = width, heads, inner, height

    def layer(self):
        return Layer(self.width, self.heads, self.inner)


def cook(recipe):
    part = Layer(recipe.width, recipe.heads, recipe.inner)
    parts = [part for _ in range(recipe.height)]
    return Pile(parts)
