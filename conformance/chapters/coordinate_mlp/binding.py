"""What a network behind Fourier features looks like in somebody's file."""

from attnconf.conformance.chapters.fourier.binding import BANKS
from attnconf.conformance.chapters.shared.appearance import POSITIONS, Appearance

ALL = "[2 * config.in_dim * len(config.frequencies){kept}, *config.hidden, config.out_dim]"
APPEARANCES = {
    "coordinate_mlp": Appearance(
        "coordinates",
        kind=POSITIONS,
        sizes={
            "frequencies": BANKS,
            "in_dim": ("config.in_dim",),
            "out": ("config.out_dim",),
            "hidden": ("list(config.hidden)", "config.hidden[0]"),
            "layers": ("len(config.hidden)", "len(config.hidden) + 1"),
            "sizes": (ALL.format(kept=""), ALL.format(kept=" + config.in_dim"), "list(config.hidden)"),
            "skips": ("()",),  # layers before which the features come in again: none
            "device": ('weights["0.weight"].device',),
            "config": (),
            "any": ("frequencies", "in_dim", "out", "hidden", "layers"),
        },
        words={
            "sizes": r"sizes|layer_?sizes|dims|layer_?dims",
            "skips": r"skips|skip_?(layers|connections|at|in)",
        },
    )
}
