"""A process of its own for somebody's code: started, asked, and killed where it does not answer as it must.

It is asked on a socket that is its alone; its standard streams lead nowhere. Exactly one reply comes to a request,
within its time; after a crash, a time-out, or a reply that is none, the process is started anew for the next one.
"""

import contextlib
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn, TypeVar

import torch
from torch import Tensor

from attnconf.conformance.engine import warm
from attnconf.conformance.engine.answers import made_of, size_of
from attnconf.conformance.engine.warm import WORKER
from attnconf.conformance.worker import confinement, wire
from attnconf.conformance.worker.order import Made, Order
from attnconf.conformance.worker.reach import Grant
from attnconf.conformance.worker.refused import Refused

T = TypeVar("T")
SECONDS = 60.0  # for one call
LOADING = 120.0  # seconds to import torch and a file
BINDING = 900.0  # seconds to find out how a file without an adapter is called
DEATHS = 5  # after so many nothing more is asked
ALIVE = 4  # processes at one time; another one ends the one that was started first
ENDING = 10.0  # seconds for a process to end what it has started
LOOK = 0.2  # seconds between two looks at whether a silent process still lives
_alive: list["Child"] = []


class Child:
    """A process that holds one file, or one module."""

    def __init__(
        self, seconds: float = SECONDS, reference: bool = False, runs: str = WORKER, reads: Sequence[str] = (),
        device: str = "cpu", loading: float | None = None,
    ):  # fmt: skip
        self.seconds = seconds
        self.reference = reference  # it may import the reference: an adapter of ours that is one
        self.runs = runs
        self.reads = reads  # files and folders that it may read, beside those of Python and of packages
        self.device = device
        self._loading = loading  # seconds to import torch and a file; None: LOADING
        self._to_repeat: list[dict[str, Any]] = []  # what a new process is told first
        self._process: subprocess.Popen[bytes] | warm.Forked | None = None
        self._deaths = 0
        self._last = Refused("crashed", "its process ended")
        self.layers: tuple[str, ...] = ()  # of isolation, those of its last process

    @property
    def loading(self) -> float:
        return LOADING if self._loading is None else self._loading

    def prepare(self, request: dict[str, Any], understood: Callable[[Any, Any], T]) -> T:
        """Make a request that is repeated whenever the process is started anew, and return what came of it."""
        found = self.ask(request, (), understood, self.loading)
        self._to_repeat.append(request)
        return found

    def ask(
        self, request: Mapping[str, Any], tensors: Sequence[Tensor], understood: Callable[[Any, Any], T],
        seconds: float, most: int = 0,
    ) -> T:  # fmt: skip
        """Return what ``understood`` makes of the answer; its tensors have at most ``most`` bytes. Raises Refused.

        ``understood`` raises Refused where the answer says so, and Malformed where it has not the form asked for.
        """
        if self._deaths >= DEATHS:
            raise Refused(self._last.reason, f"{self._last.message}; not called again after {DEATHS} such ends")
        if self._process is None:
            self.start()
        return self._exchange(request, tensors, understood, seconds, most)

    def start(self) -> None:
        """Start a process, and tell it what the one before it was told. Raises Refused."""
        ours, theirs = socket.socketpair()
        path = [os.path.abspath(entry) if not entry or os.path.exists(entry) else entry for entry in sys.path]
        kind = self.device.partition(":")[0]
        grant = Grant(self.reads, [entry for entry in path if entry != os.getcwd()], self.reference, kind)
        with theirs:
            self._process = warm.forked(self.runs, theirs, grant.text) or _started(self.runs, theirs, grant.text)
        self._socket = ours
        _alive.append(self)
        for other in _alive[:-ALIVE]:
            other.end()
        begin = {"do": "begin", "path": path, "threads": torch.get_num_threads(), "reference": self.reference,
                 "device": kind}  # fmt: skip
        self.layers = self._exchange(begin, (), _layers, LOADING, 0)
        for request in self._to_repeat:
            self._exchange(request, (), lambda answer, tensors: None, self.loading, 0)

    def _exchange(
        self, request: Mapping[str, Any], tensors: Sequence[Tensor], understood: Callable[[Any, Any], T],
        seconds: float, most: int,
    ) -> T:  # fmt: skip
        """Send a request, and return what its answer means; the process is killed if there is none."""
        until, nonce = time.monotonic() + seconds, secrets.token_hex(8)
        message = wire.message({**request, "nonce": nonce}, tensors)
        try:
            self._send(message, until)
            answer, made = wire.received(lambda count: self._read(count, until), most)
            if answer.pop("nonce", None) != nonce:
                raise wire.Malformed("a reply to nothing that was asked")
            if answer.pop("lost", False):
                self.end()
                self._deaths += 1
                self._last = Refused("crashed", "ended the CUDA context of its process")
            return understood(answer, made)
        except Refused:
            raise
        except wire.Malformed as error:
            self._lost("protocol", str(error))
        except TimeoutError:
            self._lost("timeout", f"gave no answer within {seconds:g} s")
        except OSError:
            self._lost(*self._ending())
        except BaseException:  # the user's Ctrl-C: the answer to come is nobody's
            self.end()
            raise

    def _send(self, message: bytes, until: float) -> None:
        view = memoryview(message)
        while view:
            view = view[self._patiently(until, partial(self._socket.send, view)) :]

    def _read(self, count: int, until: float) -> bytearray:
        got = bytearray(count)
        view = memoryview(got)
        while view:
            size = self._patiently(until, partial(self._socket.recv_into, view))
            if not size:
                raise ConnectionError
            view = view[size:]
        return got

    def _patiently(self, until: float, act: Callable[[], int]) -> int:
        """Return what a socket's operation gives. Raises TimeoutError, or ConnectionError where nobody is there."""
        while True:
            assert self._process is not None
            ended, left = self._process.poll() is not None, until - time.monotonic()
            if left <= 0:
                raise TimeoutError
            self._socket.settimeout(min(LOOK, left))
            try:
                return act()
            except TimeoutError:
                if ended:  # and what it forked keeps the connection
                    raise ConnectionError from None

    def _ending(self) -> tuple[str, str]:
        """Return reason and words for a connection that ended."""
        assert self._process is not None
        try:
            code = self._process.wait(1)
        except subprocess.TimeoutExpired:
            return "protocol", "closed the connection to the process that judges it"
        if code >= 0:
            return "crashed", f"ended its process (exit code {code})"
        return "crashed", f"ended its process ({signal.Signals(-code).name})"

    def _lost(self, reason: str, message: str) -> NoReturn:
        """End the process, and raise why."""
        self.end()
        self._deaths += 1
        self._last = Refused(reason, message)
        raise Refused(reason, message) from None

    def end(self) -> None:
        """End the process and what it started; the next request starts another."""
        process, self._process = self._process, None
        if process is None:
            return
        _alive.remove(self)
        process.terminate()  # which tells the keeper to clear up
        try:
            process.wait(ENDING)
        except subprocess.TimeoutExpired:  # it was stopped
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self._socket.close()


def _started(runs: str, connection: socket.socket, grant: str) -> "subprocess.Popen[bytes]":
    """Return a new process that runs a module, which serves a connection."""
    command, nowhere = [sys.executable, "-P", "-m", runs, str(connection.fileno()), grant], subprocess.DEVNULL
    return subprocess.Popen(
        command, pass_fds=[connection.fileno()], stdin=nowhere, stdout=nowhere, stderr=nowhere,
        start_new_session=True, env=warm.environment(runs),
    )  # fmt: skip


def _layers(answer: Mapping[str, Any], _: object) -> tuple[str, ...]:
    """Return the layers of isolation that a new process tells of, in their order."""
    told = answer.get("layers")
    if not isinstance(told, list) or not set(told) <= set(confinement.LAYERS):
        raise wire.Malformed("its reply has not the form asked for")
    return tuple(told)


def layers_here() -> tuple[str, ...]:
    """Return the layers of isolation that a process has on this system. Raises Refused where none can be started."""
    child = Child()
    try:
        child.start()
    finally:
        child.end()
    return child.layers


def end_all() -> None:
    """Kill all processes that were started."""
    for child in list(_alive):
        child.end()


@dataclass(frozen=True)
class Away:
    """One of the implementations that a process holds."""

    child: Child
    key: str

    @property
    def layers(self) -> tuple[str, ...]:
        """The layers of isolation of its process."""
        return self.child.layers

    def perform(self, order: Order) -> Made:
        """Return what it makes of an order. Raises Refused."""
        tensors: list[Tensor] = []
        packed = {name: wire.packed(value, tensors) for name, value in vars(order).items()}
        request = {"do": "call", "key": self.key, "order": packed}
        return self.child.ask(
            request, tensors, lambda answer, made: made_of(answer, made, order), self.child.seconds, size_of(order)
        )

    def trace(self, names: Sequence[str]) -> None:
        """Look in the calls to come which of some names they use; a process that has ended is not looked at."""
        with contextlib.suppress(Refused):
            self.child.prepare({"do": "trace", "names": list(names)}, lambda answer, tensors: None)

    def traced(self, names: Sequence[str]) -> list[str]:
        """Return which of the names were used, in the order given; none where its process does not say."""

        def used(answer: Mapping[str, Any], _: object) -> list[str]:
            told = answer.get("used")
            return [name for name in names if isinstance(told, list) and name in told]

        try:
            return self.child.ask({"do": "traced"}, (), used, self.child.seconds)
        except Refused:
            return []
