"""What computes nothing passes by definition."""

from attnconf.conformance.engine.vacuous import NUMBERS, Vacuous

VACUOUS = (
    Vacuous(
        NUMBERS, "RMS-TOKEN-1 RMS-LEAD-1 RMS-WIDE-1", "an output depends on the input in its own place, or on nothing"
    ),
    Vacuous(("zeros",), "RMS-GAIN-1 RMS-SCALE-1 RMS-ZERO-1", "0 has mean 0, and is 0 times any gain and any sign"),
    Vacuous(("echo",), "RMS-LINE-1 RMS-ZERO-1", "x is in line with x, and 0 with 0"),
    Vacuous(("ones",), "RMS-SQUARE-1", "1 has mean square 1"),
    Vacuous(("echo",), "RMS-ZERO-2 RMS-GRAD-3", "autograd differentiates what was computed"),
)
