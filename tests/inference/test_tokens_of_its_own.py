"""A token of a model's own, put among those that it makes: what comes out is read off it, or off all."""

import pytest
from judged_submissions import FOLDER, judge

FILE = FOLDER / "right" / "lay_patches_cut_before.py"
FRONT = "torch.cat([self.summary.expand(len(patches), -1, -1), self.look(patches)], dim=1)"
BEHIND = "torch.cat([self.look(patches), self.summary.expand(len(patches), -1, -1)], dim=1)"


@pytest.mark.parametrize(
    ("put", "read", "verdict"),
    [
        (BEHIND, "[:, 0]", "incomplete"),
        (BEHIND, "[:, -1]", "conformant"),
        (BEHIND, ".mean(dim=1)", "conformant"),
    ],
)
def test_the_token_that_is_read_is_the_models_own(tmp_path, put, read, verdict):
    path, text = tmp_path / "patches.py", FILE.read_text(encoding="utf-8")
    assert FRONT in text
    path.write_text(text.replace(FRONT, put).replace("(x)[:, 0]", f"(x){read}"), encoding="utf-8")
    assert dict(judge(str(path)).verdicts)["encoder"] == verdict
