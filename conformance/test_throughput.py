"""One pytest item for each case and contender; collected only where throughput is asked for."""

from collections.abc import Callable


def test_throughput(case: str, contender: str, race: Callable[[str, str], None]) -> None:
    race(case, contender)
