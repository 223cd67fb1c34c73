"""What computes nothing passes by definition."""

from attnconf.conformance.engine.vacuous import CONSTANT, NUMBERS, ZERO_APART, Vacuous

VACUOUS = (
    Vacuous(
        NUMBERS,
        "LM-FINAL-2 LM-ROW-2 LM-MAXLEN-1 LM-TIE-1 LM-DROP-1",
        "the same sizes give the same numbers, whatever the weights, the ids or the mode",
    ),
    Vacuous(CONSTANT, "LM-BATCH-1 LM-PREFIX-1 LM-PAD-1", "one number everywhere"),
    Vacuous(ZERO_APART, "LM-CAUSAL-1 LM-CAUSAL-2", "what depends on nothing does not on later ids"),
    Vacuous(("random",), "LM-LAYERS-1 LM-ROW-1", "no two calls agree, so every weight seems to matter"),
    Vacuous(("zeros",), "LM-CAP-1", "a logit of 0 is 0 behind every cap"),
    Vacuous(("random", "echo"), "LM-PAST-1", "numbers that differ between samples seem to tell them apart"),
)
