"""Which files a process may read, beside those in its own folder: Python, the frameworks, and what it is given.

Of this package that is what bindings need at run time. The reference, the checks and the diagnoses lie elsewhere, and
stay unread, but for an adapter that is the reference and for the process that finds out how a file is called.
"""

import glob
import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.util import find_spec

from attnconf.conformance.worker import landlock

_SYSTEM = (
    "/usr", "/lib", "/lib32", "/lib64", "/libx32", "/bin", "/sbin", "/sys", "/nix/store", "/gnu/store", "/opt/cuda",
    "/opt/nvidia", "/opt/rocm*", "/opt/intel", "/run/opengl-driver*", "/run/current-system",
)  # fmt: skip
_SETTINGS = (  # in /etc
    "ld.so.*", "localtime", "timezone", "passwd", "group", "nsswitch.conf", "hosts", "host.conf", "resolv.conf",
    "gai.conf", "protocols", "services", "locale*", "alternatives", "fonts", "mime.types", "magic", "os-release",
    "lsb-release", "debian_version", "machine-id", "OpenCL", "vulkan", "nvidia*", "cuda*", "ssl/certs",
    "ssl/openssl.cnf", "pki/tls/certs", "pki/ca-trust", "ca-certificates*", "python3*", "matplotlibrc",
)  # fmt: skip
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "nvidia*", "dri", "kfd", "dxg")
_OF_PROC = ("self", "cpuinfo", "meminfo", "stat", "sys", "filesystems", "version", "driver")  # not other processes
PARTS = ("adapters", "conformance", "reference", "reports", "spec")  # of this package
_NEEDED = {  # by package: what the process runs of it
    "attnconf": ("__init__.py", "__pycache__"), "attnconf.adapters": ("",),
    "attnconf.conformance": ("__init__.py", "__pycache__", "source", "worker"),
    "attnconf.spec": ("__init__.py", "__pycache__", "nearest.py"),
}  # fmt: skip


@dataclass(frozen=True)
class Grant:
    """What a process is given to read."""

    reads: Sequence[str] = ()  # files and folders: somebody's, and those around it
    path: Sequence[str] = ()  # where modules are looked for
    reference: bool = False  # the whole of this package
    device: str = "cpu"  # on which it computes

    @classmethod
    def of(cls, text: str) -> "Grant":
        return cls(**json.loads(text))

    @property
    def text(self) -> str:
        return json.dumps(asdict(self))


def rules(folder: str, grant: Grant, alone: bool, own_memory: bool) -> Iterator[tuple[str, int]]:
    """Yield paths and what is allowed of them.

    ``alone``: /proc shows nobody else's processes; ``own_memory``: nobody else has this process's /dev/shm.
    """
    yield folder, landlock.WRITES
    if own_memory:
        yield "/dev/shm", landlock.WRITES
    yield "/proc", landlock.READS if alone else landlock.SEES
    yield from ((f"/proc/{name}", landlock.READS) for name in _OF_PROC)
    yield "/proc/self", landlock.USES  # CUDA names its threads there
    yield from of_installed(tuple(grant.path), grant.reference)
    hidden = [] if grant.reference else _hidden()
    for given in grant.reads:
        yield from _plain(os.path.realpath(given), hidden)


@cache
def of_installed(path: tuple[str, ...], reference: bool) -> list[tuple[str, int]]:
    """Return what is allowed of the system, of Python and of packages: the same for all that is judged here."""
    found = [("/dev", landlock.SEES)]
    found += [(device, landlock.USES) for device in _matching(*(f"/dev/{name}" for name in _DEVICES))]
    found += [(place, landlock.READS) for place in _matching(*_SYSTEM, *(f"/etc/{name}" for name in _SETTINGS))]
    roots = list(dict.fromkeys(map(os.path.realpath, [*_roots(path), *(packages().values() if reference else ())])))
    outer = [root for root in roots if not any(root.startswith(f"{other}/") for other in roots)]
    found += [rule for root in outer for rule in _without(root, [] if reference else _hidden())]
    for package, parts in _NEEDED.items():
        place = packages()[package]
        found += [(place, landlock.SEES), *((os.path.join(place, part), landlock.READS) for part in parts)]
    return found


def _hidden() -> list[str]:
    return sorted({os.path.realpath(place) for place in packages().values()})


def _matching(*patterns: str) -> list[str]:
    found = [place for pattern in patterns for place in (glob.glob(pattern) if "*" in pattern else [pattern])]
    return [place for place in found if os.path.exists(place)]


def _roots(path: Sequence[str]) -> list[str]:
    """Return the folders of Python and of installed packages, those installed in place among them."""
    libraries = [entry for entry in os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep) if entry]
    mapped = [vars(sys.modules.get(getattr(finder, "__module__", ""), os)).get("MAPPING") for finder in sys.meta_path]
    in_place = [place for mapping in mapped if isinstance(mapping, dict) for name, place in mapping.items()
                if name.partition(".")[0] != "attnconf"]  # fmt: skip
    found = [sys.prefix, sys.base_prefix, sys.exec_prefix, *filter(None, sys.path), *path, *libraries, *in_place]
    return [root for root in dict.fromkeys(found) if os.path.exists(root)]


@cache
def packages() -> dict[str, str]:
    """Return where this package's parts lie, by name."""
    found = {}
    for name in ("attnconf", *(f"attnconf.{part}" for part in PARTS)):
        spec = find_spec(name)
        if spec is not None and spec.submodule_search_locations:
            found[name] = spec.submodule_search_locations[0]
    return found


def _without(root: str, hidden: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Yield a file or folder; where something hidden lies in it, its names, and what else is in it."""
    if any(f"{root}/".startswith(f"{place}/") for place in hidden):
        return
    if not any(place.startswith(f"{root.rstrip('/')}/") for place in hidden):
        yield root, landlock.READS
        return
    yield root, landlock.SEES
    for name in sorted(os.listdir(root)):
        yield from _without(os.path.realpath(os.path.join(root, name)), hidden)


def _plain(root: str, hidden: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Yield a file or folder; of a folder not what its user hides: keys, histories; of somebody's home files alone."""
    names = os.listdir(root) if os.path.isdir(root) else []
    at_home = f"{home()}/".startswith(f"{root.rstrip('/')}/")
    if not at_home and not any(name.startswith(".") for name in names):
        yield from _without(root, hidden)
        return
    yield root, landlock.SEES
    for place in (os.path.realpath(os.path.join(root, name)) for name in names if not name.startswith(".")):
        if not at_home or os.path.isfile(place):
            yield from _without(place, hidden)


def home() -> str:
    import pwd

    try:
        return os.path.realpath(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:
        return "/"
