"""The side of a connection that holds foreign code: it reads a request, runs it, and sends exactly one reply."""

import contextlib
import dataclasses
import gc
import importlib
import os
import socket
import sys
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from attnconf.adapters.generated.lent_classes import lender
from attnconf.conformance.source.not_loaded import NotLoaded, NotThere
from attnconf.conformance.source.reader import Source, read, read_module
from attnconf.conformance.worker import confinement, device, fences, wire
from attnconf.conformance.worker.bodies import functions_of
from attnconf.conformance.worker.order import Held, Made, Order
from attnconf.conformance.worker.performing import perform
from attnconf.conformance.worker.refused import Refused
from attnconf.conformance.worker.survey import broken, survey
from attnconf.conformance.worker.tracing import Tracing
from attnconf.conformance.worker.watching import Recorded

LONGEST = 4000  # characters of words
Answer = tuple[dict[str, Any], list[Tensor]]


def serve(fd: int, worker: "Worker") -> None:
    """Answer requests until the connection ends; nothing that foreign code left for the end is run then."""
    connection, leader = socket.socket(fileno=fd), os.getpid()
    gc.freeze()  # a collection would walk all of torch

    def read_bytes(count: int) -> bytearray:
        got = bytearray(count)
        view = memoryview(got)
        while view:
            size = connection.recv_into(view)
            if not size:
                os._exit(0)
            view = view[size:]
        return got

    while True:
        header, tensors = wire.received(read_bytes, 2**40)
        answer, made = worker.answered(header, tensors)
        if os.getpid() != leader:  # foreign code has forked
            os._exit(0)
        lost = device.is_lost()  # what it is asked next, another process answers
        connection.sendall(_message({**answer, "lost": lost}, made, header["nonce"]))
        if lost:
            os._exit(0)


class Worker:
    """The code that a process holds, and what is done with it.

    ``layers``: those of its isolation, told before foreign code is run.
    """

    def __init__(self, layers: list[str]) -> None:
        self.layers = layers
        self.source: Source | None = None
        self.held: dict[str, Held] = {}
        self.tracing: Tracing | None = None

    def answered(self, header: dict[str, Any], tensors: list[Tensor]) -> Answer:
        """Return the answer to a request. Raises nothing."""
        try:
            return getattr(self, f"do_{header['do']}")(header, tensors)
        except Refused as refused:
            return _refusal(refused), _steps(refused.seen)
        except BaseException as error:
            return _unmade(error), []

    def do_begin(self, header: dict[str, Any], tensors: list[Tensor]) -> Answer:
        """Take over the settings of the process that asks."""
        sys.path[:] = header["path"]
        importlib.invalidate_caches()
        torch.set_num_threads(header["threads"])
        torch.set_float32_matmul_precision("highest")
        if not header["reference"]:
            fences.put_up()
        if header["device"] == "cpu":
            self.layers += confinement.limit_space()
        return {"layers": self.layers}, []

    def do_load(self, header: dict[str, Any], tensors: list[Tensor]) -> Answer:
        """Run a file or import a module, and tell what it offers."""
        name, wanted = header["place"], header["wanted"]
        try:
            self.source = read(Path(name), wanted) if header["file"] else read_module(name)
            known = survey(self.source)
        except (NotThere, NotLoaded) as error:
            return {"failed": _cut(str(error)), "there": isinstance(error, NotLoaded), "lacks": ""}, []
        except BaseException as error:
            lacks = (error.name or "attnconf").partition(".")[0] if isinstance(error, ModuleNotFoundError) else ""
            return {"failed": _cut(broken(name, error)), "there": True, "lacks": lacks}, []
        self._hold(known.variants, known.path, known.own.inferred)
        return {"survey": dataclasses.asdict(known)}, []

    def _hold(self, variants: Any, path: str, inferred: bool) -> None:
        assert self.source is not None
        module, binding = self.source.module, path if inferred else None
        self.held[""] = Held(vars(module), path, binding)
        for name in variants or ():
            self.held[f":{name}"] = Held(vars(module)["variants"][name], path, binding)

    def do_define(self, header: dict[str, Any], tensors: list[Tensor]) -> Answer:
        """Run the text of a binding over the module."""
        assert self.source is not None
        module = self.source.module
        if header["lent_by"]:
            module = lender(header["lent_by"])(module)
        functions = functions_of(header["text"], header["name"], module, header["components"])
        self.held[header["key"]] = Held(functions, header["source"], header["name"])
        return {"done": True}, []

    def do_call(self, header: dict[str, Any], tensors: list[Tensor]) -> Answer:
        """Make an ordered call."""
        order = Order(**{name: wire.unpacked(value, tensors) for name, value in header["order"].items()})
        try:
            with self.tracing or contextlib.nullcontext():
                return _made(perform(self.held[header["key"]], order))
        except KeyboardInterrupt:  # nobody sits at this process: foreign code raised it
            raise Refused("raised", "raised KeyboardInterrupt") from None

    def do_trace(self, header: dict[str, Any], tensors: list[Tensor]) -> Answer:
        """Look in the calls to come which of some names they use."""
        self.tracing = Tracing(header["names"])
        return {"done": True}, []

    def do_traced(self, header: dict[str, Any], tensors: list[Tensor]) -> Answer:
        """Tell which of them were used."""
        return {"used": sorted(self.tracing.used) if self.tracing else []}, []


def _message(answer: dict[str, Any], made: list[Tensor], nonce: str) -> bytes:
    try:
        return wire.message({**answer, "nonce": nonce}, made)
    except BaseException as error:  # a tensor whose numbers cannot be read, say
        return wire.message({**_unmade(error), "nonce": nonce}, [])


def _unmade(error: BaseException) -> dict[str, Any]:
    return _refusal(Refused("protocol", f"its reply could not be made: {type(error).__name__}"))


def _made(made: Made) -> Answer:
    counts = made.counts and dataclasses.asdict(made.counts)
    told = {"weights": made.weights is not None, "grads": list(made.grads), "changed": list(made.changed),
            "counts": counts, "trained": made.trained, "seen": _counted(made.seen)}  # fmt: skip
    own = [made.out, *([] if made.weights is None else [made.weights]), *made.grads.values()]
    return {"made": told}, [*own, *_steps(made.seen)]


def _counted(seen: Recorded) -> dict[str, int]:
    return {name: len(found) for name, found in seen.items()}


def _steps(seen: Recorded) -> list[Tensor]:
    return [x for found in seen.values() for x in found]


def _refusal(refused: Refused) -> dict[str, Any]:
    return {"refused": {"reason": refused.reason, "message": _cut(refused.message), "argument": _cut(refused.argument),
                        "at": _cut(refused.at), "meant": refused.meant, "seen": _counted(refused.seen)}}  # fmt: skip


def _cut(words: str) -> str:
    return words if len(words) <= LONGEST else words[:LONGEST] + " …"
