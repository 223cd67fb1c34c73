"""Features on the second axis, as speech and vision have them: what is lent, what is judged, and what is not tried."""

import pytest
import torch
from judged_submissions import judge

from attnconf.adapters.generated.channels_first import in_channels, in_maps, turned
from attnconf.conformance.inference.building.lending import lent
from attnconf.conformance.run import implementations
from attnconf.conformance.source.reader import read

torch.set_num_threads(1)
NORM = """
from torch import nn
import torch

class LayerNorm(nn.Module):
    def __init__(self, channels, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.gain = nn.Parameter(torch.ones(channels, 1))
        self.shift = nn.Parameter(torch.zeros(channels, 1))

    def forward(self, x, mask=None):
        centred = x - x.mean({axis}, keepdim=True)
        spread = (centred ** 2).mean({axis}, keepdim=True)
        return centred / torch.sqrt(spread + self.eps) * self.gain + self.shift
"""


@pytest.fixture
def written(tmp_path):
    def write(source):
        path = tmp_path / "homework.py"
        path.write_text(source, encoding="utf-8")
        return path

    return write


def test_a_norm_of_channels_is_judged_and_told(written):
    path = written(NORM.replace("{axis}", "1"))
    judged = judge(str(path))
    assert judged.verdicts == (("layer_norm", "conformant"),)
    (found,) = implementations.load(str(path))
    assert "channels     on the second axis, (N, C, T): inputs and outputs are transposed" in found.notes


def test_a_norm_over_time_is_told_by_name(written):
    judged = judge(str(written(NORM.replace("{axis}", "2"))))
    assert judged.verdicts == (("layer_norm", "nonconformant"),)
    assert "LN-over-the-sequence" in judged.named


def test_only_what_speaks_of_channels_is_turned(written):
    module = read(written(NORM.replace("{axis}", "1"))).module
    assert [m.__dict__.get("__lent_by__", "") for m in lent(module.LayerNorm, module)] == [
        "", "channels_first.in_channels", "channels_first.in_maps",
    ]  # fmt: skip
    plain = read(written(NORM.replace("{axis}", "-1").replace("channels", "dim"))).module
    assert len(lent(plain.LayerNorm, plain)) == 1


def test_a_map_is_as_high_as_its_tokens_let_it_be():
    x = torch.arange(2 * 12 * 5.0).reshape(2, 12, 5)
    maps = turned(x, lambda tokens: (3, tokens // 3))
    assert maps.shape == (2, 5, 3, 4)
    assert torch.equal(maps[1, 4], x[1, :, 4].reshape(3, 4))


@pytest.mark.parametrize("lend", [in_channels, in_maps])
def test_what_goes_in_comes_out_with_features_last(written, lend):
    source = "from torch import nn\n\nclass Twice(nn.Module):\n    def forward(self, x, mask=None):\n"
    module = lend(read(written(source + "        return 2 * x, x.mean(1)\n")).module)
    x = torch.randn(2, 6, 5)
    assert torch.equal(module.Twice()(x)[0], 2 * x)
    assert torch.equal(module.Twice()(x[0])[0], 2 * x[0])  # no batch
