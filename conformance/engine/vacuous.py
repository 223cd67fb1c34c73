"""What an implementation that computes nothing satisfies by definition, as the chapters say it beside their mutants.

The controls are implementations that return zeros, their input, noise, …: see tests/engine. What they pass without
being listed is a check that shows nothing.
"""

from dataclasses import dataclass

CONSTANT = ("zeros", "ones", "constant")
ZERO_APART = ("ones", "constant")
AVERAGES = ("mean", "uniform")  # of the values: of attention only
NUMBERS = (*CONSTANT, "echo", *AVERAGES)  # the same finite numbers in every call
EVERYTHING = (*NUMBERS, "nan", "random")


@dataclass(frozen=True)
class Vacuous:
    """Requirements, separated by spaces, that these controls satisfy by definition, and the reason.

    On every component that is judged by them and in every case, or in those named.
    """

    controls: tuple[str, ...]
    requirements: str
    reason: str
    components: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()
