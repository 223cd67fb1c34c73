import torch.nn as nn
import torch.nn.functional as F


class DroppedEmbedding(nn.Module):
    def __init__(self, n_vocab, n_embd, pdrop=0.1):
        super().__init__()
        self.pdrop = pdrop
        self.wte = nn.Embedding(n_vocab, n_embd)

    def forward(self, idx):
        emb = self.wte(idx)
        return F.dropout(emb, p=self.pdrop, training=True)
