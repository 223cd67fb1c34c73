"""What a component looks like in somebody's file: data that inference reads, as a chapter knows it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from attnconf.conformance.engine.request import Request

POSITIONS = "positions"  # the kind of all encodings
HEADS = "multi_head_attention"


@dataclass(frozen=True)
class Option:
    """What a constructor with parameters of some meanings may or may not take: found out by a call.

    ``asked`` returns a call with the option from one without it, or None where such a call cannot show it. Where the
    numbers that come back are not the textbook's, the option is not asked for.
    """

    sizes: frozenset[str]
    asked: Callable[[Request], Request | None]


@dataclass(frozen=True)
class Appearance:
    """How a class or function is recognised as a component, and which module of ``inference/binders`` binds it.

    ``names``: patterns of names in small letters, each with its rank among those of all components: the most telling
    is looked for first. ``sizes``: expressions of ``config`` that a constructor's parameter may be given, by what it
    means; of layers and stacks, those besides what every layer has. ``tells``: conventions that are said by whether the
    constructor has a parameter of some meaning: (convention, choice where it has, choice where it has not).
    """

    binder: str
    names: Sequence[tuple[int, str]] = ()
    unnamed: int | None = None  # its rank among what a class may be whose name says nothing
    function: bool = False  # whether a plain function may be it by its name
    kind: str = ""  # what stands for it where parts are told from wholes; "": itself
    called: str = ""  # of an encoding: the words that stand in its name
    arrays: bool = False  # whether it gives arrays where it computes in NumPy: it takes no tensor, or adds to one
    sizes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    tells: Mapping[str, tuple[str, str, str]] = field(default_factory=dict)
    options: Sequence[Option] = ()
    words: Mapping[str, str] = field(default_factory=dict)  # what only its parameters are called: meaning -> pattern
