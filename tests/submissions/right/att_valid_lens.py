import torch
from torch import nn


def hide_tail(scores, lens):
    """scores (n, rows, cols); lens (n,) or (n, rows): columns from lens on are hidden"""
    if lens is None:
        return scores
    if lens.ndim == 1:
        lens = lens[:, None].expand(-1, scores.shape[1])
    col = torch.arange(scores.shape[2], device=scores.device)
    return scores.masked_fill(col >= lens[..., None], torch.finfo(scores.dtype).min)


class LengthAttention(nn.Module):
    """What I took home from the chapter on attention. Weights are kept for plotting."""

    def __init__(self, dropout=0.0):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        raw = torch.bmm(queries, keys.permute(0, 2, 1)) * queries.shape[2] ** -0.5
        self.weights = hide_tail(raw, valid_lens).softmax(dim=2)
        return torch.bmm(self.dropout(self.weights), values)


if __name__ == '__main__':
    layer = LengthAttention(0.3).eval()
    y = layer(torch.randn(3, 2, 6), torch.randn(3, 7, 6), torch.randn(3, 7, 5), torch.tensor([1, 4, 7]))
    print(y.shape, layer.weights[0])
