"""Specification, readable reference and conformance suite for attention."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # importing attnconf is quick, importing torch takes a second
    from attnconf.api import Report

__version__ = "0.1.0"


def check(
    target: Any, *, component: str | None = None, profile: str | None = None, select: str | None = None,
    device: str = "cpu", seed: int = 0, strict: bool = False, thorough: bool = False, blind_spots: bool = False,
) -> "Report":  # fmt: skip
    """Judge an implementation, as ``attnconf run`` does; the report prints, and shows itself in a notebook.

    target       a path (.py), a name as for --impl, a class, a function, or a module or dict of adapter functions
    component    judge this component alone, or take the class to be one: "attention", "rotary", …
    profile      what a verdict requires
    select       only these requirements and cases: "ATT-SCALE-1 and peaked-3", as -k
    device       where tensors live: "cpu", "cuda", …
    seed         draw other numbers for the cases
    strict       let a SHOULD count like a MUST
    thorough     also explore around the scored cases; never scored
    blind_spots  list what no check executed of your own file (needs the extra coverage)

    Raises ValueError, in one line, for an unknown path, component, profile or device.
    """
    from attnconf import api
    from attnconf.conformance.run.plan import Settings

    settings = Settings(profile, seed, device, strict, thorough, blind_spots)
    return api.check(target, component, select, settings)
