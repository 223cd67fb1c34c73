"""Checks of the chapter spec/masks.md: what several sections use."""

from collections.abc import Iterator

from attnconf.conformance.engine.evidence import Measure, Observed

Evidence = Iterator[Measure | Observed]
