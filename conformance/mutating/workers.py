"""Processes that run foreign code: one that does not come back, or dies, is ended and replaced."""

import contextlib
import multiprocessing
import os
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any


class Lost(Exception):
    """A process did not come back; the message says how."""


class Refused(Exception):
    """What was asked of a process raised, in its words."""


class Worker:
    """One process that carries out a function at a time, and keeps what it has imported."""

    def __init__(self) -> None:
        self._context = multiprocessing.get_context("spawn")
        self._process: Any = None
        self._ours: Any = None

    def ask(self, seconds: float, function: Callable[..., Any], *args: Any) -> Any:
        """Return what a function gives in the process. Raises Lost after so many seconds, Refused if it raises."""
        if self._process is None or not self._process.is_alive():
            self._start()
        self._ours.send((function, args))
        try:
            if not self._ours.poll(seconds):
                raise Lost(f"it did not end within {seconds:.0f} s")
            kind, value = self._ours.recv()
        except Lost:
            self.end()
            raise
        except EOFError:
            self.end()
            raise Lost("its process crashed") from None
        if kind == "raised":
            raise Refused(value)
        return value

    def end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._ours.close()
            self._process = None

    def _start(self) -> None:
        with contextlib.suppress(Exception):
            self.end()
        self._ours, theirs = self._context.Pipe()
        self._process = self._context.Process(target=_serve, args=(theirs,), daemon=True)
        before = os.environ.get("OMP_NUM_THREADS")
        os.environ["OMP_NUM_THREADS"] = "1"  # for the new process: torch reads it once
        try:
            self._process.start()
        finally:
            if before is None:
                del os.environ["OMP_NUM_THREADS"]
        theirs.close()


def _serve(connection: Connection) -> None:
    """Answer questions until the other side hangs up; what foreign code prints is dropped."""
    silent = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            os.dup2(silent, stream.fileno())
    while True:
        try:
            function, args = connection.recv()
        except EOFError:
            return
        try:
            answer = ("value", function(*args))
        except Exception as error:
            answer = ("raised", f"{type(error).__name__}: {error}")
        connection.send(answer)
