"""A filter of system calls: those that computing does not need, and that reach other processes, networks or the kernel.

They are refused as what one may not do; the number of a call is the kernel's, for the processor.
"""

import ctypes
import os
import struct
from collections.abc import Sequence

from attnconf.conformance.worker import ends

_ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}  # column below, and the kernel's name
SOCKETS = {"socket": (41, 198), "bind": (49, 200), "listen": (50, 201)}  # CUDA makes one that nobody connects to
REFUSED = {  # by name: the numbers on x86_64 and on aarch64; -1 where there is none
    # other processes
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
    "pidfd_getfd": (438, 438), "process_madvise": (440, 440),
    # networks, and sockets of other programs: pairs of sockets remain
    **SOCKETS, "connect": (42, 203),
    # namespaces and what is mounted
    "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41),
    "chroot": (161, 51), "mount_setattr": (442, 442), "move_mount": (429, 429), "open_tree": (428, 428),
    "fsopen": (430, 430), "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433),
    "open_by_handle_at": (304, 265), "name_to_handle_at": (303, 264), "quotactl": (179, 60), "swapon": (167, 224),
    "swapoff": (168, 225), "fanotify_init": (300, 262),
    # the kernel
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282), "keyctl": (250, 219),
    "add_key": (248, 217), "request_key": (249, 218), "io_uring_setup": (425, 425), "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427), "init_module": (175, 105), "finit_module": (313, 273),
    "delete_module": (176, 106), "kexec_load": (246, 104), "kexec_file_load": (320, 294), "reboot": (169, 142),
    "acct": (163, 89), "syslog": (103, 116), "settimeofday": (164, 170), "clock_settime": (227, 112),
    "clock_adjtime": (305, 266), "adjtimex": (159, 171), "sethostname": (170, 161), "setdomainname": (171, 162),
    "iopl": (172, -1), "ioperm": (173, -1), "vhangup": (153, 58),
}  # fmt: skip
_CLONE, _CLONE3, _LIMITS = (56, 220), (435, 435), (302, 261)
_NEW_NAMESPACES = 0x7E020000  # among the flags of clone
_LOAD, _EQUAL, _AT_LEAST, _ANY_OF, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06  # of the filter's machine
_NUMBER, _ARCHITECTURE, _FIRST = 0, 4, 16  # where they stand in what it reads
_ALLOW, _ERROR, _NOT_PERMITTED, _NO_SUCH_CALL = 0x7FFF0000, 0x50000, 1, 38
_OTHER_NUMBERS = 0x40000000  # those of x32
_SET, _FILTER = 22, 2  # of prctl


def filter_calls(sockets: bool = False) -> bool:
    """Refuse calls to this process and to what it starts; return whether they are refused. It has one thread.

    ``sockets``: sockets can be made, though not connected.
    """
    if os.uname().machine not in _ARCHITECTURES or struct.calcsize("P") != 8:
        return False
    column, architecture = _ARCHITECTURES[os.uname().machine]
    refused = [both[column] for name, both in REFUSED.items() if not (sockets and name in SOCKETS)]
    code = b"".join(_program([number for number in refused if number >= 0], column, architecture))
    held = ctypes.create_string_buffer(code)
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(held)))
    return ends.control(_SET, _FILTER, program) == 0


def _program(numbers: Sequence[int], column: int, architecture: int) -> list[bytes]:
    """Return the filter that refuses calls of these numbers, an instruction of 8 bytes each."""
    refuse = _step(_RETURN, _ERROR | _NOT_PERMITTED)
    return [
        _step(_LOAD, _ARCHITECTURE), _step(_EQUAL, architecture, 1, 0), refuse,
        _step(_LOAD, _NUMBER), _step(_AT_LEAST, _OTHER_NUMBERS, 0, 1), refuse,
        *(step for number in numbers for step in (_step(_EQUAL, number, 0, 1), refuse)),
        # its flags cannot be read: the libraries then use clone, whose flags can
        _step(_EQUAL, _CLONE3[column], 0, 1), _step(_RETURN, _ERROR | _NO_SUCH_CALL),
        _step(_EQUAL, _CLONE[column], 0, 4), _step(_LOAD, _FIRST), _step(_ANY_OF, _NEW_NAMESPACES, 0, 1), refuse,
        _step(_RETURN, _ALLOW),
        _step(_EQUAL, _LIMITS[column], 0, 3), _step(_LOAD, _FIRST), _step(_EQUAL, 0, 1, 0), refuse,  # another's
        _step(_RETURN, _ALLOW),
    ]  # fmt: skip


def _step(code: int, value: int, if_so: int = 0, if_not: int = 0) -> bytes:
    return struct.pack("HBBI", code, if_so, if_not, value)
