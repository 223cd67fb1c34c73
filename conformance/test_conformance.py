"""One pytest item for each implementation and requirement; the plugin makes and judges them."""

from collections.abc import Callable
from typing import Any


def test_conformance(planned: Any, judge: Callable[[Any], None]) -> None:
    judge(planned)
