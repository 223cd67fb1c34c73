"""Options of a constructor that are stored, and read by nobody."""

import importlib.util

import pytest

from attnconf.conformance.source.stored import stored_alone

CLASS = """
class Layer:
    def __init__(self, width, scaled=True, kind="post"):
        self.width = width
        self.scaled = scaled
        self.kind = kind

    def forward(self, x):
        return {reads}
"""


def options(tmp_path, reads):
    path = tmp_path / "layer.py"
    path.write_text(CLASS.format(reads=reads), encoding="utf-8")
    spec = importlib.util.spec_from_file_location("layer", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return stored_alone(module.Layer.__init__, path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("reads", "idle"),
    [
        ("x", ["width", "scaled", "kind"]),
        ("x * self.width", ["scaled", "kind"]),
        ("x if self.scaled else -x", ["width", "kind"]),
        ("getattr(self, 'kind')", []),
        ("vars(self)", []),
    ],
)
def test_what_no_code_reads(tmp_path, reads, idle):
    assert options(tmp_path, reads) == idle
