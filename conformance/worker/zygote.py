"""A warm process: it has imported torch, holds nothing secret, and forks processes that will hold foreign code.

``python -P -m attnconf.conformance.worker.zygote FD MODULE`` imports MODULE, a worker or a binder. For each message
with a file descriptor, the end of a connection, it forks a process in which MODULE's ``main`` serves that connection,
with what the message grants it to read, and answers with a handle on that process. It runs no operation of torch, whose
threads a fork would lose.
"""

import array
import contextlib
import gc
import importlib
import json
import os
import signal
import socket
import sys
from collections.abc import Callable

from attnconf.conformance.worker import ends, reach

LONGEST = 2**16  # bytes of a message
ROOM = socket.CMSG_SPACE(array.array("i").itemsize)
ENDED = "ended"  # the question how a process ended, before its number


def serve(connection: socket.socket, module: str) -> None:
    """Fork at each request until the other end is closed, and then end with all that was forked."""
    runs = importlib.import_module(module)
    runs.warm_up()
    gc.collect()
    gc.freeze()  # a collection in a fork would copy all of torch
    connection.send(b"{}")
    while True:
        asked, passed = _asked(connection)
        if not asked:
            return
        if asked.startswith(ENDED):
            _answer(connection, _ended(int(asked.removeprefix(ENDED))))
            continue
        grant = reach.Grant.of(asked)
        reach.of_installed(tuple(grant.path), grant.reference)  # kept, for all forks
        child = os.fork()
        if child == 0:
            connection.close()
            _become(runs.main, passed, asked)
        handle = os.pidfd_open(child)
        os.close(passed)
        _answer(connection, child, handle)
        os.close(handle)


def _become(main: Callable[[int, str], None], connection: int, grant: str) -> None:
    """Serve a connection in a process that was forked, in a session of its own, and end."""
    with contextlib.suppress(BaseException):
        os.setsid()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        main(connection, grant)
    os._exit(1)


def _asked(connection: socket.socket) -> tuple[str, int]:
    """Return the next message and the descriptor that came with it; "" where the connection has ended."""
    message, extra, _, _ = connection.recvmsg(LONGEST, ROOM)
    passed = array.array("i")
    for level, kind, data in extra:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            passed.frombytes(data[: passed.itemsize])
    return message.decode(), passed[0] if passed else -1


def _answer(connection: socket.socket, number: int, handle: int | None = None) -> None:
    extra = [] if handle is None else [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [handle]))]
    connection.sendmsg([json.dumps(number).encode()], extra)


def _ended(child: int) -> int:
    """Return the exit code of a process that has ended; -SIGKILL for one that nobody knows."""
    try:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    except ChildProcessError:
        return -signal.SIGKILL


if __name__ == "__main__":
    ends.end_with_parent()
    serve(socket.socket(fileno=int(sys.argv[1])), sys.argv[2])
