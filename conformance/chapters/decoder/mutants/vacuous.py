"""What computes nothing passes by definition."""

from attnconf.conformance.engine.vacuous import NUMBERS, Vacuous

VACUOUS = (
    Vacuous(NUMBERS, "DEC-DROP-1 DEC-DROP-2", "the same inputs give the same output, whatever the settings"),
    Vacuous(
        NUMBERS,
        "DEC-BATCH-1 DEC-CAUSAL-1 DEC-PREFIX-1 DEC-PAD-1 DEC-PAD-2 DEC-PERM-1 DEC-HIDE-1 DEC-KV-1",
        "an output depends on the target in its own place, or on nothing: not on masks, memory or other targets",
    ),
    Vacuous(NUMBERS, "DEC-NORM-1 DEC-ORDER-1 DEC-STACK-1", "no weight is read, and three times a constant is once"),
    Vacuous(("echo",), "DEC-ZERO-1", "the identity"),
    Vacuous(("random",), "DEC-CAUSAL-2 DEC-MEMORY-1", "noise differs everywhere, as if every token were seen"),
)
