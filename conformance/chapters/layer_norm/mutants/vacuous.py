"""What computes nothing passes by definition."""

from attnconf.conformance.engine.vacuous import CONSTANT, NUMBERS, Vacuous

VACUOUS = (
    Vacuous(
        NUMBERS, "LN-TOKEN-1 LN-LEAD-1 LN-WIDE-1", "an output depends on the input in its own place, or on nothing"
    ),
    Vacuous(NUMBERS, "LN-PLAIN-1 LN-NOBIAS-1 LN-AXES-1", "no weight is read, and the shape is that of x"),
    Vacuous(CONSTANT, "LN-SHIFT-1", "what does not depend on x does not depend on its mean"),
    Vacuous(("zeros",), "LN-MEAN-1 LN-GAIN-1 LN-SCALE-1", "0 has mean 0, and is 0 times any gain and any sign"),
    Vacuous(("echo",), "LN-LINE-1", "x is in line with x, and 0 with 0"),
    Vacuous(("echo",), "LN-CONST-2 LN-GRAD-5", "autograd differentiates what was computed"),
)
