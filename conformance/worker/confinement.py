"""What a process gives up before it runs foreign code, and which of that it could: the layers of its isolation."""

import contextlib
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from attnconf.conformance.worker import ends, landlock, namespaces, reach, seccomp
from attnconf.conformance.worker.keeper import DESCENDANTS

PROCESS, ENVIRONMENT, FOLDER, NO_PRIVILEGES = "process", "environment", "folder", "no-new-privileges"
LIMITS = {  # by layer: the limit of POSIX, and its value
    "core-limit": ("RLIMIT_CORE", 0),
    "file-limit": ("RLIMIT_FSIZE", 2**30),  # bytes of one file
    "cpu-limit": ("RLIMIT_CPU", 2 * 3600),  # seconds of a process; calls have their own, by the clock on the wall
    "descriptor-limit": ("RLIMIT_NOFILE", 1024),
}
PROCESS_LIMIT, ADDRESS_SPACE, LANDLOCK, SECCOMP = "process-limit", "address-space", "landlock", "seccomp"
MORE_PROCESSES = 512  # and threads, beyond those of its user when it begins
MORE_SPACE, SPACE_OF_CORE = 8 * 2**30, 2**27  # bytes beyond what torch reserves; libraries start threads for each core
LAYERS = (PROCESS, ENVIRONMENT, FOLDER, DESCENDANTS, *namespaces.NAMES, NO_PRIVILEGES, *LIMITS, PROCESS_LIMIT, LANDLOCK,
          SECCOMP, ADDRESS_SPACE)  # fmt: skip
STRICT = (PROCESS, FOLDER, DESCENDANTS, namespaces.MOUNTS, namespaces.NETWORK, NO_PRIVILEGES, LANDLOCK, SECCOMP,
          ADDRESS_SPACE)  # fmt: skip
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


def lacking(layers: Sequence[str]) -> list[str]:
    """Return the layers without which code reaches what judges it, or what others have handed in."""
    return [layer for layer in STRICT if layer not in layers]


def confine(folder: str, held: Sequence[str], grant: reach.Grant) -> list[str]:
    """Work in a folder, under limits, and without rights to all else; return the layers that are there now.

    ``held``: those that the keeper gave. The process must have one thread.
    """
    os.chdir(folder)
    os.environ.update(HOME=folder, TMPDIR=folder)
    tempfile.tempdir = None  # the keeper asked for another
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")  # where memory is short, this process ends
    found = [PROCESS, ENVIRONMENT, FOLDER, *held]
    ends.control(_NO_NEW_PRIVILEGES, 1)
    if ends.control(_ARE_THERE_NONE) == 1:
        found.append(NO_PRIVILEGES)
    found += [layer for layer, (limit, value) in LIMITS.items() if limited(limit, value)]
    others = _tasks()
    if others and os.geteuid() != 0 and limited("RLIMIT_NPROC", others + MORE_PROCESSES):  # it does not bind root
        found.append(PROCESS_LIMIT)
    alone = namespaces.PROCESSES in held and namespaces.has_own_proc()
    if landlock.restrict(reach.rules(folder, grant, alone, namespaces.MOUNTS in held)):
        found.append(LANDLOCK)
    if seccomp.filter_calls(sockets=grant.device == "cuda"):
        found.append(SECCOMP)
    return found


def limit_space() -> list[str]:
    """Limit the memory of this process, torch being there, to a good deal more than it reserves; return the layer.

    Not with CUDA, which reserves as much as all GPUs have.
    """
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except OSError:
        return []
    most = pages * os.sysconf("SC_PAGE_SIZE") + MORE_SPACE + SPACE_OF_CORE * (os.cpu_count() or 1)
    return [ADDRESS_SPACE] if limited("RLIMIT_AS", most) else []


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
