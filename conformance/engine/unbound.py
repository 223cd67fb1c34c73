"""What can be asked of something whose parameters cannot be replaced, as nobody knows which of them is what.

These requirements compare an implementation with itself, and hold of every right one whatever its parameters are. All
others need weights that are known: they are not applicable to what declares ``parameters: own``.
"""

OWN = "own"
KEPT: dict[str, frozenset[str]] = {
    "feed_forward": frozenset({
        "FF-SHAPE-1", "FF-DTYPE-1", "FF-IMMUT-1", "FF-REPEAT-1", "FF-STRIDE-1", "FF-TOKEN-1", "FF-BATCH-1",
        "FF-PLACE-1", "FF-DROP-1",
    }),
    "layer_norm": frozenset({
        "LN-SHAPE-1", "LN-DTYPE-1", "LN-IMMUT-1", "LN-REPEAT-1", "LN-MODE-1", "LN-STRIDE-1", "LN-TOKEN-1", "LN-LEAD-1",
        "LN-SHIFT-1",
    }),
    "rms_norm": frozenset({
        "RMS-SHAPE-1", "RMS-DTYPE-1", "RMS-IMMUT-1", "RMS-REPEAT-1", "RMS-MODE-1", "RMS-STRIDE-1", "RMS-TOKEN-1",
        "RMS-LEAD-1", "RMS-SCALE-1",
    }),
    "token_embedding": frozenset({
        "EMB-SHAPE-1", "EMB-EMPTY-1", "EMB-DTYPE-1", "EMB-IMMUT-1", "EMB-REPEAT-1", "EMB-SAMPLE-1", "EMB-SAME-1",
        "EMB-BEYOND-1", "EMB-NEG-1", "EMB-INT-1",
    }),
    "learned": frozenset({
        "LRN-SHAPE-1", "LRN-DTYPE-1", "LRN-ADD-1", "LRN-BATCH-1", "LRN-IMMUT-1", "LRN-REPEAT-1", "LRN-BEYOND-1",
        "LRN-GRAD-4", "LRN-DROP-1", "LRN-DROP-2",
    }),
}  # fmt: skip


def needs_others(component: str, requirement: str, parameters: str) -> bool:
    """Return whether a requirement cannot be asked of what keeps its own parameters."""
    return parameters == OWN and requirement not in KEPT.get(component, ())
