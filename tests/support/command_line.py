"""Start the command line as a user would."""

import os
import subprocess
import sys
from pathlib import Path


def attnconf(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Return the finished process of ``attnconf …``, started in the folder ``cwd``."""
    return subprocess.run(
        [sys.executable, "-m", "attnconf", *arguments],
        cwd=cwd, env=os.environ | {"COLUMNS": "120"} | environment, capture_output=True, encoding="utf-8",
        timeout=120, check=False,
    )  # fmt: skip
