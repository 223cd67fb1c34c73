"""What computes nothing passes by definition."""

from attnconf.conformance.engine.vacuous import CONSTANT, NUMBERS, ZERO_APART, Vacuous

VACUOUS = (
    Vacuous(NUMBERS, "FF-DROP-1", "the same values give the same output"),
    Vacuous(NUMBERS, "FF-TOKEN-1 FF-BATCH-1 FF-PLACE-1", "an output depends on its own token, or on nothing"),
    Vacuous(("zeros",), "FF-DOWN-1", "0 is linear in the second layer"),
    Vacuous(CONSTANT, "FF-UP-1 FF-BIAS-1 FF-GATE-3", "neither x nor the first layer has an effect"),
    Vacuous(("zeros", "echo"), "FF-NOBIAS-1", "0 at 0, and no bias has an effect"),
    Vacuous(("echo",), "FF-NONE-1", "without activation one hidden feature can be the input"),
    Vacuous((*ZERO_APART, "echo"), "FF-DROP-2", "a module without dropout is right, and not 0"),
)
