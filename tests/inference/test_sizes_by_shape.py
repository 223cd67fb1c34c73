"""Sizes whose names say nothing: what they are found to be, by what is built with others."""

import pytest
from test_inference_options import HEAD, inferred_of

pytestmark = pytest.mark.long

STACK = """
class Laag(nn.Module):
    def __init__(self, breedte, koppen, binnen):
        super().__init__()
        self.att = nn.MultiheadAttention(breedte, koppen, batch_first=True)
        self.n1, self.n2 = nn.LayerNorm(breedte), nn.LayerNorm(breedte)
        self.ff = nn.Sequential(nn.Linear(breedte, binnen), nn.ReLU(), nn.Linear(binnen, breedte))

    def forward(self, x):
        x = self.n1(x + self.att(x, x, x, need_weights=False)[0])
        return self.n2(x + self.ff(x))

class Stapel(nn.Module):
    def __init__(self, {parameters}):
        super().__init__()
        {first}
        self.lagen = nn.ModuleList(Laag({sizes}) for _ in range({many}))

    def forward(self, x):
        for laag in self.lagen:
            x = laag(x)
        return x
"""
NAMES = ("breedte", "koppen", "binnen", "diepte")
SETTINGS = {
    "defaults": ("breedte=32, koppen=4, binnen=48, diepte=3", "pass", "{}"),
    "required": ("diepte, breedte, koppen, binnen", "pass", "{}"),
    "a dict": ("cfg", "pass", "cfg['{}']"),
    "a namespace": ("cfg", "self.cfg = cfg", "cfg.{}"),
    "a dict with defaults": ("cfg", "cfg.get('naam', 'x')", "cfg.get('{}', 8)"),
    "English keywords": ("**kw", "pass", "kw.get('{}', 8)"),
}
ENGLISH = ("d_model", "n_heads", "d_ff", "n_layers")


@pytest.mark.parametrize("setting", SETTINGS)
def test_sizes_are_read_off_shapes(tmp_path, setting):
    parameters, first, pattern = SETTINGS[setting]
    *sizes, many = (pattern.format(name) for name in (ENGLISH if parameters == "**kw" else NAMES))
    text = STACK.format(parameters=parameters, first=first, sizes=", ".join(sizes), many=many)
    found = inferred_of(tmp_path, HEAD + text)
    assert (found.draft.component, found.certified) == ("encoder", "reference")
    body = found.draft.body
    assert all(f"config.{size}" in body for size in ("embed_dim", "num_heads", "hidden_dim", "num_layers"))
