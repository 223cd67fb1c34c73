"""A module that may be attention, called with random parameters to learn how it is called and what they are."""

from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from attnconf.adapters.contract import MultiHeadAttentionConfig
from attnconf.adapters.generated.modules import without
from attnconf.conformance.inference.texts.attention_parts import Parts, Seen
from attnconf.conformance.inference.texts.attention_text import AttentionText
from attnconf.conformance.inference.trials.angles import given as given_table
from attnconf.conformance.inference.trials.probing import Failed, call_module, found_output, numbers, restored
from attnconf.conformance.inference.trials.trial import drawn
from attnconf.conformance.inference.weights.reading import Sizes
from attnconf.conformance.inference.weights.states import Weighing, weighings
from attnconf.conformance.worker.bodies import names


class Probe:
    """A module that is called with random parameters, to learn how it is called and what its parameters are."""

    def __init__(self, module: nn.Module, text: AttentionText, config: MultiHeadAttentionConfig):
        self.module = module.double().eval()
        without(self.module, *text.stripped)
        self.text, self.config = text, config
        if text.lazy:
            one = torch.zeros(1, 2, config.embed_dim, dtype=torch.float64)
            call_module(self.module, text.form, lambda slot: self._given(slot, one, one, one), None)
        self.parameters = numbers(self.module)

    def run(self, query: Tensor, key: Tensor, value: Tensor, parameters: Mapping[str, Tensor] | None = None) -> Any:
        """Return what the module gives; masks that it insists on let everything through."""
        given = self.parameters if parameters is None else parameters
        with restored(self.module):
            return call_module(self.module, self.text.form, lambda slot: self._given(slot, query, key, value), given)

    def _given(self, slot: Any, query: Tensor, key: Tensor, value: Tensor) -> Any:
        tensors = {"query": query, "x": query, "key": key, "memory": key, "value": value}
        if slot.role in tensors:
            x = tensors[slot.role]
            return x.transpose(0, 1) if self.text.sequence_first else x[0] if self.text.single else x
        if slot.name in self.text.masks and self.text.needs_mask:
            seen = torch.ones(query.shape[0], 1, query.shape[1], key.shape[1], dtype=torch.bool)
            space = {**names(nn), "seen": seen, "query": query, "attn_bias": None, "config": self.config}
            return eval(self.text.masks[slot.name].text, space)
        if (table := given_table(slot, {"x": query}, self.config.head_dim)) is not None:
            return table
        if slot.role in ("tokens", "one"):
            return query.shape[1] if slot.role == "tokens" else 1
        if slot.role in ("want_weights", "causal") and slot.required:
            return self.text.flags.get(slot.name) == "not config.causal"
        if slot.role in ("want_weights", "causal"):
            return MISSING
        return None if slot.required else MISSING

    def runs_with(self, samples: int) -> bool:
        """Return whether the module takes so many samples, where it does not take any number."""
        x = drawn("samples", samples, 3, self.config.embed_dim)
        try:
            return found_output(self.run(x, x, x), tuple(x.shape)) is not None
        except Failed:
            return False

    def called(self) -> AttentionText:
        """Return the text with what a call tells: where the output is, whether None is taken for a mask.

        Raises Failed where no call succeeds.
        """
        E = self.config.embed_dim
        B = 1 if self.text.single else 2
        q = drawn("query", B, 3, E)
        S = 3 if self.text.square else 7
        k, v = (q, q) if self.text.self_only else (drawn("key", B, S, E), drawn("value", B, S, E))
        v = k if "value" not in self.text.form.roles else v
        result = self.run(q, k, v)
        shape = (3, 2, E) if self.text.sequence_first else (3, E) if self.text.single else (2, 3, E)
        where = found_output(result, shape)
        if where is None:
            raise Failed(f"no output of shape {shape} came back")
        zeros = {name: torch.zeros_like(p) for name, p in self.parameters.items()}
        out = eval(where, {"result": self.run(q, k, v, zeros)})
        out = out.transpose(0, 1) if self.text.sequence_first else out
        if self.text.needs_mask and bool(out.isnan().any()):
            raise Failed("not-a-numbers came back where a mask hides nothing")
        residual = bool(torch.allclose(out, q, atol=1e-9)) and bool(q.abs().max() > 0)
        self.text = self.text.but(out=where, residual=residual)
        self.text = self.text.but(causal_always=self._looks_back(), ordered=self._ordered())
        return self.text

    def _ordered(self) -> bool:
        """Return whether the order of the tokens matters: it may be causal. Else attention knows no order."""
        x, order = self._tokens(), torch.tensor([3, 0, 4, 1, 2])
        found = self._outputs(x, x[:, order])
        return bool(found) and not torch.allclose(found[0][:, order], found[1], atol=1e-8, equal_nan=True)

    def _looks_back(self) -> bool:
        """Return whether no token sees a later one, and the last one sees those before: it is causal."""
        x, other = self._tokens(), drawn("later tokens", 5, self.config.embed_dim)
        found = self._outputs(x, torch.cat([x[:, :2], x[:, 2:] + other[2:]], 1), torch.cat([x[:, :1] + 1, x[:, 1:]], 1))
        if not found:
            return False
        one, later, first = found
        unmoved = torch.allclose(one[:, :2], later[:, :2], atol=1e-8, equal_nan=True)
        moved = not torch.allclose(one[:, -1], first[:, -1], atol=1e-8, equal_nan=True)
        return unmoved and moved and self._looks_back_with_more_keys()

    def _looks_back_with_more_keys(self) -> bool:
        """Return whether the first of three queries does not see the last of five keys either, if it can be asked."""
        if self.text.self_only or self.text.square:
            return True
        k, other = self._tokens(), drawn("later tokens", 5, self.config.embed_dim)
        changed = torch.cat([k[:, :4], k[:, 4:] + other[4:]], 1)
        try:
            one, two = (eval(self.text.out, {"result": self.run(k[:, :3], x, x)}) for x in (k, changed))
        except Failed:
            return True
        first = (0,) if self.text.sequence_first or self.text.single else (slice(None), 0)
        return torch.allclose(one[first], two[first], atol=1e-8, equal_nan=True)

    def mixes_evenly(self) -> bool:
        """Return whether all queries get the same, as where a mask that should hide nothing hides all keys alike."""
        x = self._tokens()
        found = [out - x if self.text.residual else out for out in self._outputs(x)]
        return bool(found) and torch.allclose(found[0], found[0][:, :1], atol=1e-8, equal_nan=True)

    def _tokens(self) -> Tensor:
        return drawn("tokens", 1 if self.text.single else 2, 5, self.config.embed_dim)

    def _outputs(self, *given: Tensor) -> list[Tensor]:
        """Return what comes out of several sequences, samples first.

        There are none where a call fails, or what comes out is another each time, which tells nothing.
        """
        try:
            found = [eval(self.text.out, {"result": self.run(x, x, x)}) for x in (given[0], *given)]
        except Failed:
            return []
        if not torch.allclose(found[0], found[1], atol=1e-8, equal_nan=True):
            return []
        if self.text.sequence_first:
            found = [out.transpose(0, 1) for out in found]
        return [out[None] for out in found[1:]] if self.text.single else found[1:]

    def weighings(self, parts: Parts | None = None) -> Iterator[Weighing]:
        """Yield what the parameters may be, but for those of parts, which stay idle."""
        one, q = self._token_and_query()
        idle = parts.idle if parts else {}
        rest = {name: p for name, p in self.parameters.items() if name not in idle}

        def output(parameters: Mapping[str, Tensor]) -> Tensor:
            value = one.reshape(1, 1, -1)
            query = value if self.text.self_only else q.reshape(1, 1, -1)
            key = value if self.text.self_only or "value" not in self.text.form.roles else query
            return eval(self.text.out, {"result": self.run(query, key, value, {**parameters, **idle})})

        yield from weighings(output, rest, one, self._sizes(), one_head="heads" not in self.text.made.given)

    def seen(self) -> Seen:
        """Return the module as it is called with a few tokens."""
        one, q = self._token_and_query()

        def run(parameters: Mapping[str, Tensor], tokens: Tensor) -> Tensor:
            x = tokens[None]
            return eval(self.text.out, {"result": self.run(x, x, x, parameters)})

        return Seen(run, self.parameters, one if self.text.self_only else q, self._sizes())

    def _token_and_query(self) -> tuple[Tensor, Tensor]:
        return drawn("token", self.config.embed_dim), drawn("another token", self.config.embed_dim)

    def _sizes(self) -> Sizes:
        return Sizes(self.config.embed_dim, self.config.num_heads, self.config.head_dim, self.config.embed_dim)


MISSING = object()
