"""What computes nothing passes by definition."""

from attnconf.conformance.engine.vacuous import NUMBERS, ZERO_APART, Vacuous

VACUOUS = (
    Vacuous(
        NUMBERS,
        "LRN-DROP-1 LRN-POS-7",
        "the same sizes and values give the same output, whatever the settings or earlier calls",
    ),
    Vacuous(NUMBERS, "LRN-BATCH-1", "an output depends on the input in its own place, or on nothing"),
    Vacuous((*ZERO_APART, "echo"), "LRN-DROP-2", "a module without dropout is right, and not 0"),
    Vacuous(("echo",), "LRN-ADD-1", "x + 0"),
    Vacuous(("echo",), "LRN-GRAD-4", "autograd differentiates what was computed"),
)
