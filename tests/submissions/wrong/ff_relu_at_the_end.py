import torch.nn as nn


class FFN(nn.Sequential):
    def __init__(self, emb, hid):
        super().__init__(
            nn.Linear(emb, hid),
            nn.ReLU(),
            nn.Linear(hid, emb),
            nn.ReLU(),
        )
