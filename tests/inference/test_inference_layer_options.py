"""Masks, flags and declarations of layers: what they are found to mean."""

import pytest
from test_inference_options import HEAD, inferred_of

from attnconf.conformance.run import implementations

LAYER = """
class EncoderLayer(nn.Module):
    def __init__(self, d_model, nhead, dim_feedforward):
        super().__init__()
        self.attn = nn.MultiheadAttention(d_model, nhead, batch_first=True)
        self.n1, self.n2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.ff = nn.Sequential(nn.Linear(d_model, dim_feedforward), nn.ReLU(), nn.Linear(dim_feedforward, d_model))

    def forward(self, x{options}):
        {first}
        x = self.n1(x + self.attn(x, x, x, {given}need_weights=False)[0])
        return self.n2(x + self.ff(x))
"""
LAYERS = {
    "a mask": (", hide=None", "pass", "key_padding_mask=hide, ", "hide (B, S) true-drops", True),
    "nothing": (", extra=None", "pass", "", "option       the argument `extra` of forward has no effect", True),
    "in doubt": (", extra=None", "x = x if extra is None else x + extra.sum()", "", "in doubt     extra takes", False),
    "past": (", past=None, mask=None", "pass", "attn_mask=mask, ", "mask (L, S) true-drops", True),
}


@pytest.mark.parametrize("case", LAYERS)
def test_options_of_a_layer(tmp_path, case):
    options, first, given, said, established = LAYERS[case]
    found = inferred_of(tmp_path, HEAD + LAYER.format(options=options, first=first, given=given))
    assert found.draft.component == "encoder_layer"
    assert said in "\n".join(found.told)
    assert found.established is established
    assert "past" not in found.draft.body


@pytest.mark.parametrize(
    ("declares", "found"),
    [
        ('{"memory": "linear"}', {"memory": "linear"}),
        ('{"attention": {"memory": "linear"}}', {"memory": "linear"}),
        ('{"attention": {"memory": "linear"}, "encoder": {"memory": "quadratic"}}', {"memory": "linear"}),
        ('["whatever"]', None),
    ],
)
def test_what_a_file_without_adapter_functions_declares_is_heard(tmp_path, declares, found):
    path = tmp_path / "mine.py"
    path.write_text(
        "import math\n"
        f"declares = {declares}\n"
        "def attention(q, k, v):\n    return (q @ k.mT / math.sqrt(q.shape[-1])).softmax(-1) @ v\n",
        encoding="utf-8",
    )
    (implementation,) = implementations.load(str(path))
    assert implementation.declared("attention").get("memory") == (found or {}).get("memory")
    assert ("declared     memory=linear" in implementation.notes) == (found is not None)
    path.write_text(path.read_text(encoding="utf-8").replace("linear", "nothing"), encoding="utf-8")
    if found:
        assert "want one of quadratic, linear" in implementations.load(str(path))[0].reason


def test_a_mask_is_what_its_own_component_declares(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(
        "import math, torch\n"
        'declares = {"attention": {"mask": "true-keeps"}, "multi_head_attention": {"mask": "true-drops"}}\n'
        "def attention(q, k, v, mask=None):\n"
        "    s = q @ k.mT / math.sqrt(q.shape[-1])\n"
        "    s = s if mask is None else s.masked_fill(~mask, -math.inf)\n"
        "    return torch.nan_to_num(s.softmax(-1)) @ v\n",
        encoding="utf-8",
    )
    (implementation,) = implementations.load(str(path))
    assert implementation.declared("attention")["mask"] == "true-keeps"
    assert not any(line.startswith("prescribed") for line in implementation.notes)
    (held,) = implementations.load(str(path), {"mask": "true-drops"})
    assert any(line.startswith("prescribed   mask=true-drops: mask does the opposite") for line in held.notes)
