"""An argument that a binding leaves at its default, and what comes back where it is handed something."""

import inspect
from dataclasses import dataclass
from typing import Any

from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.engine.request import Reply, Request
from attnconf.conformance.inference.trials.binding import Bound
from attnconf.conformance.inference.trials.spied import Seen, spied
from attnconf.conformance.inference.trials.trial import reply, same


@dataclass(frozen=True)
class Tried:
    """An argument, and a call that leaves it at its default, with its reply."""

    bound: Bound
    asked: Request
    base: Reply | Failure
    argument: inspect.Parameter

    def given(
        self, value: Any, asked: Request | None = None, earlier: bool = False, /, **more: Any
    ) -> tuple[Reply | Failure, Seen]:
        """Return the reply where the argument has a value, and what was seen; ``earlier``: after a call without it."""
        place = self.bound.place
        with spied(place, earlier, **{self.argument.name: value}, **more) as seen:
            return reply(self.bound.draft.implementation(place.module), asked or self.asked), seen

    def same(self, one: Reply | Failure) -> bool:
        """Return whether a reply is that of the call without the argument."""
        return same(one, self.base)

    @property
    def tensors(self) -> bool:
        """Whether it takes a tensor, as far as its annotation says."""
        said = str(self.argument.annotation)
        return self.argument.annotation is inspect.Parameter.empty or "ensor" in said or said == "typing.Any"
