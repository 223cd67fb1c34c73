"""What computes nothing passes by definition."""

from attnconf.conformance.engine.vacuous import CONSTANT, NUMBERS, ZERO_APART, Vacuous

VACUOUS = (
    Vacuous(
        NUMBERS,
        "ALIBI-ALIGN-1",
        "the same sizes and values give the same output, whatever the settings or earlier calls",
    ),
    Vacuous(NUMBERS, "ALIBI-CAUSAL-1", "no key is read, later ones included"),
    Vacuous(
        NUMBERS,
        "ALIBI-DISTANCE-1 ALIBI-LINEAR-1 ALIBI-LONG-1",
        "no penalty is linear in the distance, and so are 0, 1, 2, …",
        components=("alibi",),
    ),
    Vacuous(CONSTANT, "ALIBI-BOTH-1", "the same on both sides", components=("alibi",)),
    Vacuous(("echo",), "ALIBI-SIGN-1", "0, 1, 2, … are larger for nearer keys", components=("alibi",)),
    Vacuous(
        ZERO_APART,
        "ALIBI-DISTANCE-1 ALIBI-LINEAR-1 ALIBI-LONG-1 ALIBI-BOTH-1 ALIBI-WIDTH-1 ALIBI-SAMPLE-1",
        "equal weights have log odds of 0, which is linear in the distance",
        components=("alibi_attention",),
    ),
)
