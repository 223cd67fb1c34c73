"""What a component looks like in somebody's file: data that inference reads, as a chapter knows it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

POSITIONS = "positions"  # the kind of all encodings
HEADS = "multi_head_attention"


@dataclass(frozen=True)
class Appearance:
    """How a class or function is recognised as a component, and which module of ``inference`` binds it.

    ``names``: patterns of names in small letters, each with its rank among those of all components: the most telling
    is looked for first. ``sizes``: expressions of ``config`` that a constructor's parameter may be given, by what it
    means; of layers and stacks, those besides what every layer has.
    """

    binder: str
    names: Sequence[tuple[int, str]] = ()
    unnamed: int | None = None  # its rank among what a class may be whose name says nothing
    function: bool = False  # whether a plain function may be it by its name
    kind: str = ""  # what stands for it where parts are told from wholes; "": itself
    called: str = ""  # of an encoding: the words that stand in its name
    arrays: bool = False  # whether it gives arrays where it computes in NumPy: it takes no tensor, or adds to one
    sizes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)  # what only its parameters are called: meaning -> pattern
