"""A process that holds somebody's code: ``python -m attnconf.conformance.worker FD`` serves requests on a socket."""

import sys

from attnconf.conformance.worker.keeper import keep

connection = int(sys.argv[1])
folder, descendants = keep(connection)

from attnconf.conformance.worker.confinement import confine  # noqa: E402  # the keeper needs nothing of this
from attnconf.conformance.worker.serving import Worker, serve  # noqa: E402

serve(connection, Worker(confine(folder, descendants)))
