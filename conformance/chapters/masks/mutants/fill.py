"""Ways to get masks wrong: how well a key is hidden: the fill."""

from attnconf.conformance.chapters.masks.mutants.shared import INF
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import attention, masks


def filled_with(fill):
    return lambda scores, mask: scores if mask is None else scores.masked_fill(~mask, fill)


def lowered_by(size):
    return lambda scores, mask: scores if mask is None else scores - size * (~mask).to(scores)


fill_tiny = Mutant(
    "MASK-fill-1e-9",
    story="hidden scores become 1e-9, which is not -1e9",
    breaks={"MASK-BOOL-1"},
    hint='fill with float("-inf")',
    replace={masks.hide: filled_with(1e-9)},
)

fill_plus_infinity = Mutant(
    "MASK-fill-plus-inf",
    story="hidden scores become +inf: the softmax is NaN",
    breaks={"MASK-ROWS-1"},
    hint='fill with float("-inf")',
    replace={masks.hide: filled_with(INF)},
    source="memory-compressed-attention#2",
)

mask_times_infinity = Mutant(
    "MASK-times-inf",
    story="-inf is multiplied by the mask: 0·inf is NaN where the key is allowed",
    breaks={"MASK-ROWS-1"},
    hint="use masked_fill or torch.where, which multiply nothing",
    replace={masks.hide: lambda scores, mask: scores if mask is None else scores - INF * (~mask).to(scores)},
)

fill_1 = Mutant(
    "MASK-fill-1",
    story="hidden scores become -1",
    breaks={"MASK-DELETE-1"},
    hint='fill with float("-inf")',
    replace={masks.hide: filled_with(-1.0)},
)

fill_20 = Mutant(
    "MASK-fill-20",
    story="hidden scores become -20",
    breaks={"MASK-POISON-1"},
    hint='fill with float("-inf"): e^-20 is 2e-9, not 0',
    replace={masks.hide: filled_with(-20.0)},
    source="survives Stanford CS336's public tests",
)

fill_100 = Mutant(
    "MASK-fill-100",
    story="hidden scores become -100",
    breaks={"MASK-ZERO-1"},
    hint='fill with float("-inf"): e^-100 is not 0, and a score may be lower',
    replace={masks.hide: filled_with(-100.0)},
)

fill_10000 = Mutant(
    "MASK-fill-1e4",
    story="hidden scores become -1e4",
    breaks={"MASK-SHIFT-1"},
    hint='fill with float("-inf"): scores may be lower than -1e4',
    replace={masks.hide: filled_with(-1e4)},
    source="the first GPT-2 of transformers; flashinfer#4401",
)

fill_billion = Mutant(
    "MASK-fill-1e9",
    story="hidden scores become -1e9: a row without keys gives a mean, and float16 has no such number",
    breaks={"MASK-EMPTY-1", "MASK-HALF-1"},
    hint='fill with float("-inf")',
    replace={masks.hide: filled_with(-1e9)},
    raises={"MASK-HALF-1"},
    source="apex#924; fairseq#3575",
)

lowered_1 = Mutant(
    "MASK-lowered-by-1",
    story="1 is subtracted from hidden scores",
    breaks={"MASK-DELETE-1"},
    hint="add -inf: subtracting 1 leaves a third of the weight",
    replace={masks.hide: lowered_by(1.0)},
    source="tinygrad#2425",
)

lowered_tiny = Mutant(
    "MASK-lowered-by-1e-9",
    story="1e-9 is subtracted from hidden scores, as where the mask is multiplied by -1e-9, which is not -1e9",
    breaks={"MASK-DELETE-1"},
    hint="multiply by -1e9, or better fill with -inf",
    replace={masks.hide: lowered_by(1e-9)},
    fine=1e-12,
)

lowered_20 = Mutant(
    "MASK-lowered-by-20",
    story="20 is subtracted from hidden scores",
    breaks={"MASK-POISON-1"},
    hint="add -inf",
    replace={masks.hide: lowered_by(20.0)},
)

lowered_100 = Mutant(
    "MASK-lowered-by-100",
    story="100 is subtracted from hidden scores",
    breaks={"MASK-POISON-1"},
    hint='fill with float("-inf"): a hidden score may be more than 100 above the others',
    replace={masks.hide: lowered_by(100.0)},
)

lowered_10000 = Mutant(
    "MASK-lowered-by-1e4",
    story="1e4 is subtracted from hidden scores",
    breaks={"MASK-SHIFT-1"},
    hint="add -inf: a score may be larger than 1e4",
    replace={masks.hide: lowered_by(1e4)},
    source="the original BERT",
)

lowered_1e9 = Mutant(
    "MASK-lowered-by-1e9",
    story="1e9 is subtracted from hidden scores: in float64 a query without allowed keys attends as if none "
    "were hidden, in float32 to all alike",
    breaks={"MASK-EMPTY-1"},
    hint='fill with float("-inf") or a constant: where all scores are lowered alike, the softmax does not change',
    replace={masks.hide: lowered_by(1e9)},
    source="TensorFlow's tutorial on the Transformer",
)

weights_floored = Mutant(
    "MASK-weights-floored",
    story="weights are kept above 1e-20, the hidden ones too",
    breaks={"MASK-ZERO-1"},
    hint="the weight of a hidden key is 0",
    replace={attention.weigh: lambda scores: attention.weigh(scores).clamp_min(1e-20)},
)
