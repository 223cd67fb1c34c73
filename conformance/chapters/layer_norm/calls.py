"""The calls of layer normalization that the laws of every call are judged with."""

from attnconf.conformance.chapters.layer_norm import stimuli
from attnconf.conformance.chapters.shared.norm_calls import laws

CALLS = {"layer_norm": laws(stimuli.ONE, stimuli.EDGES, stimuli.NARROW)}
