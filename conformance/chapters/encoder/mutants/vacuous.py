"""What computes nothing passes by definition."""

from attnconf.conformance.engine.vacuous import CONSTANT, NUMBERS, Vacuous

VACUOUS = (
    Vacuous(("echo",), "ENC-LEARN-3 ENC-LEARN-4", "what learns nothing learns no order, and foresees nothing"),
    Vacuous((*NUMBERS, "random"), "ENC-LENGTH-1", "finite numbers, as many as there are tokens"),
    Vacuous(
        NUMBERS,
        "ENC-TOKEN-1 ENC-BATCH-1 ENC-PERM-1 ENC-CAUSAL-1 ENC-PAD-1 ENC-ALONE-1 ENC-MASK-1 ENC-MASK-2 ENC-MASK-3 "
        "ENC-DEPTH-1 ENC-DROP-1 ENC-DROP-2 ENC-BIAS-1 ENC-GROUP-1 ENC-PLACE-2 ENC-QK-1 ENC-SCALE-1",
        "an output that depends on its own token, or on nothing, depends on no other, no mask, no mode and no weight",
    ),
    Vacuous(
        CONSTANT,
        "ENC-ORDER-1",
        "the same for every input",
        components=(
            "encoder_layer",
            "encoder",
        ),
    ),
    Vacuous(NUMBERS, "ENC-STACK-1", "many times the same or the identity is once the same"),
    Vacuous(("echo",), "ENC-PRE-1 ENC-GRAD-2 ENC-PLACE-1 ENC-PLACE-3", "the identity, whose gradient autograd knows"),
    Vacuous(("random",), "ENC-REACH-1 ENC-OWN-1", "noise changes with every token and every weight"),
)
