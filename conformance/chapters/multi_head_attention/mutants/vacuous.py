"""What computes nothing passes by definition."""

from attnconf.conformance.engine.vacuous import CONSTANT, NUMBERS, Vacuous

VACUOUS = (
    Vacuous(
        NUMBERS,
        "MHA-BIAS-3 MHA-HEADS-1 MHA-KBIAS-1 MHA-KEY-1 MHA-MANY-1 MHA-MERGE-1 MHA-ONE-1 MHA-SELF-1",
        "where neither scores nor weights are used, moving them about or leaving them out changes nothing",
    ),
    Vacuous(
        (*CONSTANT, "uniform"), "MHA-BIAS-1 MHA-OUT-1", "no weight is used; the uniform one has honest projections"
    ),
    Vacuous(
        (*CONSTANT, "echo", "uniform"), "MHA-PAD-1 MHA-VALUE-1 MHA-WIDTH-1", "no value is read, or no weight is used"
    ),
    Vacuous((*CONSTANT, "mean", "uniform"), "MHA-QUERY-1 MHA-WIDTH-2", "no query is read"),
    Vacuous(("echo",), "MHA-PERM-1", "the query permuted is the output permuted"),
    Vacuous(("random",), "MHA-DEAD-1", "every output differs from the one before, whatever was changed"),
    Vacuous(("zeros", "uniform"), "MHA-WEIGHTS-1", "0·V is 0; the uniform weights are the ones used"),
    Vacuous(
        ("uniform",),
        "MHA-BIAS-2 MHA-DIVIDE-1 MHA-ERROR-1 MHA-GRAD-1 MHA-SINGLE-1",
        "all but the scores is the reference's",
    ),
)
