import torch
import torch.nn.functional as F
from torch import nn


class TinyWriter(nn.Module):
    """Predicts the next symbol. Given `labels`, the same symbols as `ids`, it returns (logits, loss) as well."""

    def __init__(self, n_symbols, width=64, heads=4, depth=2, longest=128):
        super().__init__()
        self.symbols, self.places = nn.Embedding(n_symbols, width), nn.Embedding(longest, width)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(width, heads, 4 * width, 0.0, F.gelu, batch_first=True, norm_first=True)
            for _ in range(depth)
        )
        self.norm = nn.LayerNorm(width)
        self.scores = nn.Linear(width, n_symbols, bias=False)

    def forward(self, ids, labels=None):
        n = ids.shape[1]
        later = torch.ones(n, n, dtype=torch.bool, device=ids.device).triu(1)
        x = self.symbols(ids) + self.places(torch.arange(n, device=ids.device))
        for layer in self.layers:
            x = layer(x, src_mask=later)
        logits = self.scores(self.norm(x))
        if labels is None:
            return logits
        loss = F.cross_entropy(logits[:, 1:].flatten(0, 1), labels[:, :-1].flatten())
        return logits, loss
