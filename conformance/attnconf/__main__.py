"""``python -m attnconf``: the same as ``attnconf``."""

import sys

from attnconf.cli import main

sys.exit(main())
