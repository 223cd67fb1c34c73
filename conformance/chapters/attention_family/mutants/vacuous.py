"""What computes nothing passes by definition."""

from attnconf.conformance.engine.vacuous import CONSTANT, NUMBERS, Vacuous

VACUOUS = (
    Vacuous(
        NUMBERS,
        "FAM-GROUP-1 FAM-GROUP-2 FAM-NORM-1 FAM-RELATIVE-1 FAM-WINDOW-3",
        "where no weight is used, or no score, writing it otherwise changes nothing",
    ),
    Vacuous((*CONSTANT, "echo", "uniform"), "FAM-CAP-2 FAM-WINDOW-1", "no hidden value is read"),
    Vacuous((*CONSTANT, "mean", "uniform"), "FAM-SCALE-1", "no query is read"),
    Vacuous(("zeros", "uniform"), "FAM-GATE-1 FAM-NORM-4", "0 times anything is 0; the uniform weights are honest"),
    Vacuous(("mean", "uniform"), "FAM-ROTARY-2", "equal scores are what is asked for"),
    Vacuous(("uniform",), "FAM-GROUP-3 FAM-GROUP-4 FAM-SHAW-3 FAM-WINDOW-2", "all but the scores is the reference's"),
)
