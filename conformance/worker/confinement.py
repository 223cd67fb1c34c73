"""What a process gives up before it runs foreign code, and which of that it could: the layers of its isolation."""

import contextlib
import os
from pathlib import Path

from attnconf.conformance.worker import ends

PROCESS, ENVIRONMENT, FOLDER, DESCENDANTS, NO_PRIVILEGES = (
    "process", "environment", "folder", "descendants", "no-new-privileges",
)  # fmt: skip
# Not the address space: torch reserves 0.6 GB to begin with on a CPU, and with CUDA as much as all GPUs have.
LIMITS = {  # by layer: the limit of POSIX, and its value
    "core-limit": ("RLIMIT_CORE", 0),
    "file-limit": ("RLIMIT_FSIZE", 2**30),  # bytes of one file
    "cpu-limit": ("RLIMIT_CPU", 2 * 3600),  # seconds of a process; calls have their own, by the clock on the wall
}
PROCESS_LIMIT = "process-limit"
MORE_PROCESSES = 512  # and threads, beyond those of its user when it begins
LAYERS = (PROCESS, ENVIRONMENT, FOLDER, DESCENDANTS, NO_PRIVILEGES, *LIMITS, PROCESS_LIMIT)
_NO_NEW_PRIVILEGES, _ARE_THERE_NONE = 38, 39  # prctl
_KEPT = (
    "PATH", "LANG", "LANGUAGE", "TZ", "TMPDIR", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "PYTHONPATH", "PYTHONHOME",
    "PYTHONHASHSEED", "PYTHONUTF8", "PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX", "CC", "CXX", "KERAS_BACKEND",
    "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE",
)  # fmt: skip
_KEPT_BEGIN = ("LC_", "OMP_", "MKL_", "KMP_", "GOMP_", "OPENBLAS_", "CUDA_", "NVIDIA_", "TORCH_", "PYTORCH_", "TRITON_",
               "JAX_", "XLA_")  # fmt: skip


def environment() -> dict[str, str]:
    """Return the variables that Python, torch and the other frameworks need, of those of this process."""
    import site

    kept = {name: value for name, value in os.environ.items() if name in _KEPT or name.startswith(_KEPT_BEGIN)}
    return kept | {"PYTHONUSERBASE": site.getuserbase()}  # packages lie there, wherever its home will be


def confine(folder: str, descendants: bool) -> list[str]:
    """Work in a folder, under limits and without new rights; return the layers that are there now, PROCESS first.

    ``descendants``: whether what this process starts ends with it.
    """
    os.chdir(folder)
    os.environ.update(HOME=folder, TMPDIR=folder)
    found = [PROCESS, ENVIRONMENT, FOLDER, *([DESCENDANTS] if descendants else [])]
    ends.control(_NO_NEW_PRIVILEGES, 1)
    if ends.control(_ARE_THERE_NONE) == 1:
        found.append(NO_PRIVILEGES)
    found += [layer for layer, (limit, value) in LIMITS.items() if limited(limit, value)]
    others = _tasks()
    if others and os.geteuid() != 0 and limited("RLIMIT_NPROC", others + MORE_PROCESSES):  # it does not bind root
        found.append(PROCESS_LIMIT)
    return found


def limited(limit: str, value: int) -> bool:
    """Lower a limit to a value, if it is not lower already; return whether it holds."""
    import resource

    which = getattr(resource, limit)
    with contextlib.suppress(OSError, ValueError):
        there = [x for x in resource.getrlimit(which) if x != resource.RLIM_INFINITY]
        resource.setrlimit(which, (min(value, *there), min(value, *there)) if there else (value, value))
    return bool(0 <= resource.getrlimit(which)[1] <= value)


def _tasks() -> int:
    """Return how many processes and threads the user of this process has; 0 where the system does not list them."""
    count, mine = 0, os.getuid()
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if process.stat().st_uid == mine:
                count += len(os.listdir(process / "task"))
    return count
