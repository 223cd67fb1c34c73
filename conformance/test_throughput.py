"""One pytest item for each case and contender; collected only where throughput is asked for."""

from collections.abc import Callable
from typing import Any


def test_throughput(entrant: Any, race: Callable[[Any], None]) -> None:
    race(entrant)
