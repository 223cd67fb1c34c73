"""Ways to get a language model wrong: layers and the last norm."""

import torch

from attnconf.conformance.chapters.language_model.mutants.shared import ending, layer_by_layer
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import encoder as encoders
from attnconf.reference import language_model
from attnconf.reference.encoder import under

one_layer_shared = Mutant(
    "LM-one-layer-shared",
    story="one layer is applied again and again",
    breaks={"LM-LAYERS-1"},
    hint="[Layer() for _ in range(n)], not [Layer()] * n",
    replace={
        language_model.through_layers: layer_by_layer(weights_of=lambda i, weights: under(weights, "layers.0")),
    },
)

last_layer_left_out = Mutant(
    "LM-last-layer-left-out",
    story="of several layers the last is left out",
    breaks={"LM-LAYERS-1"},
    hint="range(n), not range(n - 1)",
    replace={language_model.through_layers: layer_by_layer(layers_of=lambda n: range(max(1, n - 1)))},
)

final_norm_missing = Mutant(
    "LM-final-norm-missing",
    story="the last norm is left out",
    breaks={"LM-FINAL-1"},
    hint="head(norm(x)): a pre-norm stack ends in a norm",
    replace={language_model.through_layers: ending(lambda x, weights, style: x)},
)


def norm_before(x, weights, style, mask):
    own = {name: w for name, w in weights.items() if not name.startswith("norm.")}
    if "norm.weight" in weights:
        x = encoders.normed(x, weights, "norm", style)
    return encoders.encoder(x, own, style, mask)


final_norm_first = Mutant(
    "LM-final-norm-first",
    story="the last norm comes before the layers",
    breaks={"LM-FINAL-1"},
    hint="head(norm(layers(x)))",
    replace={language_model.through_layers: norm_before},
)


def normed_anyway(x, weights, style):
    if "norm.weight" in weights:
        return encoders.normed(x, weights, "norm", style)
    return torch.nn.functional.layer_norm(x, x.shape[-1:])


undeclared_final_norm = Mutant(
    "LM-undeclared-final-norm",
    story="what the layers give is normalized where there is no last norm, too",
    breaks={"LM-FINAL-2"},
    hint='follow final_norm, or declare final-norm = "always"',
    replace={language_model.through_layers: ending(normed_anyway)},
)
