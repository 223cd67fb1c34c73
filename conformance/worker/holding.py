"""A process that holds somebody's code: ``python -m attnconf.conformance.worker.holding FD`` serves requests there."""

import sys

from attnconf.conformance.worker.keeper import keep


def main(connection: int) -> None:
    """Serve requests in a child process; this one keeps it."""
    folder, descendants = keep(connection)
    from attnconf.conformance.worker.confinement import confine  # the keeper needs nothing of this
    from attnconf.conformance.worker.serving import Worker, serve

    serve(connection, Worker(confine(folder, descendants)))


def warm_up() -> None:
    """Import what ``main`` needs."""
    import attnconf.conformance.worker.serving  # noqa: F401


if __name__ == "__main__":
    main(int(sys.argv[1]))
