"""What computes nothing passes by definition."""

from attnconf.conformance.engine.vacuous import CONSTANT, NUMBERS, ZERO_APART, Vacuous

VACUOUS = (
    Vacuous(NUMBERS, "REL-CAUSAL-1", "no key is read, later ones included"),
    Vacuous(("zeros", "ones"), "REL-HALF-1", "half precision holds 0 and 1 exactly"),
    Vacuous(CONSTANT, "REL-ALIGN-1", "the same bias everywhere"),
    Vacuous(
        ZERO_APART,
        "REL-ENTRY-1 REL-HEAD-1 REL-RELATIVE-1 REL-SAMPLE-1",
        "equal weights are those of one bucket for all keys",
        components=("relative_bias_attention",),
    ),
)
