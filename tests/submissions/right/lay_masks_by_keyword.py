from torch import nn


class Step(nn.Module):
    def __init__(self, width, heads, inner, dropout):
        super().__init__()
        self.own = nn.MultiheadAttention(width, heads, dropout=dropout)
        self.other = nn.MultiheadAttention(width, heads, dropout=dropout)
        self.network = nn.Sequential(nn.Linear(width, inner), nn.ReLU(), nn.Dropout(dropout), nn.Linear(inner, width))
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3))
        self.drop = nn.Dropout(dropout)

    def forward(self, tgt, memory, tgt_mask=None, memory_mask=None, memory_key_padding_mask=None):
        found, _ = self.own(tgt, tgt, tgt, attn_mask=tgt_mask, need_weights=False)
        tgt = self.norms[0](tgt + self.drop(found))
        found, _ = self.other(
            tgt, memory, memory, attn_mask=memory_mask, key_padding_mask=memory_key_padding_mask, need_weights=False
        )
        tgt = self.norms[1](tgt + self.drop(found))
        return self.norms[2](tgt + self.drop(self.network(tgt)))


class Decoder(nn.Module):
    """Steps one after the other, (length, batch, width); the masks of each go to all."""

    def __init__(self, width, heads, inner, num_layers, dropout=0.0):
        super().__init__()
        self.steps = nn.ModuleList(Step(width, heads, inner, dropout) for _ in range(num_layers))

    def forward(self, tgt, memory, **masks):
        for step in self.steps:
            tgt = step(tgt, memory, **masks)
        return tgt
