"""Ways to get LayerNorm wrong: what the mutants of several sections use."""

from dataclasses import replace

from attnconf.reference import layer_norm


def over(axes_of):
    """Return last_axes with other axes: what ``axes_of(x, shape)`` gives."""
    return lambda x, shape: axes_of(x, shape)


def otherwise(**other):
    """Return spread with another divisor; the variance of a single feature stays biased, as there is no other."""

    def spread(x, axes, eps, how):
        several = all(x.shape[axis] > 1 for axis in axes)
        return layer_norm.spread(
            x, axes, eps, replace(how, **{k: v for k, v in other.items() if several or k == "eps"})
        )

    return spread


def with_gain(change):
    return lambda x, weight, bias: layer_norm.scale_and_shift(x, None if weight is None else change(weight), bias)


def with_shift(change):
    return lambda x, weight, bias: layer_norm.scale_and_shift(x, weight, None if bias is None else change(bias))
