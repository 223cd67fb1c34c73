"""What computes nothing passes by definition."""

from attnconf.conformance.engine.vacuous import NUMBERS, ZERO_APART, Vacuous

VACUOUS = (
    Vacuous(
        NUMBERS,
        "ROPE-CACHE-1 ROPE-CACHE-2 ROPE-MAX-1",
        "the same sizes and values give the same output, whatever the settings or earlier calls",
    ),
    Vacuous(
        NUMBERS,
        "ROPE-BATCH-1 ROPE-HEAD-1 ROPE-PART-1",
        "an output depends on the input in its own place, or on nothing",
    ),
    Vacuous(NUMBERS, "ROPE-POS-5", "queries and keys are not read, and so no position is"),
    Vacuous(("zeros", "echo"), "ROPE-LINEAR-1", "0 and the input are linear in the input"),
    Vacuous(ZERO_APART, "ROPE-REL-2", "equal weights depend on nothing, so on distances only"),
    Vacuous(
        ("echo",),
        "ROPE-NORM-1 ROPE-ZERO-1 ROPE-REL-1 ROPE-PAIR-1 ROPE-POS-1 ROPE-POS-2 ROPE-POS-4 ROPE-REST-1",
        "the identity is a rotation by 0",
    ),
    Vacuous(("echo",), "ROPE-GRAD-1", "autograd differentiates what was computed", components=("rotary",)),
)
