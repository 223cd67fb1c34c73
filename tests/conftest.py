"""What every worker of a test run is set up with."""

import gc
import os
import warnings

import pytest
from together import Together

for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):  # one thread on small work, before torch is imported
    os.environ.setdefault(variable, "1")
os.environ.pop("PYTEST_ADDOPTS", None)  # meant for this run of pytest, not for those that tests start


def pytest_addoption(parser):
    parser.addoption("--in-full", action="store_true", help=(
        "judge every submission again from its written adapter, and every row of the matrix without its short cut"
    ))  # fmt: skip


def pytest_collection_finish():
    """Leave what was imported to itself: a collection of garbage would walk all of torch."""
    gc.freeze()


@pytest.fixture(scope="session")
def together(tmp_path_factory):
    """Return the values that all workers of this run share."""
    base = tmp_path_factory.getbasetemp()
    return Together((base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "together")


@pytest.fixture
def as_a_user():
    """Let warnings be what they are where somebody's file is judged: shown, and no errors."""
    with warnings.catch_warnings():
        warnings.resetwarnings()
        yield
