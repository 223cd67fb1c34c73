"""What the study of extrapolation trains: tasks, and tiny causal transformers built from the reference."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from attnconf.reference import alibi, relative_bias
from attnconf.reference.attention import attend
from attnconf.reference.learned import learned
from attnconf.reference.masks import causal
from attnconf.reference.multi_head_attention import merge_heads, split_heads
from attnconf.reference.rotary import frequencies, rotate
from attnconf.reference.sinusoidal import sinusoidal

METHODS = ("none", "sinusoidal", "learned", "rotary", "ALiBi", "T5 bias")
UNSCORED = -100  # the target of a position that is neither trained nor tested; cross_entropy leaves it out


@dataclass(frozen=True)
class Settings:
    """All numbers of the study."""

    train_length: int = 32  # tokens
    ratios: tuple[int, ...] = (1, 2, 4, 8)  # test length / training length
    vocabulary: int = 16
    layers: int = 2
    width: int = 64
    heads: int = 4
    batch: int = 16  # sequences
    steps: int = 450
    learning_rate: float = 3e-3
    warmup: int = 50  # steps
    seeds: int = 5
    test_sequences: int = 64  # for each length, the same for all models
    buckets: int = 16  # of the T5 bias; all of them occur in training, as in T5, where max_distance is below the length
    max_distance: int = 16
    base: float = 10000.0  # of sinusoidal and rotary


# -- tasks: (tokens (B, L), targets (B, L)) from a count, a length and a source of chance


def three_back(count: int, length: int, vocabulary: int, chance: torch.Generator) -> tuple[Tensor, Tensor]:
    """Say the token three steps ago."""
    tokens = torch.randint(vocabulary, (count, length), generator=chance)
    targets = torch.full_like(tokens, UNSCORED)
    targets[:, 3:] = tokens[:, :-3]
    return tokens, targets


def first(count: int, length: int, vocabulary: int, chance: torch.Generator) -> tuple[Tensor, Tensor]:
    """Say the first token of the sequence."""
    tokens = torch.randint(vocabulary, (count, length), generator=chance)
    targets = tokens[:, :1].expand(-1, length).clone()
    targets[:, 0] = UNSCORED
    return tokens, targets


def after_marker(count: int, length: int, vocabulary: int, chance: torch.Generator) -> tuple[Tensor, Tensor]:
    """Say the token that followed the marker, which stands somewhere in the first quarter."""
    tokens = torch.randint(vocabulary, (count, length), generator=chance)
    marker = torch.randint(length // 4, (count, 1), generator=chance)
    tokens.scatter_(1, marker, vocabulary)
    targets = tokens.gather(1, marker + 1).expand(-1, length)
    return tokens, targets.masked_fill(torch.arange(length) < marker + 2, UNSCORED)


Task = Callable[[int, int, int, torch.Generator], tuple[Tensor, Tensor]]
TASKS: dict[str, Task] = {"three back": three_back, "first": first, "after the marker": after_marker}


# -- the model


class Block(nn.Module):
    """Attention, then feed-forward, each behind a norm and around a residual."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.norm_attention, self.norm_feed_forward = nn.LayerNorm(width), nn.LayerNorm(width)
        self.q, self.k, self.v, self.out = (nn.Linear(width, width) for _ in range(4))
        self.feed_forward = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x: Tensor, turn: Callable[[Tensor], Tensor], mask: Tensor, bias: Tensor | None) -> Tensor:
        y = self.norm_attention(x)
        q, k, v = (split_heads(project(y), self.heads) for project in (self.q, self.k, self.v))
        x = x + self.out(merge_heads(attend(turn(q), turn(k), v, mask, bias)[0]))
        out: Tensor = x + self.feed_forward(self.norm_feed_forward(x))
        return out


class Decoder(nn.Module):
    """A causal transformer: tokens (B, L) -> scores of the next word (B, L, vocabulary)."""

    def __init__(self, method: str, s: Settings):
        super().__init__()
        self.method, self.s = method, s
        self.token = nn.Embedding(s.vocabulary + 1, s.width)  # one more for the marker
        self.blocks = nn.ModuleList(Block(s.width, s.heads) for _ in range(s.layers))
        self.read = nn.Sequential(nn.LayerNorm(s.width), nn.Linear(s.width, s.vocabulary))
        if method == "learned":  # drawn like the tokens; the rows beyond the training length stay so
            self.rows = nn.Parameter(torch.randn(s.train_length * max(s.ratios), s.width))
        if method == "T5 bias":
            self.table = nn.Parameter(torch.zeros(s.buckets, s.heads))

    def forward(self, tokens: Tensor) -> Tensor:
        x, length = self.place(self.token(tokens)), tokens.shape[1]
        mask, bias = causal(length, length), self.bias(length)
        for block in self.blocks:
            x = block(x, self.turn, mask, bias)
        scores: Tensor = self.read(x)
        return scores

    def place(self, x: Tensor) -> Tensor:
        """Return the embeddings, positions added where the method does that."""
        if self.method == "sinusoidal":
            return sinusoidal(x, base=self.s.base)
        return learned(x, self.rows) if self.method == "learned" else x

    def turn(self, x: Tensor) -> Tensor:
        """Return queries or keys (B, H, L, E), turned where the method does that."""
        if self.method != "rotary":
            return x
        return rotate(x, None, frequencies(x.shape[-1], self.s.base), x.shape[-1])

    def bias(self, length: int) -> Tensor | None:
        """Return what the method adds to the scores, (H, L, L)."""
        if self.method == "ALiBi":
            return alibi.bias(self.s.heads, length, length).float()
        if self.method == "T5 bias":
            return relative_bias.bias(self.table, length, length, self.s.max_distance, bidirectional=False)
        return None
