"""What computes nothing passes by definition."""

from attnconf.conformance.engine.vacuous import CONSTANT, EVERYTHING, NUMBERS, ZERO_APART, Vacuous

VACUOUS = (
    Vacuous(
        NUMBERS,
        "SIN-MAXLEN-1 SIN-BEYOND-1 SIN-DROP-1 SIN-POS-6",
        "the same sizes and values give the same output, whatever the settings or earlier calls",
    ),
    Vacuous(NUMBERS, "SIN-BATCH-1", "an output depends on the input in its own place, or on nothing"),
    Vacuous((*ZERO_APART, "echo"), "SIN-DROP-2", "a module without dropout is right, and not 0"),
    Vacuous(("echo",), "SIN-GRID-9", "0, 1, 2, … are different in every cell"),
    Vacuous(CONSTANT, "SIN-GRID-3 SIN-GRID-7", "features that are the same everywhere are so along each axis"),
    Vacuous(
        ZERO_APART,
        "SIN-SHIFT-1 SIN-POS-1 SIN-POS-2 SIN-POS-3",
        "what is the same at every position is so at all positions",
    ),
    Vacuous(("echo",), "SIN-ADD-1", "x + 0"),
    Vacuous(("echo",), "SIN-GRAD-1", "autograd differentiates what was computed"),
    Vacuous(EVERYTHING, "SIN-FIXED-1", "what has no parameters trains none"),
)
