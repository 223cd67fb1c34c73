"""What layer normalization looks like in somebody's file."""

from attnconf.conformance.chapters.shared.appearance import Appearance
from attnconf.conformance.chapters.shared.norm_names import NORM

APPEARANCES = {
    "layer_norm": Appearance(
        "norms", names=((20, r"layer_?norm|^ln\d?$|^l_norm$"), (30, NORM)), unnamed=4, function=True
    )
}
