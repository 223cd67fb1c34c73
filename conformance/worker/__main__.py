"""A process that holds somebody's code: ``python -m attnconf.conformance.worker FD GRANT`` serves a socket."""

import sys

from attnconf.conformance.worker.keeper import keep

connection = int(sys.argv[1])
folder, held = keep(connection)

from attnconf.conformance.worker.confinement import confine  # noqa: E402  # the keeper needs nothing of this
from attnconf.conformance.worker.reach import Grant  # noqa: E402

layers = confine(folder, held, Grant.of(sys.argv[2]))

from attnconf.conformance.worker.serving import Worker, serve  # noqa: E402  # torch, which may start threads

serve(connection, Worker(layers))
