from torch import Tensor, nn


class WordTable(nn.Module):
    """A row for each word; whoever calls it names what is given."""

    def __init__(self, *, num_words: int, width: int):
        super().__init__()
        self.rows = nn.Embedding(num_words, width)

    def forward(self, *, word_ids: Tensor) -> Tensor:
        return self.rows(word_ids)
