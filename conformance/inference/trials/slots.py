"""What a binding consists of, slot by slot, and the one printer of it: the function of an adapter.

def component(config, weights):
    refusals                     # what it cannot be asked for
    build                        # what it is built with, and the module or object
    weights                      # its parameters get ours

    def forward(arguments):
        masks                    # what a call cannot be asked for; how masks and options are taken
        result = call
        out = read               # the output in what comes back
        after                    # what is done to it
        return returned

    return forward
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from attnconf.conformance.engine.request import Implementation
from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.trials.trial import Draft

Lines = Sequence[str]


@dataclass(frozen=True)
class Slots:
    """The statements and expressions of one component's function."""

    component: str
    arguments: str
    refusals: Lines = ()
    build: Lines = ()
    weights: Lines = ()
    masks: Lines = ()
    call: str = ""
    visible: tuple[Lines, Lines] = ((), ())  # the masks that the call gets, and the arguments that they are made of
    read: str = "result"
    after: Lines = ()
    returned: str = "out"
    wrapped: str = "forward"

    def source(self) -> str:
        """Return the text of ``component(config, weights)``."""
        before = indented([*self.refusals, *self.build, *self.weights], 4)
        forward = indented([*self.masks, *self._called_and_read()], 8)
        lines = [f"def {self.component}(config, weights):", *before, *([""] if before else [])]
        lines += [f"    def forward({self.arguments}):", *forward, "", f"    return {self.wrapped}", ""]
        return "\n".join(lines)

    def _called_and_read(self) -> Lines:
        if self.after or self.returned != "out":
            return [*self._called("result ="), f"out = {self.read}", *self.after, f"return {self.returned}"]
        if self.read == "result":
            return self._called("return")
        return [*self._called("result ="), f"return {self.read}"]

    def _called(self, what: str) -> Lines:
        masks, given = self.visible
        if not masks:
            return [f"{what} {self.call}"]
        return [f"with not_hidden([{', '.join(masks)}], [{', '.join(given)}]):", f"    {what} {self.call}"]


@dataclass(frozen=True)
class Hypothesis:
    """What is known, or supposed, of a class or function, from which the slots of its binding follow."""

    def but(self, **changes: Any) -> Self:
        return replace(self, **changes)

    def slots(self) -> Sequence[Slots]:
        """Return the slots of each component that it is; mostly one."""
        raise NotImplementedError

    @property
    def supposed(self) -> str:
        """The known mistake with which it is supposed, if any: nothing else may certify it then."""
        return ""

    def conventions(self) -> Mapping[str, str]:
        """Return the choices that it stands for, by convention."""
        return {}

    def draft(self) -> Draft:
        """Return the hypothesis as a draft in its conventions."""
        first, *others = self.slots()
        body = "\n\n".join(slots.source() for slots in (first, *others))
        return Draft(first.component, body, dict(self.conventions()), tuple(other.component for other in others))

    def implementation(self, place: Place) -> Implementation:
        """Return what the hypothesis makes of a place: something that can be called as a component."""
        return self.draft().implementation(place.module)


def refuse(condition: str, what: str) -> list[str]:
    """Return the statement that says of what a binding cannot be asked for."""
    return [f"if {condition}:", f'    raise NotImplementedError("{what}")']


def indented(lines: Lines, by: int) -> list[str]:
    return [" " * by + line for line in lines]
