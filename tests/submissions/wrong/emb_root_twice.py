from torch import nn


class InputEmbeddings(nn.Module):
    def __init__(self, d_model: int, vocab_size: int) -> None:
        super().__init__()
        self.d_model = d_model
        self.embedding = nn.Embedding(vocab_size, d_model)

    def lookup(self, ids):
        return self.embedding(ids) * self.d_model ** 0.5

    def forward(self, ids):
        # (batch, seq_len) --> (batch, seq_len, d_model), scaled as in section 3.4
        return self.lookup(ids) * self.d_model ** 0.5
