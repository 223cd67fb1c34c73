"""What computes nothing passes by definition."""

from attnconf.conformance.engine.vacuous import AVERAGES, CONSTANT, EVERYTHING, NUMBERS, Vacuous

VACUOUS = (
    Vacuous(
        EVERYTHING,
        "MASK-EMPTY-2 MASK-EMPTY-5",
        "rows without keys are compared by kind (zeros, NaN, mean, or none of them)",
    ),
    Vacuous(
        NUMBERS,
        "MASK-ALL-1 MASK-AND-1 MASK-BROADCAST-1 MASK-EMPTY-3 MASK-HEAD-1 MASK-QUERY-1 MASK-SAMPLE-1",
        "two masks that say the same are ignored alike, or obeyed alike",
    ),
    Vacuous(
        (*CONSTANT, "echo", "uniform"),
        "MASK-BIAS-2 MASK-CAUSAL-4 MASK-DELETE-1 MASK-HALF-1 MASK-HOLES-1 MASK-NAN-1 MASK-PADDING-1 MASK-POISON-1 "
        "MASK-SHIFT-1",
        "what does not read a value has left it out; the uniform one obeys masks",
    ),
    Vacuous(
        (*CONSTANT, "echo", "uniform", "nan"),
        "MASK-ZERO-1",
        "what does not read a value has left it out, and NaN equals NaN bit for bit",
    ),
    Vacuous(("echo", *AVERAGES), "MASK-CAUSAL-3", "ignored, or obeyed, with the flag as with the mask"),
    Vacuous(("ones", *AVERAGES), "MASK-ROWS-1", "V = 1 gives 1"),
    Vacuous(AVERAGES, "MASK-DEFAULT-1 MASK-EMPTY-4", "no mask is made up, and the gradients of a mean are finite"),
    Vacuous(("zeros", "uniform"), "MASK-EMPTY-1 MASK-WEIGHTS-1", "zeros are declared; 0·V is 0"),
    Vacuous(("echo", "uniform"), "MASK-ZEROGRAD-1", "no gradient reaches a hidden value"),
    Vacuous(
        ("uniform",),
        "MASK-BIAS-3 MASK-BOOL-1 MASK-CAUSAL-1 MASK-CAUSAL-2 MASK-LONG-1",
        "masks are obeyed: these compare with the mean over the keys that are left",
    ),
)
