"""What computes nothing passes by definition."""

from attnconf.conformance.engine.vacuous import CONSTANT, Vacuous

VACUOUS = (
    Vacuous(
        (*CONSTANT, "echo"),
        "CACHE-CAUSAL-1 CACHE-DECODE-1 CACHE-CHUNK-1 CACHE-GROUP-1 CACHE-CAP-1 CACHE-WINDOW-1 CACHE-NORM-1 "
        "CACHE-SINK-1 CACHE-ROTARY-1 CACHE-SLOPE-1 CACHE-RELATIVE-1 CACHE-SHAW-1 CACHE-POS-1 "
        "CACHE-LEFT-1 CACHE-RIGHT-1 CACHE-BATCH-1 CACHE-ORDER-1 CACHE-POISON-1 CACHE-TRAIN-1 CACHE-BEYOND-1",
        "what reads no other token gives each token the same, in whatever chunks",
    ),
    Vacuous(CONSTANT, "CACHE-FRESH-1 CACHE-KEEP-1", "likewise, in whatever order steps are made"),
    Vacuous(("echo",), "CACHE-GRAD-1", "its gradients are the cotangent, in whatever chunks"),
)
