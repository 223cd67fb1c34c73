"""A process that holds somebody's code: ``python -m attnconf.conformance.worker FD`` serves requests on a socket."""

import sys

from attnconf.conformance.worker.serving import serve

serve(int(sys.argv[1]))
