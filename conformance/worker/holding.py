"""A process that holds somebody's code: ``python -m attnconf.conformance.worker.holding FD GRANT`` serves a socket."""

import sys

from attnconf.conformance.worker.keeper import keep


def main(connection: int, grant: str) -> None:
    """Serve requests in a child process; this one keeps it. ``grant``: what it may read, as reach.Grant has it."""
    folder, held = keep(connection)
    from attnconf.conformance.worker.confinement import confine  # the keeper needs nothing of this
    from attnconf.conformance.worker.reach import Grant

    layers = confine(folder, held, Grant.of(grant))
    from attnconf.conformance.worker.serving import Worker, serve  # torch, which may start threads

    serve(connection, Worker(layers))


def warm_up() -> None:
    """Import what ``main`` needs."""
    from attnconf.conformance.worker import confinement, serving  # noqa: F401


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
