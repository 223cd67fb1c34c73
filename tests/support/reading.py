"""A layer to be read, and files that cannot be."""

import pytest

from attnconf.conformance.source.not_loaded import NotLoaded
from attnconf.conformance.source.reader import read

LAYER = """
class MyAttention(nn.Module):
    def __init__(self, size=SIZE):
        super().__init__()
        self.out = nn.Linear(size, size)

    def forward(self, x):
        return self.out(x) * scale
"""


def refused(path):
    """Return why a file is not loaded, in one line."""
    with pytest.raises(NotLoaded) as error:
        read(path)
    assert len(str(error.value).splitlines()) == 1
    return str(error.value)
