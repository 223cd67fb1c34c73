import torch
from torch import LongTensor, Tensor, nn


class LookupTable(nn.Module):
    """Own table, own gather. Raises for ids that are not in the vocabulary."""

    def __init__(self, num_tokens: int, emb_dim: int, init_std: float = 0.02):
        super().__init__()
        self.num_tokens = num_tokens
        self.weight = nn.Parameter(torch.empty(num_tokens, emb_dim).normal_(std=init_std))

    def forward(self, token_ids: LongTensor) -> Tensor:
        if token_ids.dtype not in (torch.int32, torch.int64):
            raise TypeError(f"token ids must be integers, got {token_ids.dtype}")
        if ((token_ids < 0) | (token_ids >= self.num_tokens)).any():
            raise IndexError("token id out of range")
        flat = self.weight.index_select(0, token_ids.reshape(-1))
        return flat.reshape(*token_ids.shape, self.weight.shape[1])
