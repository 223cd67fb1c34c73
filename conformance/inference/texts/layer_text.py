"""A layer, a stack or a model of a user's, as the text of an adapter's function."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from attnconf.adapters import generated
from attnconf.adapters.contract import COMPONENTS, Component
from attnconf.conformance.inference.building.building import Construction
from attnconf.conformance.inference.texts.layer_forms import MODES
from attnconf.conformance.inference.texts.layer_trace import Trace
from attnconf.conformance.inference.trials.angles import text_of
from attnconf.conformance.inference.trials.calling import Form, Slot
from attnconf.conformance.inference.trials.slots import Hypothesis, Slots, indented, refuse

WORDS = {
    "key_mask": "padding",
    "attn_mask": "masks that differ between queries",
    "memory_mask": "padding of the memory",
    "source_mask": "padding of the source",
    "target_mask": "padding of the targets",
}
HEAD = "config.embed_dim // config.num_heads"  # the width of a head
WIDE = f"config.head_dim or {HEAD}"
# What an argument for masks gets that makes a layer causal, whatever it holds: the causal mask; one that hides nothing.
_SQUARE = "torch.{}(x.shape[1], x.shape[1], dtype=x.dtype, device=x.device){} if config.causal else None"
SWITCHES = {"causal mask": _SQUARE.format("ones", ".tril().log()"), "any mask": _SQUARE.format("zeros", "")}


@dataclass(frozen=True)
class LayerMask:
    """How one argument takes a mask: an expression of ``seen``, (B, 1, L, S), and which attention it is for."""

    text: str
    told: str
    which: str = "self"  # or memory, source
    keys_only: bool = False
    replaces: bool = False  # it stands in the place of the causal mask that is there without it

    @property
    def kind(self) -> str:
        """What the values mean, as contract.CONVENTIONS calls it."""
        kinds = ("true-keeps", "true-drops", "1-keeps", "1-drops", "lengths", "additive")
        return next(kind for kind in kinds if kind in self.told)


@dataclass(frozen=True)
class Stack:
    """Layers: ``entries`` of the state of layer i, with ``w`` for the weights of that layer."""

    under: str  # "layers", "encoder.layers"
    count: str  # "config.num_layers"
    entries: tuple[str, ...]
    first: int = 0  # the first layer that is named so


@dataclass(frozen=True)
class LayerText(Hypothesis):
    """All that is known, or supposed, of a class as a layer, a stack or a model."""

    component: str
    made: Construction
    form: Form
    entries: tuple[str, ...] = ()
    stacks: tuple[Stack, ...] = ()
    out: str = "result"
    sequence_first: bool = False
    causal_always: bool = False
    masks: Mapping[str, LayerMask] = field(default_factory=dict)
    opposed: Mapping[str, str] = field(default_factory=dict)  # what arguments want, where something else is prescribed
    needs_mask: bool = False
    flag: bool = False  # an argument, of the constructor or of the call, is all that causality needs
    longest: int = 0  # tokens that it takes, where that is fixed; 0: any number
    lazy: bool = False  # layers take their sizes from a first call
    whole: bool = True  # of a model: its embeddings are those that the contract has
    refusals: tuple[tuple[str, str], ...] = ()  # (condition, what is not there)
    left_alone: tuple[str, ...] = ()  # options that are not asked for, in words
    untried: tuple[str, ...] = ()  # options that nothing is known of, in words: open ends
    padded: bool = False  # id 0 is its padding: ours are those after it
    doubt: str = ""  # why equality with the textbook is not all that would have to be known
    declares: Mapping[str, str] = field(default_factory=dict)
    trace: Trace | None = field(default=None, compare=False, repr=False)  # in which order its parameters were used

    def conventions(self) -> Mapping[str, str]:
        return self.declares

    @property
    def head(self) -> str:
        """The width of a head in the text: that which is asked for, where another one may be."""
        return f"({WIDE})" if self.declares.get("head-dim") == "given" else HEAD

    @property
    def norm_first(self) -> bool:
        """Whether the norms stand first in the calls that it is asked."""
        return self.declares.get("norm-order") == "pre"

    @property
    def used(self) -> list[str]:
        """The parameters that are applied, in their order."""
        return [name for name in self.trace.order if name in self.trace.used] if self.trace else []

    @property
    def unused(self) -> list[str]:
        """The parameters that exist and are never applied."""
        return [name for name in self.trace.order if name not in self.trace.used] if self.trace else []

    @property
    def known(self) -> Component:
        """What the contract says of the component."""
        return COMPONENTS[self.component]

    @property
    def kinds(self) -> dict[str, str]:
        """What the values of each argument for masks mean."""
        return {name: mask.kind for name, mask in self.masks.items()} | dict(self.opposed)

    @property
    def decodes(self) -> bool:
        """Whether it is causal by what it is: nobody can ask it for anything else."""
        return self.known.layered and not self.known.configures("causal")

    @property
    def may_be_masked(self) -> bool:
        """Whether a caller may bring the causal mask; a model of ids that takes none is asked without."""
        roles = {"mask", "lengths", "causal"}
        return not (self.known.reads_ids and "source" not in self.known.attends) or bool(roles & {*self.form.roles})

    def slots(self) -> tuple[Slots, ...]:
        taken = {self.known.attends[m.which][2] for m in self.masks.values()}
        taken |= {"attn_mask"} if any(m.which == "self" and not m.keys_only for m in self.masks.values()) else set()
        masks = self._limits(taken)
        for name, mask in self.masks.items():
            masks += self._mask(name, mask)
        visible = (
            [_apart(name) for name in self.masks],
            [keyword for keyword in self.known.keywords if keyword in taken],
        )
        turned = ".transpose(0, 1)" if self.sequence_first else ""
        logits = "[..., 1:]" if self.padded and self.known.layered else ""
        return (Slots(
            self.component, self.known.forward, [line for one in self.refusals for line in refuse(*one)],
            self._built(), self._weighed(), masks, f"call({self.form.text(self._argument)})", visible,
            f"{self.out}{turned}{logits}",
        ),)  # fmt: skip

    def _built(self) -> list[str]:
        lines = ["exact(weights)"]
        if self.padded:
            lines += ["config, weights = beside_padding(config, weights)  # id 0 is its padding"]
        lines += [*self.made.before, f"module = settle(lambda: {self.made.text}, config, weights)"]
        if self.lazy:
            lines += ["like = next(iter(weights.values()))", f"module = awake(module, {self.form.text(_nothing)})"]
        return lines

    def _weighed(self) -> list[str]:
        lines = ["state = {", *indented([f"{entry}," for entry in self.entries], 4), "}"]
        if not self.entries:
            lines = ["state = {}"]
        for stack in self.stacks:
            lines += [
                f"for i in range({f'{stack.first}, ' if stack.first else ''}{stack.count}):",
                f'    w = under(weights, f"{stack.under}.{{i}}")',
                *indented(["state |= {", *indented([f"{entry}," for entry in stack.entries], 4), "}"], 4),
            ]
        return [*lines, "call = bind(module, fitted(module, state))"]

    def _limits(self, taken: Collection[str]) -> list[str]:
        """Return what a call cannot be asked for; ``taken``: the masks for which there are arguments."""
        lines = []
        if self.longest:
            long = " or ".join(f"{name}.shape[1] > {self.longest}" for name in self.known.inputs)
            lines += refuse(long, f"more than {self.longest} tokens")
        for keyword in self.known.keywords:
            if keyword not in taken:
                lines += refuse(f"{keyword} is not None", WORDS[keyword])
        if not self.decodes and not self.causal_always and "attn_mask" not in taken and not self.flag:
            lines += refuse("config.causal", "causal masks")
        return lines

    def _mask(self, name: str, mask: LayerMask) -> list[str]:
        query, key, keyword = self.known.attends[mask.which]
        same = [m for m in self.masks.values() if m.which == mask.which]
        apart = len({m.keys_only for m in same}) > 1
        keys = "None" if apart and not mask.keys_only else keyword
        attn = "None" if mask.which != "self" or self.decodes or mask.keys_only else "attn_mask"
        given = "attn_mask" in self.known.keywords and mask.which == "self"
        causal = "False"
        if mask.which == "self" and not mask.keys_only and not self.causal_always:
            causal = "False" if self.flag else "True" if self.decodes else "config.causal"
        attn = attn if given else "None"
        seen = f"allowed({query}, {key}, {keys}, {attn}, {mask.replaces or causal})"
        if mask.replaces:
            none = " and ".join(f"{one} is None" for one in (keys, attn) if one != "None")
            seen = f"None if {none} else {seen}" if none else "None"
        lines = [f"seen = {seen}"]
        if self.needs_mask:
            lines += ["if seen is None:", f"    seen = everywhere({query}, {key})"]
        return [*lines, f"{_apart(name)} = None if seen is None else {mask.text}"]

    def _argument(self, slot: Slot) -> str | None:
        if slot.role in self.known.inputs:
            given = f"after_padding({slot.role})" if self.padded else slot.role
            return f"{given}.transpose(0, 1)" if self.sequence_first else given
        if slot.role == "segments":
            beside = self._argument(replace(slot, role=self.known.inputs[0]))
            return f"torch.zeros({beside}.shape[:2], dtype=torch.long, device={beside}.device)"
        if slot.name in self.masks:
            return _apart(slot.name)
        if (
            table := text_of(slot, self.known.inputs[-1 if "source" in self.known.attends else 0], self.head)
        ) is not None:
            return table
        if slot.role == "targets":
            return self.known.inputs[0]
        causal = "True" if self.decodes else "config.causal"
        others = {"want_weights": "False", "causal": causal if self.flag or slot.required else None}
        others |= MODES if self.known.configures("dropout") else {}
        return (others | SWITCHES).get(slot.role, "None" if slot.required else None)


def _apart(name: str) -> str:
    """Return a name for a mask that hides nothing which the text calls."""
    return f"{name}_given" if name in {*generated.__all__, "seen", "call", "config", "weights"} else name


def _nothing(slot: Slot) -> str | None:
    """Return one token of zeros for an input, None for what else has to be given."""
    if slot.role in ("x", "memory", "source", "target"):
        return "like.new_zeros(1, 1, config.embed_dim)"
    return "None" if slot.required else None


def template(first: Sequence[str], second: Sequence[str]) -> list[str] | None:
    """Return the names of layer 0 as those of layer i: ``{i}`` where those of layer 1 differ. None: they do not fit."""
    found: list[str] = []
    for one, other in zip(first, second, strict=True):
        a, b = re.split(r"(\d+)", one), re.split(r"(\d+)", other)
        if len(a) != len(b):
            return None
        parts = []
        for x, y in zip(a, b, strict=True):
            if x == y:
                parts.append(x)
            elif x.isdigit() and y.isdigit():
                step, start = int(y) - int(x), int(x)
                parts.append("{" + (f"{step} * i" if step != 1 else "i") + (f" + {start}" if start else "") + "}")
            else:
                return None
        found.append("".join(parts))
    return found


def after_the_first(names: Sequence[str]) -> list[str] | None:
    """Return the names of layer 1 as those of layer i, where layer 0 is named apart: by its number in a list."""
    found = []
    for name in names:
        parts = name.split(".")
        at = next((k for k, part in enumerate(parts) if part.isdigit()), None)
        if at is None:
            return None
        shift = int(parts[at]) - 1
        parts[at] = "{i" + (f" {'-' if shift < 0 else '+'} {abs(shift)}" if shift else "") + "}"
        found.append(".".join(parts))
    return found
