"""The command line as a user would start it, in a process of its own; or in this one, which has imported torch already.

One real process for each verb, and for each question about the environment, is enough.
"""

import contextlib
import io
import os
import subprocess
import sys
import warnings
from pathlib import Path
from unittest import mock

from attnconf import cli

COLUMNS = {"COLUMNS": "120"}


def attnconf(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Return the finished process of ``attnconf …``, started in the folder ``cwd``."""
    return subprocess.run(
        [sys.executable, "-m", "attnconf", *arguments],
        cwd=cwd, env=os.environ | COLUMNS | environment, capture_output=True, encoding="utf-8",
        timeout=120, check=False,
    )  # fmt: skip


def in_process(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Return what ``attnconf …`` in the folder ``cwd`` prints and returns, as if it were a finished process.

    What was imported from that folder is forgotten.
    """
    out, errors, modules = io.StringIO(), io.StringIO(), set(sys.modules)
    with (
        contextlib.chdir(cwd),
        mock.patch.dict(os.environ, COLUMNS),
        mock.patch.object(sys, "path", list(sys.path)),
        warnings.catch_warnings(),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(errors),
    ):
        warnings.resetwarnings()
        code = cli.main(arguments)
    for name in set(sys.modules) - modules:
        if Path(cwd).resolve() in Path(getattr(sys.modules[name], "__file__", None) or os.devnull).resolve().parents:
            del sys.modules[name]
    return subprocess.CompletedProcess(arguments, code, out.getvalue(), errors.getvalue())
