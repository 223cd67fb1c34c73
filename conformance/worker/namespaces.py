"""Namespaces of Linux: what a process sees of the users, processes, networks, files and queues of its system.

An ordinary user can have them through a namespace of users; where the kernel or a container refuses, there are none.
"""

import contextlib
import ctypes
import os
import struct
from pathlib import Path

from attnconf.conformance.worker import ends, kernel

USERS, PROCESSES, MOUNTS, NETWORK, QUEUES = (
    "user-namespace", "pid-namespace", "mount-namespace", "network-namespace", "ipc-namespace",
)  # fmt: skip
NAMES = (USERS, PROCESSES, MOUNTS, NETWORK, QUEUES)
_FLAGS = {USERS: 0x10000000, PROCESSES: 0x20000000, MOUNTS: 0x20000, NETWORK: 0x40000000, QUEUES: 0x8000000}
SPACE = 2**30  # bytes of a working folder, and of /dev/shm: they are kept in memory
_FILES = 100_000
_RESTRICTED = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
_HERE, _BELOW, _READ_ONLY, _NO_SETUID, _PRIVATE = -100, 0x8000, 1, 2, 1 << 18
_PLAIN = 2 | 4  # of mount: no programs with the rights of their owners, no devices
_NO_PROGRAMS = 8
_DROP_BOUND, _AMBIENT, _CLEAR, _CAPABILITIES = 24, 47, 4, 64
_VERSION = 0x20080522  # of the call that sets capabilities


def enter_users_and_processes() -> list[str]:
    """Leave the namespace of users; the next process that is forked begins one of processes. Return which could be.

    The process must have one thread.
    """
    found = []
    user, group = os.geteuid(), os.getegid()
    if _may_have_users(user) and _entered(USERS):
        found.append(USERS)
        with contextlib.suppress(OSError):  # without a map the ids look foreign, the rights are the same
            Path("/proc/self/setgroups").write_text("deny")
            Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
            Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    if _entered(PROCESSES):
        found.append(PROCESSES)
    return found


def enter_others(folder: str) -> list[str]:
    """Enter namespaces without networks and queues, and one where all files but those in a folder can only be read.

    That folder, and /dev/shm, are empty, bounded, and in memory. Return which could be.
    """
    found = [name for name in (NETWORK, QUEUES) if _entered(name)]
    if _entered(MOUNTS) and _mounted(folder):
        found.append(MOUNTS)
    return found


def drop_rights() -> None:
    """Give up the rights over the namespaces, and those of root beyond its own files."""
    ends.control(_AMBIENT, _CLEAR)
    for right in range(_CAPABILITIES):
        ends.control(_DROP_BOUND, right)
    kernel.call("capset", ctypes.create_string_buffer(struct.pack("Ii", _VERSION, 0)), ctypes.create_string_buffer(24))


def _may_have_users(user: int) -> bool:
    """Return False where they can be had in name only: Ubuntu gives them without their rights."""
    with contextlib.suppress(OSError):
        return user == 0 or _RESTRICTED.read_text().strip() in ("", "0")
    return True


def _entered(name: str) -> bool:
    return kernel.call("unshare", _FLAGS[name]) == 0


def _mounted(folder: str) -> bool:
    """Let all files be read only, but for a folder; return whether they are. /proc shows what the namespace has."""
    attributes = ctypes.create_string_buffer(struct.pack("QQQQ", _READ_ONLY | _NO_SETUID, 0, _PRIVATE, 0))
    if kernel.call("mount_setattr", _HERE, b"/", _BELOW, attributes, 32) != 0:
        return False
    kernel.call("mount", b"proc", b"/proc", b"proc", _PLAIN | _NO_PROGRAMS, None)  # refused where parts are masked
    size = f"size={SPACE},nr_inodes={_FILES}"
    shared = not Path("/dev/shm").is_dir() or _in_memory("/dev/shm", f"{size},mode=1777")
    return _in_memory(folder, f"{size},mode=700") and shared


def _in_memory(folder: str, options: str) -> bool:
    return kernel.call("mount", b"tmpfs", os.fsencode(folder), b"tmpfs", _PLAIN, options.encode()) == 0


def has_own_proc() -> bool:
    """Return whether /proc shows the processes of this process's namespace."""
    try:
        return os.readlink("/proc/self") == str(os.getpid())
    except OSError:
        return False
