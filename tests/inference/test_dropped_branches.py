"""Branches that are left out of some samples in training: whether the others are enlarged."""

from textwrap import dedent

import pytest

from attnconf.conformance.inference.layers.dropped_branches import unscaled
from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.source import reader

LAYER = """
    import torch
    from torch import nn

    class {name}(nn.Module):
        def __init__(self, rate=0.0{option}):
            super().__init__()
            self.rate = rate
            self.scales = locals().get("scale_by_keep")

        def forward(self, x):
            stays = (torch.rand(len(x), 1, 1) >= self.rate).to(x)
            if not self.training:
                return {evaluated}
            return {trained}

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.some = {name}()
"""


@pytest.mark.parametrize(
    ("name", "option", "trained", "evaluated", "words"),
    [
        ("DropPath", "", "x * stays", "x", (1, 0)),
        ("DropPath", ", scale_by_keep=False", "x * stays / (1 - self.rate * self.scales)", "x", (0, 1)),
        ("DropPath", ", scale_by_keep=False", "x * stays", "x", (1, 0)),
        ("DropPath", ", layer_scale=False", "x * stays", "x", (1, 0)),
        ("DropPath", "", "x * stays / (1 - self.rate)", "x", (0, 0)),
        ("StochasticDepth", "", "x * stays", "x * (1 - self.rate)", (0, 0)),
        ("LayerDrop", "", "x * stays", "x", (0, 0)),
    ],
)
def test_what_stays_is_enlarged_in_training_or_all_is_made_smaller_later(
    tmp_path, name, option, trained, evaluated, words
):
    path = tmp_path / "layer.py"
    path.write_text(dedent(LAYER.format(name=name, option=option, trained=trained, evaluated=evaluated)))
    module = reader.read(path).module
    mistakes, choices = unscaled(Place("Layer", module.Layer, module))
    assert (len(mistakes), len(choices)) == words
