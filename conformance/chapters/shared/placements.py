"""Where the norms of an encoder's layers stand: the places by their names, and what a configuration says of them."""

from typing import Any

from attnconf.conformance.engine.subject import Subject

ORDERS = ("post", "pre")  # by norm_first
PLACED = ("sandwich", "output", "parallel", "parallel-two")  # what decoders and models do not have
PARALLEL = ("parallel", "parallel-two")
BEHIND = {"sandwich": ("norm1_out", "norm2_out"), "output": ("norm1", "norm2")}  # what the two sublayers give
BEFORE = ("pre", "sandwich", "parallel", "parallel-two")  # norm1 stands before attention


def placements(subject: Subject) -> tuple[str, ...]:
    """Return the places of norms that an encoder has, by their names; those that all know come first."""
    choice = subject.choice("norm-order")
    several = {"both": ORDERS, "any": (*ORDERS, *PLACED)}
    return several.get(choice, (choice,))


def best_known(subject: Subject) -> tuple[str, ...]:
    """Return those of an encoder's places of norms that all know; where it has none of them, what it has."""
    found = placements(subject)
    return tuple(name for name in found if name in ORDERS) or found


def placed(name: str) -> dict[str, Any]:
    """Return the entries of an encoder's configuration for a place of its norms."""
    return {"norm_first": name == "pre"} if name in ORDERS else {"placement": name}


def placement_of(config: Any) -> str:
    """Return the name of the place of the norms in a configuration."""
    return getattr(config, "placement", None) or ORDERS[config.norm_first]


def norms_of(config: Any) -> tuple[str, ...]:
    """Return the names of the norms of one layer of an encoder."""
    more = {"sandwich": ("norm2", "norm1_out", "norm2_out"), "parallel": ()}
    return ("norm1", *more.get(placement_of(config), ("norm2",)))


def behind(config: Any) -> tuple[str, ...]:
    """Return the names of the norms of what attention and network give, where there are any."""
    return BEHIND.get(placement_of(config), ())
