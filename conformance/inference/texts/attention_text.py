"""Multi-head attention of a user's class, as the text of an adapter's function."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from attnconf.adapters import generated
from attnconf.adapters.contract import COMPONENTS, CONVENTIONS
from attnconf.conformance.chapters.multi_head_attention.binding import APPEARANCES
from attnconf.conformance.inference.building.building import Construction
from attnconf.conformance.inference.trials.angles import has_tables, text_of
from attnconf.conformance.inference.trials.calling import Form, Slot
from attnconf.conformance.inference.trials.slots import Hypothesis, Slots, refuse

BESIDE_THE_FLAG = "a mask or a bias beside the flag for causality"


@dataclass(frozen=True)
class MaskForm:
    """How one argument takes a mask: an expression of ``seen``, (B, 1 or H, L, S), True = may attend."""

    text: str
    told: str  # in words, for the header
    keys_only: bool = False
    additive: bool = False

    @property
    def for_all_samples(self) -> bool:
        return ("(L, S)" in self.told or "(S, S)" in self.told) and "B" not in self.told

    @property
    def kind(self) -> str:
        """What the values mean, as contract.CONVENTIONS calls it."""
        kinds = ("true-keeps", "true-drops", "1-keeps", "1-drops", "lengths", "additive")
        return next(kind for kind in kinds if kind in self.told)


@dataclass(frozen=True)
class Normed:
    """How queries and keys are normalized inside, as in CONVENTIONS, and by which parts."""

    kind: str
    over: str
    place: str
    parts: tuple[str, str]  # of queries, of keys

    @property
    def conventions(self) -> dict[str, str]:
        """What is declared, but for what is taken for granted."""
        said = {"qk-norm": self.kind, "qk-norm-over": self.over, "qk-norm-place": self.place}
        return {name: choice for name, choice in said.items() if CONVENTIONS[name][0] != choice}


@dataclass(frozen=True)
class AttentionText(Hypothesis):
    """All that is known, or supposed, of a class as multi-head attention."""

    made: Construction
    form: Form
    component: str = "multi_head_attention"
    heads: str = "config.num_heads"  # how many there are, as text
    state: tuple[str, ...] = ()  # entries of the dict of parameters
    lacking: tuple[str, ...] = ()  # biases that it does not have
    supposed: str = ""  # the known mistake with which the parameters are that
    projected: bool = True  # the merged heads go through an output projection
    drops: str = "weights"  # what its dropout is of, as in CONVENTIONS
    heads_last: bool = False
    sequence_first: bool = False
    stripped: tuple[str, ...] = ()  # norms inside, which are left out
    powers: bool = False  # it takes powers of two for numbers of heads, and no others
    unregistered: bool = False  # it keeps modules in plain lists, which an optimizer does not find
    square: bool = False  # it takes as many keys as queries, and no other number
    one_length: tuple[str, ...] = ()  # the constructor's arguments that are the length of the inputs, and no other
    residual: bool = False  # the input is added inside, and subtracted again
    out: str = "result"
    weights: str | None = None  # an expression of ``result``
    averaged: bool = False  # over the heads
    lazy: bool = False  # its parameters are made by the first call
    memory_apart: bool = False  # a memory is refused where attention is causal
    masks_of_itself: bool = False  # and where something is hidden
    own_masks: tuple[str, ...] = ()  # of the tokens among themselves, beside one of a memory
    exclusive: tuple[str, ...] = ()  # what is refused beside the flag for causality: key_mask, attn_mask, attn_bias
    masks: dict[str, MaskForm] = field(default_factory=dict)  # by the argument's name
    hiding_nothing: tuple[str, ...] = ()  # those of them that have to be given, and of which nothing is asked
    opposed: dict[str, str] = field(default_factory=dict)  # what arguments want, where something else is prescribed
    needs_mask: bool = False  # None is not taken
    mask_beside: bool = False  # beside the flag for causality a mask has to hide what is later
    causal_always: bool = False
    exchangeable: bool = False  # nothing but the result says which weights are the queries' and which the keys'
    inside: Mapping[str, str] = field(default_factory=dict)  # what positions it has of its own, as in CONVENTIONS
    ordered: bool = False  # the order of the tokens matters, whatever the reason
    longest: int = 0  # tokens, where there is a limit
    single: bool = False  # it takes one sequence (L, E), and no batch
    flags: dict[str, str] = field(default_factory=dict)  # what arguments get that say whether attention is causal
    left_alone: tuple[str, ...] = ()  # options that are not asked for, in words
    unapplied: tuple[str, ...] = ()  # parameters that are there, in words
    alone: Mapping[str, str] = field(default_factory=dict)  # what is declared of a single head, as in CONVENTIONS
    family: tuple[tuple[str, str], ...] = ()  # what it declares of the family: (convention, choice)
    normed: Normed | None = None  # the norms of its queries and keys
    unknown: tuple[str, ...] = ()  # what options do that nobody knows, in words
    idle: tuple[str, ...] = ()  # options that do not do what they are called, in words
    unshared: str = ""  # why it is not judged with fewer heads of keys and values than of queries, where it breaks so
    doubt: str = ""  # why equality with the textbook is not all that would have to be known

    @property
    def self_only(self) -> bool:
        return "query" not in self.form.roles and "memory" not in self.form.roles

    @property
    def flagged(self) -> bool:
        """Whether a flag makes attention causal."""
        return "causal" in (self.made.given | set(self.form.roles)) and not self.causal_always

    @property
    def asked_masks(self) -> dict[str, MaskForm]:
        """The arguments for masks that are asked to hide something."""
        return {name: mask for name, mask in self.masks.items() if name not in self.hiding_nothing}

    @property
    def kinds(self) -> dict[str, str]:
        """What the values of each argument for masks mean, as contract.CONVENTIONS calls it."""
        return {name: mask.kind for name, mask in self.asked_masks.items()} | self.opposed

    @property
    def mask_conventions(self) -> dict[str, str]:
        """What its masks hide and what their values mean, as contract.CONVENTIONS calls it."""
        found = {}
        masks = list(self.asked_masks.values())
        if masks and all(mask.keys_only for mask in masks):
            found["masks"] = "keys"
        elif masks and all("one_for_all_heads" in mask.text for mask in masks):
            found["masks"] = "shared"
        if masks:
            found["mask"] = masks[0].kind
        if len(masks) == 1:
            found["mask-arguments"] = "one"
        return found

    def ambiguity(self) -> bool:
        """Return what decides, besides the replies, which mistakes it may be."""
        return self.exchangeable

    def conventions(self) -> Mapping[str, str]:
        found = {"inputs": "self"} if self.self_only else {}
        if not self.self_only and "value" not in self.form.roles:
            found["inputs"] = "memory"
        found |= {**self.inside, **self.mask_conventions, **self.alone}
        if has_tables(self.form):
            found["head-width"] = "even"
        if self.causal_always:
            found["causality"] = "always"
        found |= self._said_by_the_constructor() | dict(self.family) | (self.normed.conventions if self.normed else {})
        if not self.projected:
            found["output-projection"] = "no"
        if self.drops != "weights":
            found["dropout-place"] = self.drops
        if self.weights is None or self.averaged:
            found["returned-weights"] = "averaged" if self.averaged else "none"
        inputs, output = "q.bias" not in self.lacking and "v.bias" not in self.lacking, "out.bias" not in self.lacking
        if not (inputs and output):
            found["biases"] = "inputs" if inputs else "output" if output else "none"
        return found

    def _said_by_the_constructor(self) -> dict[str, str]:
        """Return the conventions that its parameters say, where they are not the usual."""
        tells = APPEARANCES["multi_head_attention"].tells.items()
        choices = {c: there if meaning in self.made.given else lacking for meaning, (c, there, lacking) in tells}
        return {convention: choice for convention, choice in choices.items() if choice != CONVENTIONS[convention][0]}

    def slots(self) -> tuple[Slots, ...]:
        masks, read = self._limits(), self.out
        masks += self._masks()
        if self.weights is None:
            masks += refuse("need_weights", "returned weights")
        masks += ["before = query.clone()"] if self.residual else []
        after = ["out = out.transpose(0, 1)"] if self.sequence_first else []
        after += ["out = out[None]"] if self.single else []
        after += ["out = out - before"] if self.residual else []
        returned = "out" if self.weights is None else f"(out, {self.weights}) if need_weights else out"
        return (Slots(
            self.component, COMPONENTS[self.component].forward, self._refusals(), self._built(), self._weighed(), masks,
            f"call({self.form.text(self._argument)})", self.visible, read, after, returned,
            "singly(forward)" if self.single else "forward",
        ),)  # fmt: skip

    @property
    def visible(self) -> tuple[list[str], list[str]]:
        """The masks that a call gets, by their names in the text, and the arguments that they are made of."""
        return [_local(name) for name in self.asked_masks], ["attn_mask", "key_mask", "attn_bias"]

    def _built(self) -> list[str]:
        lines = ["exact(weights)"]
        if self.lacking:
            lines.append(f"lacking(weights, {', '.join(map(repr, self.lacking))})")
        module = f"settle(lambda: {self.made.text}, config, weights)"
        if self.stripped:
            module = f"without({module}, {', '.join(map(repr, self.stripped))})"
        lines += [*self.made.before, f"module = {module}"]
        if self.normed:
            lines.append(f"module = with_eps(module, config.qk_norm_eps, {', '.join(map(repr, self.normed.parts))})")
        if self.unregistered:
            lines.append("module = registered(module)  # keeps modules in plain lists")
        if self.lazy:
            zeros = 'torch.zeros(1, 2, config.embed_dim, dtype=weights["q.weight"].dtype)'
            lines += [f"query = key = value = {zeros}",
                      f"module({self.form.text(self._first_argument)})  # makes its parameters"]  # fmt: skip
        return lines

    def _weighed(self) -> list[str]:
        even = "heads" not in self.made.given or "head_dim" in self.made.given
        lines = ["weights = full(weights)" if even else "weights = floored(full(weights), config)"]
        if self.heads_last:
            lines += ['rows = [f"{n}.{part}" for n in "qkv" for part in ("weight", "bias")]',
                      "weights |= {name: heads_last(weights[name], config.num_heads) for name in rows}",
                      'weights["out.weight"] = heads_last(weights["out.weight"].T, config.num_heads).T']  # fmt: skip
        entries = [f"    {entry}," for entry in self.state]
        return [*lines, "call = bind(module, fitted(module, {", *entries, "}))"]

    def _refusals(self) -> list[str]:
        """Return what the class cannot be asked for."""
        lines = []
        given = self.made.given
        if self.causal_always:
            lines += refuse("not config.causal", "attention that is not causal")
        if "heads" not in given:
            lines += refuse("config.num_heads != 1", "more than one head")
        if ("kv-heads", "one") in self.family:
            lines += refuse("(config.num_kv_heads or config.num_heads) != 1", "more than one head of keys and values")
        if self.powers:
            lines += refuse("config.num_heads & (config.num_heads - 1)", "numbers of heads that are no powers of two")
        names = {"key_dim": "key_dim", "value_dim": "value_dim", "out_dim": "out"}
        widths = [f"config.{name}" for name, meaning in names.items() if meaning not in given]
        if widths:
            lines += refuse(
                " or ".join(f"{w} != config.embed_dim" for w in widths), "inputs or outputs of another width"
            )
        if "heads" in given and "head_dim" not in given:
            uneven = (
                "config.embed_dim % config.num_heads == 0 and config.num_heads * config.head_dim != config.embed_dim"
            )
            lines += refuse(uneven, "heads whose widths do not add up to embed_dim")
        if "dropout" not in given:
            lines += refuse("config.dropout and config.training", "dropout")
        return lines

    def _limits(self) -> list[str]:
        """Return what a call cannot be asked for, besides masks."""
        lines = []
        if self.self_only:
            lines += refuse("not query is key is value", "attention to another sequence")
        elif "value" not in self.form.roles:
            lines += refuse("key is not value", "values that are not the keys")
        if self.memory_apart:
            lines += refuse("config.causal and key is not query", "causal attention to a memory")
        if self.masks_of_itself:
            hidden = "key_mask is not None or attn_mask is not None or attn_bias is not None or config.causal"
            lines += refuse(f"key is not query and ({hidden})", "masks of a memory")
        if self.one_length and not self.self_only and (self.square or self.flagged):
            unequal = "query.shape[1] != key.shape[1]"
            lines += refuse(unequal if self.square else f"config.causal and {unequal}", "as many queries as keys only")
        if self.longest:
            condition = f"max(query.shape[1], key.shape[1]) > {self.longest}"
            lines += refuse(condition, f"sequences of more than {self.longest} tokens")
        return lines

    def _masks(self) -> list[str]:
        lines = []
        given = self.made.given | set(self.form.roles)
        by_flag = ("causal" in given and not self.mask_beside) or self.causal_always
        general = {n: m for n, m in self.asked_masks.items() if not m.keys_only}
        keys = {n: m for n, m in self.asked_masks.items() if m.keys_only}
        if not self.asked_masks:
            lines += refuse("key_mask is not None or attn_mask is not None", "an argument for masks")
        if not general and not by_flag:
            lines += refuse("config.causal", "causal masks")
        if not any(m.additive for m in self.masks.values()):
            lines += refuse("attn_bias is not None", "a bias on the scores")
        if self.exclusive:
            given_too = " or ".join(f"{name} is not None" for name in self.exclusive)
            lines += refuse(f"config.causal and ({given_too})", BESIDE_THE_FLAG)
        for name, mask in self.masks.items():
            if name in self.hiding_nothing:
                lines += ["seen = everywhere(query, key)", f"{_local(name)} = {mask.text}"]
            else:
                lines += self._one_mask(name, mask, by_flag, apart=bool(general and keys))
        return lines

    def _one_mask(self, name: str, mask: MaskForm, by_flag: bool, apart: bool) -> list[str]:
        causal = "False" if by_flag or mask.keys_only else "config.causal"
        key_mask = "None" if apart and not mask.keys_only else "key_mask"
        attn_mask = "None" if apart and mask.keys_only else "attn_mask"
        lines = [f"seen = allowed(query, key, {key_mask}, {attn_mask}, {causal})"]
        if mask.additive or self.needs_mask:
            needed = "seen is None" if self.needs_mask else "seen is None and attn_bias is not None"
            lines += [f"if {needed}:", "    seen = everywhere(query, key)"]
        other = "" if not self.own_masks else " or key is not query" if name in self.own_masks else " or key is query"
        return [*lines, f"{_local(name)} = None if seen is None{other} else {mask.text}"]

    def _first_argument(self, slot: Slot) -> str | None:
        return None if slot.role in ("want_weights", "causal") and not slot.required else \
            "None" if slot.name in self.masks and slot.required else \
            None if slot.name in self.masks else self._argument(slot)  # fmt: skip

    def _argument(self, slot: Slot) -> str | None:
        tensors = {"query": "query", "x": "query", "key": "key", "memory": "key", "value": "value"}
        if slot.role in tensors:
            turned = ".transpose(0, 1)" if self.sequence_first else "[0]" if self.single else ""
            none = (
                "None if key is query else "
                if slot.role == "memory" and (self.memory_apart or self.masks_of_itself or self.own_masks)
                else ""
            )
            return none + tensors[slot.role] + turned
        if slot.name in self.masks:
            return _local(slot.name)
        if (table := text_of(slot, "query", "config.head_dim")) is not None:
            return table
        others = {
            "want_weights": "need_weights" if self.weights else None,
            "average": "False",
            "causal": self.flags.get(slot.name),
            "tokens": "query.shape[1]",
            "one": "1",
        }
        return others.get(slot.role, "None" if slot.required else None)


def _local(name: str) -> str:
    """Return a name for a mask that hides nothing which the text needs."""
    taken = {
        *generated.__all__,
        "query",
        "key",
        "value",
        "seen",
        "result",
        "out",
        "config",
        "weights",
        "call",
        "module",
    }
    taken |= {"key_mask", "attn_mask", "attn_bias", "need_weights"}
    return f"{name}_given" if name in taken else name
