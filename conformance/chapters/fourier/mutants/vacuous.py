"""What computes nothing passes by definition."""

from attnconf.conformance.engine.vacuous import NUMBERS, ZERO_APART, Vacuous

VACUOUS = (
    Vacuous(
        NUMBERS,
        "FOUR-RFIXED-1",
        "the same sizes and values give the same output, whatever the settings or earlier calls",
    ),
    Vacuous(
        NUMBERS,
        "FOUR-POINTS-1 FOUR-AXES-1 FOUR-RPOINTS-1",
        "an output depends on the input in its own place, or on nothing",
    ),
    Vacuous(ZERO_APART, "FOUR-ORDER-1", "what is the same everywhere is so beside all coordinates"),
    Vacuous(("echo",), "FOUR-GRAD-1 FOUR-RGRAD-1", "autograd differentiates what was computed"),
)
