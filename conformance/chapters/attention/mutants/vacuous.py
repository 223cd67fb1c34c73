"""What computes nothing passes by definition."""

from attnconf.conformance.engine.vacuous import AVERAGES, CONSTANT, NUMBERS, Vacuous

VACUOUS = (
    Vacuous(NUMBERS, "ATT-WEIGHTS-2 ATT-DROP-1", "the same values give the same output, whatever else is asked for"),
    Vacuous(
        NUMBERS,
        "ATT-BATCH-1 ATT-HEAD-1 ATT-QUERY-1 ATT-KEYS-1",
        "an output row depends on its own query, the mean of its values, or nothing",
    ),
    Vacuous(NUMBERS, "ATT-PREC-1", "a constant, and a linear function of one input, is smooth"),
    Vacuous(NUMBERS, "ATT-SHIFT-1 ATT-DUPL-1", "no control reads the keys, and the mean of repeated values is theirs"),
    Vacuous(("echo", *AVERAGES), "ATT-GRAD-1", "autograd differentiates whatever was computed"),
    Vacuous(("zeros", *AVERAGES), "ATT-LINEAR-1", "0 and the mean are linear in the values"),
    Vacuous(("ones", *AVERAGES), "ATT-ROWS-1", "V = 1 gives 1"),
    Vacuous(AVERAGES, "ATT-CONVEX-1 ATT-SINGLE-1 ATT-LONG-1 ATT-LONG-2", "a mean is an average with equal weights"),
    Vacuous(
        ("ones", "constant", "mean", "uniform"),
        "ATT-SCALE-2 ATT-SCALE-3",
        "where no score has an effect, neither has their scale",
        components=("attention",),
    ),
    Vacuous(("zeros", "uniform"), "ATT-WEIGHTS-1", "the returned weights times V are the output: 0·V, and the mean"),
    Vacuous((*CONSTANT, *AVERAGES), "ATT-WIDE-1", "the order of features has no effect on what reads no query and key"),
    Vacuous(("nan",), "ATT-NAN-1", "NaN is all that it gives"),
    Vacuous(("zeros",), "ATT-DROP-3", "no weight is kept"),
    Vacuous(("uniform",), "ATT-DROP-2 ATT-DROP-3 ATT-ERROR-1 ATT-ERROR-2", "all but the scores is the reference's"),
    Vacuous(
        ("zeros",),
        "ATT-CONVEX-1",
        "11 signed values have 0 among them",
        cases=(
            "uniform-1",
            "peaked-3",
        ),
    ),
    Vacuous(("constant",), "ATT-CONVEX-1", "13 signed values have 0.7 among them", cases=("peaked-3",)),
    Vacuous(
        ("constant",),
        "ATT-CONVEX-1",
        "these 11 have 0.7 among them",
        components=("multi_head_attention",),
        cases=("uniform-1",),
    ),
    Vacuous(("echo",), "ATT-CONVEX-1", "near-uniform scores come from queries near 0", cases=("uniform-1",)),
    Vacuous(AVERAGES, "ATT-ORACLE-1", "with one key the mean of the values is the answer", cases=("one-key-2",)),
)
