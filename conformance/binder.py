"""A process that finds out how a file without an adapter is called: ``python -m attnconf.conformance.binder FD GRANT``.

It runs that file beside the reference and the known mistakes, whose numbers certify a binding; the file may change
whatever it finds here. What the process answers is therefore words alone, which the process that judges reads for what
they are (engine.answers); the text of a binding is run in a third process, and judged there.
"""

import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from attnconf.conformance.worker.keeper import keep


def main(connection: int, grant: str) -> None:
    """Answer requests in a child process; this one keeps it. ``grant``: what it may read, as reach.Grant has it."""
    folder, held = keep(connection)
    from attnconf.conformance.worker.confinement import confine
    from attnconf.conformance.worker.reach import Grant

    layers = confine(folder, held, Grant.of(grant))
    _use_course()
    from attnconf.conformance.worker.serving import Answer, Worker, serve  # torch, which may start threads

    class Binder(Worker):
        """A process that holds nothing yet."""

        def do_bind(self, header: dict[str, Any], tensors: list[Any]) -> Answer:
            """Read a file or module, bind what is in it, and tell how."""
            return bound(header), []

    serve(connection, Binder(layers))


def bound(header: dict[str, Any]) -> dict[str, Any]:
    """Return what is found in a file or module, or why nothing can be there, as JSON can hold it."""
    from attnconf.conformance.inference import infer
    from attnconf.conformance.loading import resolve
    from attnconf.conformance.loading.find import LoadError, Name

    place = Path(header["place"]) if header["file"] else header["place"]
    try:
        found = resolve.load_at(Name(**header["name"]), place, infer, header["prescribed"])
    except LoadError as error:
        return {"failed": str(error)}
    return {"bound": [told(i) for i in found]}


def told(found: Any) -> dict[str, Any]:
    """Return the words of an implementation, or of what cannot be judged."""
    from attnconf.conformance.engine.request import Unjudgeable

    if isinstance(found, Unjudgeable):
        return {"name": found.name, "reason": found.reason, "tried": found.tried, "lacking": found.lacking}
    return {
        "name": found.name, "components": list(found.components), "declares": dict(found.declares),
        "profile": found.profile, "version": found.version, "notes": found.notes, "binding": asdict(found.binding),
    }  # fmt: skip


def warm_up() -> None:
    """Import what ``main`` needs, and what a binding is compared with."""
    from attnconf.conformance import inference  # noqa: F401
    from attnconf.conformance.chapters.contents import all_mutants
    from attnconf.conformance.loading import resolve  # noqa: F401
    from attnconf.conformance.worker import confinement, serving  # noqa: F401

    _use_course()
    all_mutants()


def _use_course() -> None:
    """Use the course whose mistakes may be what a file computes, where one is told of and not used yet."""
    from attnconf.spec import courses

    folder = os.environ.get(courses.VARIABLE)
    if folder and courses.used() is None:
        courses.use(Path(folder))


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
