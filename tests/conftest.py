"""What every worker of a test run is set up with."""

import gc
import json
import os
import signal
import textwrap
import warnings

import drawn
import pytest
from together import Together

for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):  # one thread on small work, before torch is imported
    os.environ.setdefault(variable, "1")
os.environ.pop("PYTEST_ADDOPTS", None)  # meant for this run of pytest, not for those that tests start
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # begun by a script, in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser):
    parser.addoption("--in-full", action="store_true", help=(
        "judge half of the submissions, some again from their written adapters, and every row of the matrix without "
        "its short cut"
    ))  # fmt: skip


def pytest_configure(config):
    config.addinivalue_line("markers", "long: run every fourth day, and with --in-full (support/drawn.py)")
    config.addinivalue_line("markers", "in_full: run with --in-full alone")


def pytest_report_header():
    return f"drawn on {drawn.day()}: of what is long, a quarter"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """Leave what is long, and not of this day, to other days, unless its file is asked for by name."""
    if config.getoption("--in-full"):
        return
    named = any(".py" in argument for argument in config.args)
    items[:] = [item for item in items if not item.get_closest_marker("in_full")]
    items[:] = [item for item in items if named or not item.get_closest_marker("long") or drawn.today(item.nodeid)]


def pytest_collection_finish():
    """Leave what was imported to itself: a collection of garbage would walk all of torch."""
    gc.freeze()


@pytest.fixture(scope="session")
def together(tmp_path_factory):
    """Return the values that all workers of this run share."""
    base = tmp_path_factory.getbasetemp()
    return Together((base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "together")


@pytest.fixture(scope="session")
def spec_site(together):
    """Return the folder into which `attnconf report --spec` has written the specification, once for all workers."""
    from attnconf import cli

    folder = together.folder / "site"
    assert together.value("site", lambda: cli.main(["report", "--spec", "-o", str(folder)])) == 0
    return folder


@pytest.fixture
def as_a_user():
    """Let warnings be what they are where somebody's file is judged: shown, and no errors."""
    with warnings.catch_warnings():
        warnings.resetwarnings()
        yield


@pytest.fixture
def write(tmp_path):
    """Return a function that writes a file and returns its path; a list of cells becomes a notebook."""

    def write(content, name="homework.py"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, list):
            cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": cell} for cell in content]
            content = json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells})
            path = path.with_suffix(".ipynb")
        if isinstance(content, str):
            content = textwrap.dedent(content).lstrip("\n").encode()
        path.write_bytes(content)
        return path

    return write
