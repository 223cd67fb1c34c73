"""What the null implementations of test_null_controls.py pass by definition: data, each entry with its reason."""

from dataclasses import dataclass

EVERYWHERE = ("attention", "multi_head_attention")
CONSTANT = ("zeros", "ones", "constant")
NUMBERS = (*CONSTANT, "echo", "mean", "uniform")  # the same finite numbers in every call
AVERAGES = ("mean", "uniform")
ALL = (*NUMBERS, "nan", "random")
LAYERS = ("multi_head_attention",)


@dataclass(frozen=True)
class Allowed:
    """Controls that pass requirements by definition: all cases, or those named."""

    controls: tuple[str, ...]
    requirements: str
    reason: str
    components: tuple[str, ...] = EVERYWHERE
    cases: tuple[str, ...] = ()


ALLOWED = [
    Allowed(ALL, "CALL-SHAPE-1 CALL-DTYPE-1 ATT-EMPTY-1", "shape and dtype are right, whatever the numbers"),
    Allowed(ALL, "CALL-IMMUT-1", "nothing is written to the inputs"),
    Allowed(
        NUMBERS,
        "ATT-STRIDE-1 CALL-REPEAT-1 ATT-MODE-1 ATT-WEIGHTS-2 ATT-DROP-1",
        "the same values give the same output, whatever the layout, the mode, earlier calls or what else is asked for",
    ),
    Allowed(
        NUMBERS,
        "ATT-BATCH-1 ATT-HEAD-1 ATT-QUERY-1 ATT-KEYS-1",
        "an output row depends on its own query, the mean of its values, or nothing",
    ),
    Allowed(NUMBERS, "ATT-PREC-1", "a constant, and a linear function of one input, is smooth"),
    Allowed(NUMBERS, "ATT-SHIFT-1 ATT-DUPL-1", "no control reads the keys, and the mean of repeated values is theirs"),
    Allowed(("echo", *AVERAGES), "ATT-GRAD-1", "autograd differentiates whatever was computed"),
    Allowed(("zeros", *AVERAGES), "ATT-LINEAR-1", "0 and the mean are linear in the values"),
    Allowed(("ones", *AVERAGES), "ATT-ROWS-1", "V = 1 gives 1"),
    Allowed(AVERAGES, "ATT-CONVEX-1 ATT-SINGLE-1 ATT-LONG-1", "a mean is an average with equal weights"),
    Allowed(
        ("ones", "constant", *AVERAGES),
        "ATT-SCALE-2 ATT-SCALE-3",
        "where no score has an effect, neither has their scale",
        ("attention",),
    ),
    Allowed(("zeros", "uniform"), "ATT-WEIGHTS-1", "the returned weights times V are the output: 0·V, and the mean"),
    Allowed(("zeros",), "ATT-DROP-3", "no weight is kept"),
    Allowed(("uniform",), "ATT-DROP-2 ATT-DROP-3 ATT-ERROR-1 ATT-ERROR-2", "all but the scores is the reference's"),
    Allowed(("zeros",), "ATT-CONVEX-1", "11 signed values have 0 among them", cases=("uniform-1", "peaked-3")),
    Allowed(("constant",), "ATT-CONVEX-1", "13 signed values have 0.7 among them", cases=("peaked-3",)),
    Allowed(("constant",), "ATT-CONVEX-1", "these 11 have 0.7 among them", LAYERS, ("uniform-1",)),
    Allowed(("echo",), "ATT-CONVEX-1", "near-uniform scores come from queries near 0", cases=("uniform-1",)),
    Allowed(AVERAGES, "ATT-ORACLE-1", "with one key the mean of the values is the answer", cases=("one-key-2",)),
    # masks: most laws compare two calls, and what ignores scores or masks is the same in both
    Allowed(ALL, "MASK-IMMUT-1", "nothing is written to masks and biases"),
    Allowed(
        ALL, "MASK-EMPTY-2 MASK-EMPTY-5", "rows without keys are compared by kind (zeros, NaN, mean, or none of them)"
    ),
    Allowed(
        NUMBERS,
        "MASK-ALL-1 MASK-AND-1 MASK-BROADCAST-1 MASK-EMPTY-3 MASK-HEAD-1 "
        "MASK-QUERY-1 MASK-SAMPLE-1 MASK-SHIFT-1 MASK-STRIDE-1",
        "two masks that say the same are ignored alike, or obeyed alike",
    ),
    Allowed(
        (*CONSTANT, "echo", "uniform"),
        "MASK-BIAS-2 MASK-CAUSAL-4 MASK-DELETE-1 MASK-HALF-1 MASK-HOLES-1 MASK-NAN-1 MASK-PADDING-1 MASK-POISON-1",
        "what does not read a value has left it out; the uniform one obeys masks",
    ),
    Allowed((*CONSTANT, "echo", "uniform", "nan"), "MASK-ZERO-1", "as above, and NaN equals NaN bit for bit"),
    Allowed(("echo", *AVERAGES), "MASK-CAUSAL-3", "ignored, or obeyed, with the flag as with the mask"),
    Allowed(("ones", *AVERAGES), "MASK-ROWS-1", "V = 1 gives 1"),
    Allowed(AVERAGES, "MASK-DEFAULT-1 MASK-EMPTY-4", "no mask is made up, and the gradients of a mean are finite"),
    Allowed(("zeros", "uniform"), "MASK-EMPTY-1 MASK-WEIGHTS-1", "zeros are declared; 0·V is 0"),
    Allowed(("echo", "uniform"), "MASK-ZEROGRAD-1", "no gradient reaches a hidden value"),
    Allowed(
        ("uniform",),
        "MASK-BIAS-3 MASK-BOOL-1 MASK-CAUSAL-1 MASK-CAUSAL-2 MASK-LONG-1",
        "masks are obeyed: these compare with the mean over the keys that are left",
    ),
    # multi-head attention: laws that compare two calls whose weights differ
    Allowed(
        NUMBERS,
        "MHA-BIAS-3 MHA-HEADS-1 MHA-KBIAS-1 MHA-KEY-1 MHA-MANY-1 MHA-MERGE-1 MHA-MODE-1 MHA-ONE-1 MHA-SELF-1",
        "where neither scores nor weights are used, moving them about or leaving them out changes nothing",
        LAYERS,
    ),
    Allowed((*CONSTANT, "uniform"), "MHA-BIAS-1 MHA-OUT-1", "as above; the uniform one has honest projections", LAYERS),
    Allowed(
        (*CONSTANT, "echo", "uniform"), "MHA-PAD-1 MHA-VALUE-1 MHA-WIDTH-1", "as above, without reading values", LAYERS
    ),
    Allowed((*CONSTANT, *AVERAGES), "MHA-QUERY-1 MHA-WIDTH-2", "as above, without reading queries", LAYERS),
    Allowed(("echo",), "MHA-PERM-1", "the query permuted is the output permuted", LAYERS),
    Allowed(("random",), "MHA-DEAD-1", "every output differs from the one before, whatever was changed", LAYERS),
    Allowed(("zeros", "uniform"), "MHA-WEIGHTS-1", "0·V is 0; the uniform weights are the ones used", LAYERS),
    Allowed(
        ("uniform",),
        "MHA-BIAS-2 MHA-DIVIDE-1 MHA-ERROR-1 MHA-GRAD-1 MHA-SINGLE-1",
        "all but the scores is the reference's",
        LAYERS,
    ),
]
