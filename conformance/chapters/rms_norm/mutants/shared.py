"""Ways to get RMSNorm wrong: what the mutants of several sections use."""

from attnconf.reference import rms_norm


def with_gain(change):
    return lambda x, weight: rms_norm.scale(x, change(weight))
