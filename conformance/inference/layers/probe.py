"""A layer or model of a user's that is called, to learn how it is called, what it is made of and what it computes."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from attnconf.adapters.contract import COMPONENTS
from attnconf.conformance.chapters.transformer.stimuli import ids_of, vocabulary
from attnconf.conformance.engine.case import Case
from attnconf.conformance.inference.texts.layer_forms import about_memory
from attnconf.conformance.inference.texts.layer_trace import Trace, traced
from attnconf.conformance.inference.trials.angles import given as given_table
from attnconf.conformance.inference.trials.calling import Form, Slot
from attnconf.conformance.inference.trials.probing import Failed, call_module, found_output, longest, numbers, restored
from attnconf.conformance.inference.trials.trial import drawn

MISSING = object()


@dataclass
class Called:
    """How a call succeeds."""

    out: str
    sequence_first: bool
    causal: bool  # nothing depends on what is later
    ordered: bool  # the order of the tokens matters
    fills: Mapping[str, str]  # how masks that are insisted on are given, by the arguments' names: of FILLS


FILLS: Mapping[str, Callable[[int, int, int], Tensor]] = {
    "(B, 1, L, S) true-keeps": lambda B, L, S: torch.ones(B, 1, L, S, dtype=torch.bool),
    "(B, L, S) true-keeps": lambda B, L, S: torch.ones(B, L, S, dtype=torch.bool),
    "(B, S) true-keeps": lambda B, L, S: torch.ones(B, S, dtype=torch.bool),
    "(L, S) true-keeps": lambda B, L, S: torch.ones(L, S, dtype=torch.bool),
    "(B, 1, S) true-keeps": lambda B, L, S: torch.ones(B, 1, S, dtype=torch.bool),
    "(B, S) true-drops": lambda B, L, S: torch.zeros(B, S, dtype=torch.bool),
    "(L, S) true-drops": lambda B, L, S: torch.zeros(L, S, dtype=torch.bool),
    "(L, S) additive": lambda B, L, S: torch.zeros(L, S),
    "(B, 1, L, S) additive": lambda B, L, S: torch.zeros(B, 1, L, S),
    "lengths (B,)": lambda B, L, S: torch.full((B,), S),
}
# Of arguments of which some are about padding, by their names: how these are given, and how the others are.
PADDING = r"pad|valid|len"
APART = tuple(
    (of_padding, other)
    for of_padding in ("(B, S) true-keeps", "(B, S) true-drops", "lengths (B,)")
    for other in ("(L, S) true-drops", "(L, S) true-keeps", "(L, S) additive", "(B, 1, L, S) true-keeps")
)


class Probe:
    """A module that is called with random parameters."""

    def __init__(self, module: nn.Module, form: Form, component: str, case: Case):
        self.module, self.form, self.component, self.case = module.double().eval(), form, component, case
        self.known = COMPONENTS[component]
        self.width = case.width
        self.parameters = numbers(self.module)
        self.fills: Mapping[str, str] = {}
        self.sequence_first = False

    def inputs(self, L: int, S: int) -> dict[str, Tensor]:
        case = self.case.but(L=L, S=S)
        lengths = {"x": L, "memory": S, "source": S, "target": L, "ids": L}
        if self.known.reads_ids:  # those of one sequence are drawn as a target's are
            streams = {name: "source" if name == "source" else "target" for name in self.known.inputs}
            return {name: ids_of(case, stream, lengths[name]) for name, stream in streams.items()}
        return {name: drawn(name, case.B, lengths[name], self.width) for name in self.known.inputs}

    def run(self, inputs: Mapping[str, Tensor], own: Mapping[str, Tensor] | None = None) -> Any:
        """Return what the module gives for inputs (B, …). Raises Failed."""
        B = next(iter(inputs.values())).shape[0]
        L = next(inputs[n] for n in ("target", "x", "ids") if n in inputs).shape[1]
        S = next((inputs[n].shape[1] for n in ("source", "memory") if n in inputs), L)

        def what(slot: Slot) -> Any:
            if slot.role in inputs:
                x = inputs[slot.role].clone()  # the code may write to what it gets
                return x.transpose(0, 1) if self.sequence_first else x
            if (table := given_table(slot, inputs, self.case.head_width)) is not None:
                return table
            if slot.role == "segments":
                return torch.zeros((L, B) if self.sequence_first else (B, L), dtype=torch.long)
            if slot.role == "targets":
                return next(iter(inputs.values())).clone()
            if slot.name in self.fills:
                return FILLS[self.fills[slot.name]](B, L, S if len(inputs) > 1 and about_memory(slot.name) else L)
            if slot.role == "want_weights" and slot.required:
                return False
            return None if slot.required else MISSING

        with restored(self.module):
            return call_module(self.module, self.form, what, self.parameters if own is None else own)

    def called(self) -> Called:
        """Return how it is called. Raises Failed where no call succeeds."""
        failure: Failed | None = None
        hidden: Called | None = None  # what runs where the mask hides all
        for fills in self._ways_to_fill():
            self.fills = fills
            try:
                out = self._axes()
                causal, ordered = self._orders(out)
                seen = not fills or self._reaches(out)
            except Failed as error:
                failure = failure or error
                continue
            found = Called(out, self.sequence_first, causal, ordered, fills)
            if seen:
                return found
            hidden = hidden or found
        if hidden is not None:
            self.fills, self.sequence_first = hidden.fills, hidden.sequence_first
            return hidden
        raise failure or Failed("no call succeeded")

    def _ways_to_fill(self) -> Iterator[dict[str, str]]:
        """Yield how masks may be given, by names: not at all, where they are insisted on all alike, or in two ways."""
        yield {}
        names = [slot.name for slot in self.form.slots if slot.required and slot.role in ("mask", "lengths")]
        of_padding = [name for name in names if re.search(PADDING, name.lower())]
        for told in FILLS if names else ():
            yield dict.fromkeys(names, told)
        for padded, other in APART if 0 < len(of_padding) < len(names) else ():
            yield {**dict.fromkeys(names, other), **dict.fromkeys(of_padding, padded)}

    def _reaches(self, where: str) -> bool:
        """Return whether the last token depends on the first."""
        inputs = self.inputs(4, 5)
        name = next(n for n in ("target", "x", "ids") if n in inputs)
        x = inputs[name]
        other = torch.cat([x[:, 1:2], x[:, 1:]], dim=1)
        one, two = self._at(where, inputs), self._at(where, {**inputs, name: other})
        return not torch.allclose(one[:, -1], two[:, -1], atol=1e-8)

    def _axes(self) -> str:
        """Return where the output is, and find out which axis is that of the samples: no sample depends on another."""
        self.sequence_first = False
        failure: Failed | None = None
        try:
            out = self._output()
            if not self._mixes(out):
                return out
        except Failed as error:
            failure = error
        self.sequence_first = True
        try:
            out = self._output()
            if not self._mixes(out):
                return out
        except Failed as error:
            failure = failure or error
        self.sequence_first = False
        if failure is not None:
            raise failure
        return self._output()

    def _output(self) -> str:
        inputs = self.inputs(3, 5)
        logits = self.known.layered and self.known.reads_ids
        rows = vocabulary(self.case) if logits else self.width
        shape = (3, self.case.B, rows) if self.sequence_first else (self.case.B, 3, rows)
        result = self.run(inputs)
        where = found_output(result, shape)
        if where is None:
            raise Failed(f"no output of shape {shape} came back")
        if bool(eval(where, {"result": result}).isnan().any()):
            raise Failed("not-a-numbers came back")
        return where

    def _at(self, where: str, inputs: Mapping[str, Tensor]) -> Tensor:
        out: Tensor = eval(where, {"result": self.run(inputs)})
        return out.transpose(0, 1) if self.sequence_first else out

    def _mixes(self, where: str) -> bool:
        """Return whether one sample depends on another."""
        inputs = self.inputs(3, 5)
        other = {n: torch.cat([x[:1].flip(1), x[1:]]) for n, x in inputs.items()}
        other = {n: torch.cat([x[:1] + 1, x[1:]]) if x.is_floating_point() else x for n, x in other.items()}
        one, two = self._at(where, inputs), self._at(where, other)
        return not torch.allclose(one[1:], two[1:], atol=1e-8)

    def _orders(self, where: str) -> tuple[bool, bool]:
        inputs = self.inputs(4, 5)
        name = next(n for n in ("target", "x", "ids") if n in inputs)
        x = inputs[name]
        later = torch.cat([x[:, :3], x[:, :1]], dim=1)
        one, two = self._at(where, inputs), self._at(where, {**inputs, name: later})
        causal = torch.allclose(one[:, :3], two[:, :3], atol=1e-8)
        order = torch.tensor([2, 0, 3, 1])
        turned = self._at(where, {**inputs, name: x[:, order]})
        return causal, not torch.allclose(one[:, order], turned, atol=1e-8)

    def shifts(self, where: str) -> bool:
        """Return whether a model shifts its targets by one: its first logits do not depend on any of them."""
        inputs = self.inputs(4, 5)
        if not self.known.reads_ids or "target" not in inputs:
            return False
        other = {**inputs, "target": inputs["target"].roll(1, 1)}
        return torch.equal(self._at(where, inputs)[:, 0], self._at(where, other)[:, 0])

    def normalized(self, where: str) -> bool:
        """Return whether what comes out of a model of ids are the logarithms of probabilities."""
        if not (self.known.layered and self.known.reads_ids):
            return False
        total = self._at(where, self.inputs(4, 5)).logsumexp(dim=-1)
        return torch.allclose(total, torch.zeros_like(total), atol=1e-5)

    def largest(self, where: str) -> float:
        """Return the largest number that comes out where all matrices are a thousand times as large."""
        large = {name: p * 1e3 if p.ndim > 1 else p for name, p in self.parameters.items()}
        out: Tensor = eval(where, {"result": self.run(self.inputs(4, 5), large)})
        return float(out.abs().max())

    def longest(self) -> int:
        """Return how many tokens it takes at most, by trial; 0 where it takes many."""

        def takes(tokens: int) -> bool:
            try:
                self.run({name: x[:1] for name, x in self.inputs(tokens, tokens).items()})
            except Failed:
                return False
            return True

        return longest(lambda tokens: tokens == 4 or takes(tokens), 4, 300)  # few need not be what it takes

    def trace(self) -> Trace:
        """Return the trace of a call with one token. Raises Failed."""
        one = {name: x[:1] for name, x in self.inputs(1, 1).items()}
        return traced(self.module, self.parameters, lambda leaves: self.run(one, leaves))

    def unheard(self, out: str) -> set[str]:
        """Return the parameters that the output does not depend on: of an embedding that is passed over, of a head.

        ``out``: which of what comes back is the output, an expression of ``result``.
        """
        leaves = {name: p.detach().clone().requires_grad_() for name, p in self.parameters.items()}
        inputs = self.inputs(3, 5)
        output: Tensor = eval(out, {"result": self.run(inputs, leaves)})
        if not output.requires_grad:
            return set()
        slopes = torch.autograd.grad(output.sum(), list(leaves.values()), allow_unused=True)
        return {name for name, slope in zip(leaves, slopes, strict=True) if slope is None}
