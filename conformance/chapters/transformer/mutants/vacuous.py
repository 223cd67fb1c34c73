"""What computes nothing passes by definition."""

from attnconf.conformance.engine.vacuous import CONSTANT, NUMBERS, ZERO_APART, Vacuous

VACUOUS = (
    Vacuous(
        NUMBERS,
        "TRF-ORDER-1 TRF-MEMORY-3 TRF-FINAL-2 TRF-PAD-1 TRF-PAD-2 TRF-ROW-2 TRF-MAXLEN-1 TRF-TIE-1 TRF-DROP-1",
        "the same sizes give the same numbers, whatever the weights, the sources, the masks or the mode",
    ),
    Vacuous(CONSTANT, "TRF-BATCH-1 TRF-PREFIX-1 TRF-PAD-3", "one number everywhere"),
    Vacuous(
        ("echo",),
        "TRF-PAD-3",
        "0, 1, 2, … are the same features apart, whatever the target",
        components=("encoder_decoder",),
    ),
    Vacuous(ZERO_APART, "TRF-CAUSAL-1 TRF-CAUSAL-2 TRF-MEMORY-1", "what depends on nothing does not on later targets"),
    Vacuous(("random",), "TRF-LAYERS-1 TRF-ROW-1", "no two calls agree, so every weight seems to matter"),
    Vacuous(
        ("random", "echo"), "TRF-TARGET-1 TRF-MEMORY-2", "numbers that differ between samples seem to tell them apart"
    ),
    Vacuous(("random",), "TRF-SOURCE-1", "numbers that differ between samples seem to tell them apart"),
    Vacuous(
        ("echo",),
        "TRF-SOURCE-1",
        "numbers that differ between samples seem to tell them apart",
        components=("transformer",),
    ),
)
