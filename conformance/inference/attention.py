"""Bind a class as multi-head attention: built, called and given weights so that it can be judged."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor, nn

from attnconf.adapters.contract import MultiHeadAttentionConfig
from attnconf.conformance.door import Reply, Request
from attnconf.conformance.evidence import Failure
from attnconf.conformance.inference.attention_text import AttentionText
from attnconf.conformance.inference.binding import Bound, Place, Refusal
from attnconf.conformance.inference.calling import Form, attention_forms
from attnconf.conformance.inference.construction import Construction, constructions, filled, run, space_for
from attnconf.conformance.inference.masking import mask_forms, with_masks
from attnconf.conformance.inference.probing import Failed, attempt, call_module, found_output, norms_in, numbers
from attnconf.conformance.inference.reading import Sizes
from attnconf.conformance.inference.states import Weighing, weighings
from attnconf.conformance.inference.trial import FAILED, ROUNDING, Certificate, Draft, drawn, names, reply

COMPONENT = "multi_head_attention"
TABLE: Mapping[str, tuple[str, ...]] = {
    "embed": ("config.embed_dim",),
    "out": ("config.out_dim",),
    "heads": ("config.num_heads",),
    "head_dim": ("config.head_dim", "config.num_heads", "config.embed_dim"),
    "key_dim": ("config.key_dim",),
    "value_dim": ("config.value_dim",),
    "max_len": ("256",),
    "dropout": ("config.dropout",),
    "bias": ("config.bias",),
    "causal": ("config.causal",),
    "device": ('weights["q.weight"].device',),
    "dtype": ('weights["q.weight"].dtype',),
    "config": (),
}
ENOUGH = 6  # hypotheses of one construction that run but are not certified
SEVERAL = ((20, 5, 4), (12, 2, 6))  # embed_dim, num_heads, head_dim of the trials
ONE = ((8, 1, 8), (6, 1, 6))


def config_of(sizes: tuple[int, int, int], causal: bool = False) -> MultiHeadAttentionConfig:
    embed, heads, width = sizes
    return MultiHeadAttentionConfig(embed, heads, width, embed, embed, embed, True, causal)


@dataclass
class Attempts:
    """What was tried of a class, the most telling first."""

    failures: list[str] = field(default_factory=list)

    def say(self, what: str) -> None:
        if what not in self.failures:
            self.failures.append(what)


def bind(place: Place) -> Bound | Refusal:
    """Return the binding of a class as multi-head attention, or what stands against it."""
    attempts = Attempts()
    ran: list[tuple[AttentionText, float, list[Reply | Failure], Certificate]] = []
    for text, sizes in texts(place, attempts):
        if sum(t.made == text.made for t, *_ in ran) == ENOUGH:
            continue
        certificate = plain_certificate(text, sizes)
        draft = Draft(COMPONENT, text.body(), declared(text))
        given = certificate.replies(draft.implementation(place.module))
        distance = certificate.distance(given, draft.declares)
        if distance <= ROUNDING:
            return finish(place, text, sizes, "reference")
        if distance < FAILED:
            ran.append((text, distance, given, certificate))
        elif given and isinstance(given[-1], Failure):
            attempts.say(given[-1].message)
    if not ran:
        return Refusal("; ".join(attempts.failures[:4]) or "it can be neither built nor called as attention")
    for text, _, given, certificate in ran:
        mistakes = certificate.mistakes(given, declared(text))
        if mistakes:
            return finish(place, text, sizes_of(text), mistakes[0].id)
    return finish(place, ran[0][0], sizes_of(ran[0][0]), None)


def sizes_of(text: AttentionText) -> tuple[tuple[int, int, int], ...]:
    return SEVERAL if "heads" in text.made.given else ONE


def texts(place: Place, attempts: Attempts) -> Iterator[tuple[AttentionText, tuple[tuple[int, int, int], ...]]]:
    """Yield what the class may be, the likeliest first."""
    for made in constructions(place.name_in_text, place.thing, TABLE, place.module, place.part):
        sizes = SEVERAL if "heads" in made.given else ONE
        config = config_of(sizes[0])
        numbered = {"q.weight": torch.zeros(1, dtype=torch.float64)}
        space = space_for(config, place.module, weights=numbered)
        try:
            whole = attempt(lambda made=made, space=space: filled(made, TABLE, place.module, space))
            module = attempt(lambda whole=whole, space=space: run(whole, space))
        except Failed as error:
            attempts.say(f"{made.text}: {error}")
            continue
        if not isinstance(module, nn.Module):
            attempts.say(f"{place.name} is no torch.nn.Module")
            return
        sizes = SEVERAL if "heads" in whole.given else ONE
        if "heads" in whole.given and "heads" not in made.given:  # said by a configuration
            config = config_of(sizes[0])
            space = space_for(config, place.module, weights=numbered)
            module = attempt(lambda whole=whole, space=space: run(whole, space))
        for form in attention_forms(module):
            for text in _of_form(place, whole, form, module, config, attempts):
                yield text, sizes


def _of_form(
    place: Place,
    made: Construction,
    form: Form,
    module: nn.Module,
    config: MultiHeadAttentionConfig,
    attempts: Attempts,
) -> Iterator[AttentionText]:
    """Yield what the class may be where it is called in one form."""
    for first in (False, True):
        lazy = any(isinstance(p, nn.parameter.UninitializedParameter) for p in module.parameters())
        text = AttentionText(made, form, sequence_first=first, lazy=lazy)
        text = text.but(stripped=tuple(norms_in(module)))
        probe = Probe(place.copy(module), text, config)
        try:
            yield from _weighed(probe.called(), probe)
        except Failed as error:
            attempts.say(f"called with {form.text(lambda slot: slot.role)}: {error}")
            names = [slot.name for slot in form.slots if slot.role == "mask"]
            for mask in mask_forms(text) if names else ():
                try:
                    probe.text = text.but(masks={names[0]: mask}, needs_mask=True)
                    yield from _weighed(probe.called(), probe)
                except Failed:
                    continue


def _weighed(text: AttentionText, probe: "Probe") -> Iterator[AttentionText]:
    """Yield a text with what the parameters may be."""
    for weighing in probe.weighings():
        for heads_last in (False, True) if "heads" in text.made.given else (False,):
            found = text.but(state=weighing.state, lacking=weighing.lacking, heads_last=heads_last)
            yield found
            if text.causal_always:  # heads that are merged wrongly mix tokens up as well
                yield found.but(causal_always=False)


class Probe:
    """A module that is called with random parameters, to learn how it is called and what its parameters are."""

    def __init__(self, module: nn.Module, text: AttentionText, config: MultiHeadAttentionConfig):
        self.module = module.double().eval()
        for name in text.stripped:
            *above, last = name.split(".")
            setattr(self.module.get_submodule(".".join(above)), last, nn.Identity())
        self.text, self.config = text, config
        if text.lazy:
            one = torch.zeros(1, 2, config.embed_dim, dtype=torch.float64)
            call_module(self.module, text.form, lambda slot: self._given(slot, one, one, one), None)
        self.parameters = numbers(self.module)

    def run(self, query: Tensor, key: Tensor, value: Tensor, parameters: Mapping[str, Tensor] | None = None) -> Any:
        """Return what the module gives; masks that it insists on let everything through."""
        given = self.parameters if parameters is None else parameters
        return call_module(self.module, self.text.form, lambda slot: self._given(slot, query, key, value), given)

    def _given(self, slot: Any, query: Tensor, key: Tensor, value: Tensor) -> Any:
        tensors = {"query": query, "x": query, "key": key, "memory": key, "value": value}
        if slot.role in tensors:
            x = tensors[slot.role]
            return x.transpose(0, 1) if self.text.sequence_first else x
        if slot.name in self.text.masks and self.text.needs_mask:
            seen = torch.ones(query.shape[0], 1, query.shape[1], key.shape[1], dtype=torch.bool)
            space = {**names(nn), "seen": seen, "query": query, "attn_bias": None, "config": self.config}  # type: ignore[arg-type]  # any module
            return eval(self.text.masks[slot.name].text, space)
        if slot.role in ("want_weights", "causal"):
            return False if slot.required else MISSING
        return None if slot.required else MISSING

    def called(self) -> AttentionText:
        """Return the text with what a call tells: where the output is, whether None is taken for a mask.

        Raises Failed where no call succeeds.
        """
        E = self.config.embed_dim
        q = drawn("query", 2, 3, E)
        k, v = (q, q) if self.text.self_only else (drawn("key", 2, 7, E), drawn("value", 2, 7, E))
        v = k if "value" not in self.text.form.roles else v
        result = self.run(q, k, v)
        shape = (3, 2, E) if self.text.sequence_first else (2, 3, E)
        where = found_output(result, shape)
        if where is None:
            raise Failed(f"no output of shape {shape} came back")
        zeros = {name: torch.zeros_like(p) for name, p in self.parameters.items()}
        out = eval(where, {"result": self.run(q, k, v, zeros)})
        out = out.transpose(0, 1) if self.text.sequence_first else out
        residual = bool(torch.allclose(out, q, atol=1e-9)) and bool(q.abs().max() > 0)
        always = self._ordered(where)
        self.text = self.text.but(out=where, residual=residual, causal_always=always)
        return self.text

    def _ordered(self, where: str) -> bool:
        """Return whether the order of the tokens matters: something is causal. Without masks attention knows no order."""
        x = drawn("tokens", 2, 5, self.config.embed_dim)
        order = torch.tensor([3, 0, 4, 1, 2])
        try:
            one, other = (eval(where, {"result": self.run(y, y, y)}) for y in (x, x[:, order]))
        except Failed:
            return False
        if self.text.sequence_first:
            one, other = one.transpose(0, 1), other.transpose(0, 1)
        return not torch.allclose(one[:, order], other, atol=1e-8, equal_nan=True)

    def weighings(self) -> Iterator[Weighing]:
        """Yield what the parameters may be."""
        sizes = Sizes(self.config.embed_dim, self.config.num_heads, self.config.head_dim, self.config.embed_dim)
        one = drawn("token", sizes.embed)
        q = drawn("another token", sizes.embed)

        def output(parameters: Mapping[str, Tensor]) -> Tensor:
            value = one.reshape(1, 1, -1)
            query = value if self.text.self_only else q.reshape(1, 1, -1)
            result = self.run(
                query, value if self.text.self_only or "value" not in self.text.form.roles else query, value, parameters
            )
            return eval(self.text.out, {"result": result})

        yield from weighings(output, self.parameters, one, sizes, one_head="heads" not in self.text.made.given)


MISSING = object()


def plain_certificate(text: AttentionText, sizes: tuple[tuple[int, int, int], ...]) -> Certificate:
    """Return calls without masks, in two sizes; the same for all texts that are called alike."""
    key = (sizes, text.self_only, "value" in text.form.roles, text.lacking, text.causal_always)
    if key not in _certificates:
        _certificates[key] = _plain_certificate(text, sizes)
    return _certificates[key]


_certificates: dict[Any, Certificate] = {}


def _plain_certificate(text: AttentionText, sizes: tuple[tuple[int, int, int], ...]) -> Certificate:
    requests = []
    for i, size in enumerate(sizes):
        B, L, S = ((2, 3, 7), (3, 4, 5))[i]
        requests.append(request(text, size, B, L, S, {}))
    return Certificate(COMPONENT, requests)


def request(
    text: AttentionText, size: tuple[int, int, int], B: int, L: int, S: int, masks: Mapping[str, Tensor], **options: Any
) -> Request:
    """Return one call on fresh weights, of one sequence where the class takes no more."""
    config = config_of(size, causal=options.pop("causal", False) or text.causal_always)
    E, W = config.embed_dim, config.num_heads * config.head_dim
    weights = {
        f"{n}.weight": drawn(f"{n}.weight {size}", W, E) / E**0.5 * (1.5 if n in "qk" else 1)
        for n in ("q", "k", "v", "out")
    }
    weights |= {f"{n}.bias": drawn(f"{n}.bias {size}", W) / 2 for n in ("q", "k", "v", "out")}
    weights = {n: w for n, w in weights.items() if n not in text.lacking}
    query = drawn(f"x {size} {L}", B, L, E)
    same = text.self_only
    key = query if same else drawn(f"key {size} {S}", B, S, E)
    inputs = {"query": query} if same else {"query": query, "key": key}
    if "value" in text.form.roles:
        inputs["value"] = drawn(f"value {size} {S}", B, S, E)
    return Request(COMPONENT, config, weights, {**inputs, **masks}, (B, L, E), same=same, **options)


def declared(text: AttentionText) -> dict[str, str]:
    """Return the conventions that a binding stands for."""
    found = {}
    if text.self_only:
        found["inputs"] = "self"
    elif "value" not in text.form.roles:
        found["inputs"] = "memory"
    if text.masks and all(mask.keys_only for mask in text.masks.values()):
        found["masks"] = "keys"
    if text.causal_always:
        found["causality"] = "always"
    if "heads" not in text.made.given:
        found["heads"] = "one"
    if text.weights is None or text.averaged:
        found["returned-weights"] = "averaged" if text.averaged else "none"
    inputs = "q.bias" not in text.lacking and "v.bias" not in text.lacking
    output = "out.bias" not in text.lacking
    biases = {(True, True): "all", (True, False): "inputs", (False, True): "output", (False, False): "none"}[
        inputs, output
    ]
    return found if biases == "all" else {**found, "biases": biases}


def finish(place: Place, text: AttentionText, sizes: Any, certified: str | None) -> Bound:
    """Return the binding with masks and returned weights, which are looked for once the rest is known."""
    text = _checked(place, text, sizes)
    text = with_masks(place, text, sizes, request, declared, "" if certified in (None, "reference") else certified)
    text = text.but(longest=limit(place, text, sizes))
    declares = declared(text)
    profile = {"self": "self-attention-1", "memory": "memory-attention-1"}.get(declares.get("inputs", ""))
    if text.causal_always and text.self_only:
        profile = "causal-self-attention-1"
    return Bound(place, Draft(COMPONENT, text.body(), declares), profile, certified, told(place, text))


def _checked(place: Place, text: AttentionText, sizes: Any) -> AttentionText:
    """Return the text without a flag that alone does nothing, or wrong, and without widths that it does not take."""

    def fits(candidate: AttentionText, one: Request) -> bool:
        draft = Draft(COMPONENT, candidate.body(), declared(candidate))
        certificate = Certificate(COMPONENT, [one])
        return certificate.distance(certificate.replies(draft.implementation(place.module)), draft.declares) <= ROUNDING

    if text.form.of("causal") and any(slot.role == "mask" for slot in text.form.slots):
        if not fits(text, request(text, sizes[0], 2, 6, 6, {}, causal=True)):
            unflagged = Form(tuple(slot for slot in text.form.slots if slot.role != "causal" or slot.required))
            text = text.but(form=unflagged)
    if {"key_dim", "value_dim"} & text.made.given and "value" in text.form.roles:
        one = request(text, sizes[0], 2, 3, 7, {})
        wide = {"k": one.config.embed_dim + 3, "v": one.config.embed_dim + 7}
        weights = {f"{n}.weight": drawn(f"wide {n}", one.config.embed_dim, size) for n, size in wide.items()}
        inputs = {"key": drawn("wide key", 2, 7, wide["k"]), "value": drawn("wide value", 2, 7, wide["v"])}
        config = replace(one.config, key_dim=wide["k"], value_dim=wide["v"])
        asked = replace(one, config=config, weights={**one.weights, **weights}, inputs={**one.inputs, **inputs})
        if not fits(text, asked):
            text = text.but(made=replace(text.made, given=text.made.given - {"key_dim", "value_dim"}))
    return text


LONG = 140  # tokens, beyond the longest scored case


def limit(place: Place, text: AttentionText, sizes: Any) -> int:
    """Return how many tokens a class takes at most, where it takes some but not long sequences; else 0."""
    module = Draft(COMPONENT, text.body(), declared(text)).implementation(place.module)

    def fails(tokens: int) -> bool:
        return isinstance(reply(module, request(text, sizes[0], 1, tokens, tokens, {})), Failure)

    if not fails(LONG) or fails(4):
        return 0
    low, high = 4, LONG
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if fails(middle) else (middle, high)
    return low


def told(place: Place, text: AttentionText) -> tuple[str, ...]:
    """Return the binding in three lines, for people."""
    shown = re.sub(r"\btheirs\.|\bconfig\.", "", text.made.text)
    masks = "; ".join(f"{name} {mask.told}" for name, mask in text.masks.items()) or "no masks"
    masks += f"; at most {text.longest} tokens" if text.longest else ""
    choices = ", ".join(f"{name}: {choice}" for name, choice in declared(text).items())
    more = [f"with the norms {', '.join(text.stripped)} left out"] if text.stripped else []
    more += ["with the input added, and subtracted again"] if text.residual else []
    return (
        f"constructor  {shown}",
        f"forward      ({text.form.text(lambda slot: slot.role)}) -> {text.out}"
        + (", sequence first" if text.sequence_first else ""),
        "; ".join([f"weights      {_weights_told(text)}", masks, *([choices] if choices else []), *more]),
    )


def _weights_told(text: AttentionText) -> str:
    """Return what the parameters are, without the biases: they go with the weights."""
    entries = [
        re.sub(r'weights\["(\w+)\.weight"\]', r"\1", e).replace("config.", "") for e in text.state if ".weight" in e
    ]
    pairs = [re.match(r'(?:\*\*\{f)?"([^"]*)": (.*)', entry) for entry in entries]
    found = [f"{m[1].removesuffix('.weight')} = {m[2].removesuffix('}')}" for m in pairs if m]
    return ", ".join(f.replace("torch.", "") for f in found) or "none found"
