import torch, math
import torch.nn as nn

class AddPosition(nn.Module):
    # width first, then how long the longest sentence may get
    def __init__(self, d_model, max_seq_len = 200, dropout = 0.1):
        super().__init__()
        self.d_model = d_model
        self.drop = nn.Dropout(dropout)
        rows = []
        for p in range(max_seq_len):
            row = []
            for k in range(d_model // 2):
                winkel = p / 10000 ** (2 * k / d_model)
                row += [math.sin(winkel), math.cos(winkel)]
            rows.append(row)
        self.register_buffer('table', torch.tensor(rows))

    def forward(self, x):
        # embeddings are small at first, make them as loud as the positions
        loud = x * math.sqrt(self.d_model)
        n = x.size(1)
        if n > len(self.table):
            raise RuntimeError('increase max_seq_len')
        return self.drop(loud + self.table[:n])
