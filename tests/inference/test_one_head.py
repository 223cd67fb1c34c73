"""One head without an output projection: a choice where the code asks for it, alone and within a layer."""

import pytest
from command_line import in_process

SUBMISSIONS = "tests/submissions"
MANY = "self.mix = nn.Identity() if alone else nn.Linear(inner, width)"


@pytest.fixture
def written(tmp_path, request):
    """Return a function that writes the layers of the collection with other code in one place, and runs a class."""
    text = (request.config.rootpath / SUBMISSIONS / "right/lay_lone_head_as_it_is.py").read_text(encoding="utf-8")

    def run(name, other=MANY):
        assert MANY in text
        (tmp_path / "patches.py").write_text(text.replace(MANY, other), encoding="utf-8")
        return in_process("run", f"--impl=patches.py:{name}", cwd=tmp_path).stdout

    return run


@pytest.mark.parametrize("name", ["PatchAttention", "PatchBlock", "PatchEncoder"])
def test_the_same_code_has_the_same_verdict_alone_and_in_a_layer(written, name):
    told = written(name)
    assert ": CONFORMANT (" in told, told
    assert "one-head-projection: no" in told


def test_a_head_of_another_width_is_projected(written):
    told = written("PatchAttention", "self.mix = nn.Identity() if n_heads == 1 else nn.Linear(inner, width)")
    assert "MHA-ONE-1 violated" in told
    assert ": CONFORMANT (" not in told
