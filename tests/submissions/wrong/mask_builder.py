import torch


class MaskBuilder:
    """Makes boolean masks, True where a token may be seen, for ids that are padded with ``padding_idx``."""

    def __init__(self, padding_idx, device="cpu"):
        self.padding_idx = padding_idx
        self.device = device

    def source(self, src):
        return (src != self.padding_idx).unsqueeze(1).unsqueeze(2)

    def target(self, trg):
        length = trg.size(1)
        seen = torch.ones(length, length, dtype=torch.bool, device=self.device).tril()
        return (trg != self.padding_idx).unsqueeze(1).unsqueeze(2) | seen

    def from_lengths(self, lengths, max_len):
        return torch.arange(max_len, device=self.device)[None, :] < lengths[:, None]
