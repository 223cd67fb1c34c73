"""Ways to get scaled dot-product attention wrong: the scores."""

from torch.nn.functional import normalize

from attnconf.conformance.chapters.attention.mutants.shared import products
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import attention

relu_on_queries = Mutant(
    "ATT-relu-on-queries",
    story="the queries go through a ReLU",
    breaks={"ATT-SCORE-1"},
    hint="no activation between the projection and the scores",
    replace={attention.score: lambda q, k, scale: attention.score(q.relu(), k, scale)},
    source="survives ONNX's Attention cases",
)

relu_on_keys = Mutant(
    "ATT-relu-on-keys",
    story="the keys go through a ReLU",
    breaks={"ATT-SHIFT-1"},
    hint="no activation between the projection and the scores",
    replace={attention.score: lambda q, k, scale: attention.score(q, k.relu(), scale)},
    source="survives ONNX's Attention cases",
)

relu_on_values = Mutant(
    "ATT-relu-on-values",
    story="the values go through a ReLU",
    breaks={"ATT-LINEAR-1"},
    hint="no activation between the projection and the weighted sum",
    replace={attention.mix: lambda weights, v: attention.mix(weights, v.relu())},
    source="survives ONNX's Attention cases",
)


def attend_on_magnitudes(q, k, v, mask=None, bias=None, scale=None, dropout=0.0):
    return attention.attend(q.abs(), k.abs(), v.abs(), mask, bias, scale, dropout)


magnitudes = Mutant(
    "ATT-magnitudes",
    story="queries, keys and values lose their sign",
    breaks={"ATT-LINEAR-1", "ATT-SHIFT-1"},
    hint="keep the signs of q, k and v",
    replace={attention.attend: attend_on_magnitudes},
    source="survives ONNX's Attention cases",
)


def attend_on_rectified(q, k, v, mask=None, bias=None, scale=None, dropout=0.0):
    return attention.attend(q.relu(), k.relu(), v.relu(), mask, bias, scale, dropout)


rectified = Mutant(
    "ATT-relu-on-projections",
    story="queries, keys and values go through a ReLU",
    breaks={"ATT-LINEAR-1", "ATT-SHIFT-1"},
    hint="the projections are linear: no activation behind them",
    replace={attention.attend: attend_on_rectified},
    source="CyberZHG/keras-multi-head, whose activation is relu unless told otherwise",
)

negated = Mutant(
    "ATT-negated",
    story="the scores have the wrong sign: the key that fits best weighs least",
    breaks={"ATT-SCORE-1"},
    hint="softmax of +q·k",
    replace={attention.score: lambda q, k, scale: -attention.score(q, k, scale)},
)

queries_normalised = Mutant(
    "ATT-queries-normalised",
    story="every query is divided by its length",
    breaks={"ATT-SCORE-1"},
    hint="use q as it is; its length is how sure it is",
    replace={attention.score: lambda q, k, scale: attention.score(normalize(q, dim=-1), k, scale)},
)

cosine = Mutant(
    "ATT-cosine",
    story="the scores are cosines: keys and queries are divided by their lengths",
    breaks={"ATT-SHIFT-1"},
    hint="use the plain dot product",
    replace={attention.score: lambda q, k, scale: products(normalize(q, dim=-1), normalize(k, dim=-1))},
    variants=[
        {attention.score: lambda q, k, scale: scale * products(normalize(q, dim=-1), normalize(k, dim=-1))},
        {attention.score: lambda q, k, scale: products(normalize(q, dim=-1), normalize(k, dim=-1)) / scale},
    ],
)

distances = Mutant(
    "ATT-distances",
    story="the scores are negative squared distances between query and key",
    breaks={"ATT-SHIFT-1"},
    hint="use the plain dot product",
    replace={
        attention.score: lambda q, k, scale: -scale / 2 * (q[..., :, None, :] - k[..., None, :, :]).square().sum(-1)
    },
)


def clamp_to(limit):
    return {attention.score: lambda q, k, scale: attention.score(q, k, scale).clamp(-limit, limit)}


clamped = Mutant(
    "ATT-clamped",
    story="the scores are clamped, to ±7 say",
    breaks={"ATT-RETR-1"},
    hint="subtract the row's maximum for stability; do not clamp",
    replace=clamp_to(7),
    variants=[clamp_to(limit) for limit in (1, 2, 3, 5, 8, 10, 15, 20, 30, 50, 64, 80, 88, 100)],
)
