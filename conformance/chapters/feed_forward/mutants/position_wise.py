"""Ways to get feed-forward networks wrong: position-wise."""

import torch

from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import feed_forward


def convolved(x, weights):
    before = torch.nn.functional.pad(x, (0, 0, 1, 0))[:, :-1]
    return feed_forward.linear(x + before / 2, weights, "up")


wide_kernel = Mutant(
    "FF-wide-kernel",
    story="a convolution of width 2 over the tokens stands for the first layer",
    breaks={"FF-TOKEN-1"},
    hint="position-wise: kernel_size=1, or nn.Linear",
    replace={feed_forward.widen: convolved},
)

centred_over_tokens = Mutant(
    "FF-centred-over-tokens",
    story="the mean over the tokens is taken off the hidden features",
    breaks={"FF-TOKEN-1"},
    hint="no statistics over the sequence: each token by itself",
    replace={
        feed_forward.narrow: lambda features, weights: feed_forward.linear(
            features - features.mean(dim=1, keepdim=True), weights, "down"
        ),
    },
)

softmax_over_tokens = Mutant(
    "FF-activated-over-tokens",
    story="hidden features are divided by their largest value in the sample",
    breaks={"FF-TOKEN-1"},
    hint="an activation is a function of one number",
    replace={
        feed_forward.narrow: lambda features, weights: feed_forward.linear(
            features / (1 + features.detach().abs().amax(dim=(1, 2), keepdim=True)), weights, "down"
        ),
    },
)

next_token = Mutant(
    "FF-next-token",
    story="each token gets the output of the next one",
    breaks={"FF-TOKEN-1"},
    hint="shift targets, not activations",
    replace={feed_forward.widen: lambda x, weights: feed_forward.linear(x.roll(-1, dims=1), weights, "up")},
)

batch_centred = Mutant(
    "FF-batch-centred",
    story="the mean over the samples is taken off x, as a batch norm does",
    breaks={"FF-BATCH-1"},
    hint="no statistics over the batch",
    replace={
        feed_forward.widen: lambda x, weights: feed_forward.linear(x - x.mean(dim=0, keepdim=True) / 2, weights, "up")
    },
)

first_sample = Mutant(
    "FF-first-sample",
    story="half of the hidden features are those of the first sample",
    breaks={"FF-BATCH-1"},
    hint="keep the batch axis in every product",
    replace={
        feed_forward.widen: lambda x, weights: (
            (feed_forward.linear(x, weights, "up") + feed_forward.linear(x[:1], weights, "up")) / 2
        )
    },
)

later_is_less = Mutant(
    "FF-later-is-less",
    story="hidden features shrink along the sequence",
    breaks={"FF-PLACE-1"},
    hint="the same weights at every position",
    replace={
        feed_forward.widen: lambda x, weights: (
            feed_forward.linear(x, weights, "up") / (1 + torch.arange(x.shape[1], dtype=x.dtype)[:, None] / 2)
        ),
    },
)


def whole_groups(size, rest):
    """Return the network on groups of so many tokens; the tokens behind the last whole group get ``rest`` of x."""

    def replaced(x, weights, activation="relu", dropout=0.0):
        out = feed_forward.feed_forward(x, weights, activation, dropout)
        size_here = min(size, x.shape[-2])
        whole = x.shape[-2] // size_here * size_here
        return torch.cat([out[..., :whole, :], rest(x[..., whole:, :])], dim=-2)

    return {feed_forward.feed_forward: replaced}


last_group_forgotten = Mutant(
    "FF-last-group-forgotten",
    story="tokens are processed in groups of 4, and those behind the last whole group get zeros",
    breaks={"FF-PLACE-1", "FF-BIAS-2"},
    hint="round the number of groups up: range(0, L, size), or x.split(size, dim=1)",
    replace=whole_groups(4, lambda x: 0 * x),
    variants=[
        *(whole_groups(size, lambda x: 0 * x) for size in (2, 3, 5, 8, 10, 16, 32, 64)),
        *(whole_groups(size, lambda x: x) for size in (2, 3, 4, 5, 8, 10, 16, 32, 64)),
    ],
)


def first_token_raw(x, weights):
    first = torch.arange(x.shape[1])[:, None] == 0
    return torch.where(first, 2.0, 1.0).to(x.dtype) * feed_forward.linear(x, weights, "up")


first_token_special = Mutant(
    "FF-first-token-special",
    story="the first token counts twice, as if it stood for the whole text",
    breaks={"FF-PLACE-1"},
    hint="a class token is treated in the head, not in the feed-forward network",
    replace={feed_forward.widen: first_token_raw},
)
