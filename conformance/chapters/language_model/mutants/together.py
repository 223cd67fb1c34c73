"""Ways to get a language model wrong: only seen in the whole."""

from attnconf.conformance.chapters.language_model.mutants.shared import layer_by_layer
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import language_model

layers_reversed = Mutant(
    "LM-layers-reversed",
    story="the layers are applied from the last to the first",
    breaks={"LM-ORACLE-1"},
    hint="layer 0 comes first",
    replace={language_model.through_layers: layer_by_layer(layers_of=lambda n: reversed(range(n)))},
)
