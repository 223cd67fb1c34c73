"""Ways to get a language model wrong: what the mutants of several sections use."""

from attnconf.reference import encoder as encoders
from attnconf.reference import language_model, learned, sinusoidal
from attnconf.reference.encoder import count_layers, in_layer, normed


def counted(x, weights, positions, places):
    """Return x with the encoding of other positions than 0, 1, … added, where any is."""
    if positions == "learned":
        return learned.learned(x, weights["positions.weight"], places)
    return sinusoidal.sinusoidal(x, places) if positions == "sinusoidal" else x


def at(places_of):
    """Return a with_positions whose tokens x stand at ``places_of(x)``."""
    return lambda x, weights, positions: counted(x, weights, positions, places_of(x))


def layer_by_layer(mask_of=None, layers_of=range, weights_of=None):
    """Return layers of which number i of n gets its mask and weights from functions of what it would get."""

    def through(x, weights, style, mask):
        n = count_layers(weights)
        for i in layers_of(n):
            own = in_layer(weights, i) if weights_of is None else weights_of(i, weights)
            x = encoders.encoder_layer(x, own, style, mask if mask_of is None else mask_of(i, n, mask))
        return normed(x, weights, "norm", style) if "norm.weight" in weights else x

    return through


def ending(norm_of):
    """Return layers that end in ``norm_of(x, weights, style)`` instead of a last norm."""

    def through(x, weights, style, mask):
        own = {name: w for name, w in weights.items() if not name.startswith("norm.")}
        return norm_of(encoders.encoder(x, own, style, mask), weights, style)

    return through


def rows(change):
    """Return a rows_of with other rows."""
    return lambda ids, table, scaled: change(language_model.rows_of(ids, table, scaled), ids)
