"""What computes nothing passes by definition."""

from attnconf.conformance.engine.vacuous import Vacuous

VACUOUS: tuple[Vacuous, ...] = ()
