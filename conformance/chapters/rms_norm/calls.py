"""The calls of root mean square normalization that the laws of every call are judged with."""

from attnconf.conformance.chapters.rms_norm import stimuli
from attnconf.conformance.chapters.shared.norm_calls import laws

CALLS = {"rms_norm": laws(stimuli.ONE, stimuli.EDGES, stimuli.NARROW)}
