"""What root mean square normalization looks like in somebody's file."""

from attnconf.conformance.chapters.shared.appearance import Appearance
from attnconf.conformance.chapters.shared.norm_names import NORM

APPEARANCES = {"rms_norm": Appearance("norms", names=((10, r"rms"), (40, NORM)), unnamed=5, function=True)}
