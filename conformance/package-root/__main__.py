"""``python -m attnconf``: the same as ``attnconf``."""

import sys

if not sys.flags.safe_path:  # the folder it is started in goes last: its random.py must not stand in for Python's
    sys.path.append(sys.path.pop(0))

from attnconf.cli import main

sys.exit(main())
