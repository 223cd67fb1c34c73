"""A function of query, key and value, or an object that holds no parameters, as the text of an adapter's function."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from attnconf.adapters.contract import COMPONENTS
from attnconf.conformance.inference.texts.attention_text import AttentionText
from attnconf.conformance.inference.trials.calling import Slot
from attnconf.conformance.inference.trials.slots import Lines, Slots, refuse

COMPONENT = "attention"
SINGLE, FLAT = "(L, E)", "(B·H, L, E)"  # one sequence, no batch; no heads
# How inputs are laid out: what is done to an input, and to what comes back.
LAYOUTS = {
    "(B, H, L, E)": ("{x}", "{x}"),
    FLAT: ("{x}.flatten(0, 1)", "{x}.unflatten(0, query.shape[:2])"),
    SINGLE: ("{x}", "{x}"),
    "(B, L, H, E)": ("{x}.transpose(1, 2)", "{x}.transpose(1, 2)"),
}
# A token is a column, in a file that says so: rows that are attended to as if they were columns are a mistake.
COLUMNS = "(E, L)"
OF_COLUMNS = {
    COLUMNS: ("{x}.mT", "{x}.mT"),
    "(B·H, E, L)": ("{x}.flatten(0, 1).mT", "{x}.mT.unflatten(0, query.shape[:2])"),
    "(E, L, B·H)": ("{x}.flatten(0, 1).permute(2, 1, 0)", "{x}.permute(2, 1, 0).unflatten(0, query.shape[:2])"),
}
# Heads side by side in one vector, where the number of heads is said.
PACKED = {
    "(B, L, H·E)": (
        "{x}.transpose(1, 2).flatten(2)",
        "{x}.unflatten(-1, (query.shape[1], -1)).transpose(1, 2)",
    ),
}
# One query a sample and head, (B, H, E), as where token after token is decoded: keys as those of LAYOUTS.
ONE_QUERY = {f"one query, keys {keys}": (LAYOUTS[keys][0], "{x}") for keys in ("(B, L, H, E)", "(B, H, L, E)")}

ALL = LAYOUTS | PACKED | OF_COLUMNS | ONE_QUERY
# What an argument gets without which dropout may not drop.
BESIDE_DROPOUT = {
    "training": "config.training", "deterministic": "not config.training", "generator": "torch.default_generator",
}  # fmt: skip


@dataclass(frozen=True)
class FunctionText(AttentionText):
    """A function of query, key and value."""

    component: str = COMPONENT
    heads: str = "query.shape[1]"
    layout: str = "(B, H, L, E)"
    dropout: str = ""  # what an argument for dropout gets
    scale: str = ""  # what an argument for the scale gets
    value_width: bool = True
    in_float32: bool = False  # it turns its inputs to float32, and makes the rest in the default dtype

    @property
    def self_only(self) -> bool:
        return False

    def conventions(self) -> Mapping[str, str]:
        found = {"returned-weights": "none"} if self.weights is None else {}
        found |= self.mask_conventions
        if self.causal_always:
            found["causality"] = "always"
        elif self.square:
            found["lengths"] = "equal"
        return found if self.value_width else {**found, "value-width": "key"}

    def slots(self) -> tuple[Slots, ...]:
        call, build, before = self._callable()
        arguments = self.form.text(self._argument)
        called = f"each_apart({call}, {arguments})" if self.layout in (SINGLE, COLUMNS) else f"{call}({arguments})"
        called = f"each_query({call}, {arguments})" if self.layout in ONE_QUERY else called
        read = ALL[self.layout][1].format(x=f"({self.out})" if " if " in self.out else self.out)
        returned = "out" if self.weights is None else f"(out, {self._weights_back()}) if need_weights else out"
        masks = [*self._limits(), *self._masks()]
        if self.weights is None:
            masks += refuse("need_weights", "returned weights")
        masks += before
        forward, refusals = COMPONENTS[COMPONENT].forward, self._refusals()
        return (Slots(COMPONENT, forward, refusals, build, masks=masks, call=called, read=read, returned=returned),)

    def _callable(self) -> tuple[str, Lines, Lines]:
        """Return what is called, the statements that build it, and those before each call.

        An object is built once, as what one call leaves in it may show in the next; anew where inputs tell its sizes.
        """
        made = self.made
        if not made.text.endswith(")"):
            return made.text, (), made.before
        built = f"settle(lambda: {made.text}, config)"
        if re.search(r"\b(query|key|value)\b\.", " ".join((made.text, *made.before))):
            return built, (), made.before
        return "call", (*made.before, f"call = {built}"), ()

    def _refusals(self) -> list[str]:
        lines = []
        if not self.dropout and "dropout" not in self.made.given:
            lines += refuse("config.dropout and config.training", "dropout")
        if not self.scale:
            lines += refuse("config.scale is not None", "an argument for the scale")
        return lines + (refuse("not config.causal", "attention that is not causal") if self.causal_always else [])

    def _limits(self) -> list[str]:
        lines = [] if self.in_float32 else ['exact({"query": query})']
        if not self.value_width:
            lines += refuse("value.shape[-1] != key.shape[-1]", "values of another width")
        if self.square:
            lines += refuse("query.shape[-2] != key.shape[-2]", "as many queries as keys only")
        return lines

    def _weights_back(self) -> str:
        back = LAYOUTS[self.layout][1] if self.layout == FLAT else "{x}"
        return back.format(x=self.weights)

    def _argument(self, slot: Slot) -> str | None:
        if slot.role == "query" and self.layout in ONE_QUERY:
            return "query"
        if slot.role in ("query", "key", "value"):
            return ALL[self.layout][0].format(x=slot.role)
        if slot.role == "heads":
            return "query.shape[1]"
        if slot.role == "dropout":
            return self.dropout or ("0.0" if slot.required else None)
        if slot.role == "scale":
            return self.scale or None
        if slot.role in BESIDE_DROPOUT:
            return BESIDE_DROPOUT[slot.role]
        if slot.role == "size":
            return "query.shape[-1]"
        return super()._argument(slot)
