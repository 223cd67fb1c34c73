"""What the names of arguments promise, and what is found to be wrong with one of them, in words."""

import inspect
import re
from dataclasses import dataclass

from attnconf.adapters.contract import COMPONENTS
from attnconf.conformance.diagnosis.broken_argument import IDLE
from attnconf.conformance.inference.masks.claims import claimed
from attnconf.conformance.inference.options.items import taken_as_items
from attnconf.conformance.inference.options.option_trials import AS_ZEROS
from attnconf.conformance.inference.state.said_of_caches import ONE_ALONE
from attnconf.conformance.inference.texts.layer_forms import about_memory
from attnconf.conformance.inference.trials.binding import Bound
from attnconf.conformance.inference.trials.calling import CACHE, SEGMENTS
from attnconf.conformance.inference.words.vocabulary import INPUTS, meanings, snake

# What an argument is for, by its name; what is not here is told by the names of inputs.
NAMES = {
    "offset": r"((pos(ition)?s?|time|token|seq)_?)?offset|start(_?(pos(ition)?|index|at))?|"
    r"past_?(key_values_)?len(gth)?",
    "positions": r"(token_|given_|input_)?pos(ition)?s?(_?ids|_?idx|_?index|_?indices)?",
    "cache": CACHE,
    "tiles": r"((q|query|k|key|kv|row)_?)?(chunk|tile|block)(_?(size|len|length|rows?|q|k|kv))?",
}
ANOTHER = "attention to another sequence"
# Of which words a binding says that it is not supported, where an argument is not handed over.
REFUSED = {
    "mask": ("an argument for masks", "padding", "masks that differ between queries"),
    "lengths": ("an argument for masks", "padding"),
    "want_weights": ("returned weights",),
    "memory": (ANOTHER,),
    "offset": ("an argument for positions", "positions that are given"),
    "positions": ("an argument for positions", "positions that are given"),
    "scale": ("an argument for the scale",),
    "dropout": ("dropout",),
}
PROMISES = ("mask", "lengths", "offset", "positions", "memory", "cache")  # accepted, they have an effect


@dataclass(frozen=True)
class Finding:
    """An argument that is broken or has no effect, in words, and what a binding that says "not supported" hides."""

    name: str
    what: str
    refused: tuple[str, ...] = ()
    of: str = "forward"
    role: str = ""
    counts: bool = True  # else it is a remark beside the verdict

    @property
    def broken(self) -> bool:
        """Whether it does not do what its name promises, and no requirement would notice."""
        idle = self.what == IDLE or (self.role == "cache" and self.what.startswith("does not"))
        return self.role in ("tiles", "setting") or (
            self.counts and self.role in PROMISES and idle and not self.refused
        )

    @property
    def open(self) -> bool:
        """Whether it leaves the verdict open."""
        return self.counts and not (self.refused or self.broken or self.what in (AS_ZEROS, ONE_ALONE))

    @property
    def words(self) -> str:
        return f"the argument `{self.name}` of {self.of} {self.what}"


def role_for(bound: Bound, p: inspect.Parameter) -> str:
    """Return what an argument is for, by its name and by what a file says of it; items and segments are no mask."""
    known = COMPONENTS[bound.draft.component]
    own = re.match(r"(src|source)_", snake(p.name))  # as torch calls the masks of an encoder
    of_none = known.layered and "memory" not in known.attends and about_memory(p.name) and not own  # there is no memory
    if re.fullmatch(SEGMENTS, snake(p.name)) or of_none:
        return ""
    role = role_of(p) or ("mask" if claimed(bound.place.thing, p.name) else "")
    return "" if role == "mask" and taken_as_items(bound.place.thing, p.name) else role


def refused_by(bound: Bound, name: str, role: str) -> tuple[str, ...]:
    """Return what a binding says is not supported, and would be by an argument of this name."""
    there = [what for what in REFUSED.get(role, ()) if f'NotImplementedError("{what}")' in bound.draft.body]
    if COMPONENTS[bound.draft.component].decodes:  # which attention it is for is not told by one name
        return ()
    keys_only = re.search(r"pad|valid|len|key", name.lower())
    return tuple(what for what in there if not (keys_only and what.startswith("masks that differ")))


def role_of(p: inspect.Parameter) -> str:
    """Return what an argument is for, going by its name; "" where the name does not say."""
    plain = snake(p.name).strip("_")
    found = meanings(p.name, INPUTS)
    if isinstance(p.default, bool):
        return "want_weights" if "want_weights" in found else ""
    if re.fullmatch(NAMES["tiles"], plain):
        return "tiles" if type(p.default) is int else ""
    if type(p.default) is int and re.fullmatch(CACHE, plain):  # a number of tokens
        return "offset"
    for role, names in NAMES.items():
        if re.fullmatch(names, plain):
            return role
    return next((role for role in ("lengths", "mask", "scale", "memory") if role in found), "")


def drops(bound: Bound, p: inspect.Parameter) -> bool:
    """Return whether an argument of a function is a probability to drop: a class may drop in training alone."""
    named = "dropout" in meanings(p.name, INPUTS) and not isinstance(p.default, bool)
    return inspect.isfunction(bound.place.thing) and named and isinstance(p.default, int | float)
