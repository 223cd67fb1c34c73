"""What a run of the tests leaves to other days: of what is long it runs a quarter each day, all with ``--in-full``."""

import datetime
import os
import zlib

EVERY = 4  # days

# Set by the first process of a run, for its workers: no midnight comes between them.
os.environ.setdefault("TESTS_DRAWN_ON", datetime.datetime.now(datetime.UTC).date().isoformat())


def day() -> datetime.date:
    """Return the day by which this run draws."""
    return datetime.date.fromisoformat(os.environ["TESTS_DRAWN_ON"])


def today(name: str) -> bool:
    """Return whether it is the day of a test or a file."""
    return (zlib.crc32(name.encode()) + day().toordinal()) % EVERY == 0
