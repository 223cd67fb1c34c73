"""Files are read whole or in part."""

import pytest

from attnconf.conformance.source.reader import read


@pytest.fixture
def whole(write):
    """Return a function that reads a text, all of which is run."""

    def whole(content):
        found = read(write(content))
        assert not found.partial
        assert not found.left_out
        return found

    return whole


@pytest.fixture
def partly(write):
    """Return a function that reads a text or a notebook of which only the definitions are run."""

    def partly(content):
        found = read(write(content))
        assert found.partial
        return found

    return partly
