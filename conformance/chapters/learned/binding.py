"""What learned positions look like in somebody's file."""

from attnconf.conformance.chapters.shared.appearance import POSITIONS, Appearance
from attnconf.conformance.chapters.sinusoidal.binding import SIZES

APPEARANCES = {
    "learned": Appearance(
        "positions",
        kind=POSITIONS,
        arrays=True,
        sizes={**SIZES, "device": ('weights["table.weight"].device',), "dtype": ('weights["table.weight"].dtype',)},
    )
}
