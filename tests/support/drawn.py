"""What a run of the tests leaves to other days: of what is long it runs a quarter each day, all with ``--in-full``.

Of the submissions, and of the classes of libraries, a run in full judges a half, the others the next day; of that half
it judges a quarter again, from its written adapter and apart.
"""

import datetime
import os
import zlib

EVERY = 4  # days
EVERY_IN_FULL, AGAIN = 2, 8  # days; of what is in full

# Set by the first process of a run, for its workers: no midnight comes between them.
os.environ.setdefault("TESTS_DRAWN_ON", datetime.datetime.now(datetime.UTC).date().isoformat())


def day() -> datetime.date:
    """Return the day by which this run draws."""
    return datetime.date.fromisoformat(os.environ["TESTS_DRAWN_ON"])


def today(name: str, every: int = EVERY) -> bool:
    """Return whether it is the day of a test or a file, one of ``every`` days."""
    return (zlib.crc32(name.encode()) + day().toordinal()) % every == 0
