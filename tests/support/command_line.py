"""The command line as a user would start it, in a process of its own; or in this one, which has imported torch already.

One real process for each verb, and for each question about the environment, is enough.
"""

import contextlib
import io
import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from unittest import mock

import pytest
import torch  # noqa: F401  # before a run imports it, which forgets it at its end: it cannot be imported twice

from attnconf import cli

COLUMNS = {"COLUMNS": "120"}


def attnconf(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Return the finished process of ``attnconf …``, started in the folder ``cwd``."""
    return subprocess.run(
        [sys.executable, "-m", "attnconf", *arguments],
        cwd=cwd, env=os.environ | COLUMNS | environment, capture_output=True, encoding="utf-8",
        timeout=600, check=False,
    )  # fmt: skip


def in_process(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Return what ``attnconf …`` in the folder ``cwd`` prints and returns, as if it were a finished process."""
    return _captured(lambda: cli.main(arguments), cwd)


def pytest_in_process(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Return what ``pytest …`` in the folder ``cwd`` prints and returns, as if it were a finished process."""
    return _captured(lambda: int(pytest.main(list(arguments))), cwd, environment)


def _captured(
    run: Callable[[], int], cwd: Path, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Return what came of a call in a folder. What it imported from that folder is forgotten."""
    out, errors, modules = io.StringIO(), io.StringIO(), set(sys.modules)
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_XDIST_")}  # no worker
    with (
        contextlib.chdir(cwd),
        mock.patch.dict(os.environ, own | COLUMNS | dict(environment or {}), clear=True),
        mock.patch.object(sys, "path", list(sys.path)),
        warnings.catch_warnings(),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(errors),
    ):
        warnings.resetwarnings()
        code = run()
    for name in set(sys.modules) - modules:
        if Path(cwd).resolve() in Path(getattr(sys.modules[name], "__file__", None) or os.devnull).resolve().parents:
            del sys.modules[name]
    return subprocess.CompletedProcess((), code, out.getvalue(), errors.getvalue())
