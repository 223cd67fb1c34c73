"""Bind a class or function as a position-wise feed-forward network."""

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from types import FunctionType
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

from attnconf.adapters.contract import FeedForwardConfig
from attnconf.adapters.generated.modules import without
from attnconf.conformance.chapters.feed_forward.binding import APPEARANCES
from attnconf.conformance.engine.request import Request
from attnconf.conformance.engine.requirement import hidden_of
from attnconf.conformance.inference.building.building import Construction, as_module
from attnconf.conformance.inference.building.construction import built, constructions
from attnconf.conformance.inference.drafts.texts import Text, bound, told
from attnconf.conformance.inference.small.activations import activations_of, heeding, outside_the_contract
from attnconf.conformance.inference.small.around_feed_forward import ADDED, around, set_aside
from attnconf.conformance.inference.small.idle_parts import idle_so_far
from attnconf.conformance.inference.small.networks import Network, networks
from attnconf.conformance.inference.small.said_of_gates import swapped
from attnconf.conformance.inference.small.sorts_by_word import unlike
from attnconf.conformance.inference.trials.binding import Attempts, Bound, Place, Refusal
from attnconf.conformance.inference.trials.filling import calls_of
from attnconf.conformance.inference.trials.probing import Failed, attempt, found_output, norms_in, restored
from attnconf.conformance.inference.trials.proving import Proof, Prover, Reading, nearest_first, prove
from attnconf.conformance.inference.trials.slots import refuse
from attnconf.conformance.inference.trials.trial import Certificate, drawn
from attnconf.conformance.inference.weights.function_forms import functional, takes_together
from attnconf.conformance.inference.words.derived_widths import derived
from attnconf.conformance.inference.words.vocabulary import fitting, meanings
from attnconf.conformance.source.signatures import parameters_of

WHOLE = "config.hidden_dim // config.embed_dim"
TABLE = APPEARANCES["feed_forward"].sizes
SIZES = ((6, 11), (4, 10), (5, 3))  # embed_dim, hidden_dim of the trials: wider and narrower
SHAPES = ((2, 3), (3, 5), (1, 2))  # of what comes before the features


def bind(place: Place) -> Bound | Refusal:
    """Return the binding of a class or function as a feed-forward network, or what stands against it."""
    prover, kept = Prover[Text](place), dict[Any, Certificate]()
    every = texts(place, prover.failures)
    proof = prove(prover, (_readings(place, text, kept) for text in every), nearest_first)
    if proof is None:
        return prover.refusal(f"it can be neither built nor called as {place.component}")
    text = with_width(place, proof.hypothesis)
    if proof.certified == "reference":
        text = heeding(place, text, requests)
    *lines, last = told(text, place.thing)
    other = outside_the_contract(place, [*prover.ran, proof.trial])
    other = other or idle_so_far(place, proof, text, TABLE)
    one = bound(place, proof, text, [*lines, f"{last}; {other}" if other else last, *around(text)])
    aside = [*set_aside(place, text, proof.trial.certificate.requests[0].config), *_other_sorts(place, proof, kept)]
    broken = (*one.broken, *swapped(place, text.state))
    return replace(one, open_ends=(*one.open_ends, *aside), doubt=one.doubt or other, broken=broken)


def _other_sorts(place: Place, proof: Proof[Text], kept: dict[Any, Certificate]) -> Iterator[str]:
    """Yield words on what is built where a word tells another sort of network, and is none of the textbook's."""

    def trials(prover: Prover[Text], told: str) -> Proof[Text] | None:
        return prover.certified(_readings(place, text, kept) for text in texts(place, prover.failures, told))

    if proof.certified == "reference":
        yield from unlike(place, proof.hypothesis, trials)


def with_width(place: Place, text: Text) -> Text:
    """Return the text such that a hidden width that is given, and has no effect, fails where another is asked for."""
    given = [p.name for p in parameters_of(place.thing) if f"{p.name}=config.hidden_dim" in text.made.text]
    idle = [name for name in given if "hidden" in meanings(name)]
    if "hidden-ratio" not in text.declares or not idle:
        return text
    words = f"the argument `{idle[0]}` of the constructor has no effect"
    lines = (line.replace('NotImplementedError("another hidden width")', f"BrokenArgument({words!r})")
             for line in text.refusals)  # fmt: skip
    free = {name: choice for name, choice in text.declares.items() if name != "hidden-ratio"}
    return text.but(refusals=tuple(lines), declares=free)


# -- how it is asked


def _readings(place: Place, text: Text, kept: dict[Any, Certificate]) -> Iterator[Reading[Text]]:
    """Yield the conventions that a text may stand for, each with its calls."""
    declared = dict(text.declares)
    certain = declared.pop("one-gate") == "yes"
    text = text.but(declares=declared)
    gated, bias = declared["gated"] == "yes", declared["layer-bias"] == "yes"
    ratio, step = declared.get("hidden-ratio", "free"), declared.get("model-width", "free")
    for activation in activations_of(place.thing, place.name, gated):
        for which in ("gate", "up") if gated and certain else ("gate",) if gated else ("",):
            key = (activation, gated, bias, ratio, step)
            if key not in kept:
                kept[key] = Certificate("feed_forward", list(requests(*key)))
            this = text.declaring(activation=activation)
            yield Reading(this.declaring(glu_activated=which) if which else this, kept[key])


def requests(activation: str, gated: bool, bias: bool, ratio: str, step: str) -> Iterator[Request]:
    """Yield calls in several sizes."""
    for i, (embed, hidden) in enumerate(SIZES):
        embed = embed if step == "free" else (i + 1) * int(step)
        hidden = hidden if ratio == "free" else hidden_of(ratio, embed)
        config = FeedForwardConfig(embed, hidden, activation, gated, bias)
        x = drawn(f"x {embed}", *SHAPES[i], embed) * 1.5
        yield Request("feed_forward", config, weights_of(config), {"x": x}, tuple(x.shape))


def weights_of(config: FeedForwardConfig) -> dict[str, Tensor]:
    E, F = config.embed_dim, config.hidden_dim
    shapes = {"up": (F, E), "down": (E, F)} | ({"gate": (F, E)} if config.gated else {})
    weights = {f"{n}.weight": drawn(f"{n}.weight {s}", *s) / s[1] ** 0.5 * 1.4 for n, s in shapes.items()}
    return weights | ({f"{n}.bias": drawn(f"{n}.bias {s}", s[0]) for n, s in shapes.items()} if config.bias else {})


# -- what it may be


def texts(place: Place, failures: Attempts, told: str = "") -> Iterator[Text]:
    """Yield what a class or function may be, the likeliest first; where it is ``told`` something, with that alone."""
    if isinstance(place.thing, FunctionType):
        yield from functions(place)
    seen = set()
    every = list(constructions(place.name_in_text, place.thing, TABLE, place.module, part_of(place)))
    every += functional(place, TABLE) if takes_together(place.thing) else []
    every = [made for made in every if told in made.text]
    for made in sorted(every, key=lambda made: -len({"embed", "hidden", "ratio", "out", "config"} & made.given)):
        try:
            built = Built(place, made)
            found = list(built.texts()) if isinstance(built.module, nn.Module) else []
        except Failed as error:
            failures.say(f"{made.text}: {error}")
            continue
        if not isinstance(built.module, nn.Module):
            failures.say(f"{made.text} is no torch.nn.Module")
        for text in found:
            if text.draft().body not in seen:
                seen.add(text.draft().body)
                yield text


# What the weights of a function are called; those of one kind go by their order, too.
ROLES: Mapping[str, str] = {
    "gate.weight": r"w_?g|gate(_?w(eight)?)?|w_?gate|w_?i_?0|w_?1",
    "up.weight": r"w_?i_?1|w_?1|w_?3|w_?u|up(_?w(eight)?)?|w_?up|w_?in|weight_?1|w_?fc1|fc1_?w(eight)?|w_?i|a",
    "down.weight": r"w_?2|w_?d|down(_?w(eight)?)?|w_?down|w_?out|weight_?2|w_?fc2|fc2_?w(eight)?|w_?o|b",
    "up.bias": r"b_?1|up_?b(ias)?|b_?up|b_?in|bias_?1|fc1_?b(ias)?|b_?i",
    "down.bias": r"b_?2|down_?b(ias)?|b_?down|b_?out|bias_?2|fc2_?b(ias)?|b_?o",
}


def functions(place: Place) -> Iterator[Text]:
    """Yield the ways to call a function of x and of weights, as torch.nn.Linear stores them or transposed."""
    kept = []
    for flat in ("", ".T"):
        texts = {role: f'weights["{role}"]' + (flat if role.endswith("weight") else "") for role in ROLES}

        def choices(p: inspect.Parameter, at: int, texts: Mapping[str, str] = texts) -> list[str]:
            if p.default is not p.empty:
                return [""]
            known = [texts[role] for role in fitting(p.name, ROLES)]
            return ["x"] if at == 0 else [*known, *(t for t in texts.values() if t not in known)]

        kept.append(list(calls_of(place.thing, choices)))
    made = Construction(place.name_in_text)
    for arguments in (a for both in zip_longest(*kept) for a in both if a):
        biased = ".bias" in arguments
        gated = '"gate.weight"' in arguments
        if all(f'"{layer}.weight"' in arguments for layer in ("up", "down")) and not (gated and biased):
            refusals = (
                refuse("not config.gated", "a network without a gate") if gated else refuse("config.gated", "a gate")
            )
            refusals += refuse("config.dropout and config.training", "dropout")
            refusals += refuse("not config.bias" if biased else "config.bias", "biases" if not biased else "no biases")
            text = Text("feed_forward", made, "function", arguments, refusals=tuple(refusals))
            yield text.declaring(
                gated="yes" if gated else "no", layer_bias="yes" if biased else "no", one_gate="no" if gated else "yes"
            )


def part_of(place: Place) -> Callable[[str, inspect.Parameter], Sequence[str]]:
    """Return what gives expressions for a parameter that wants an activation or a norm."""

    def part(name: str, p: inspect.Parameter) -> Sequence[str]:
        if "activation" in meanings(name):
            return ('"relu"', "nn.ReLU()", "nn.ReLU", "torch.relu")
        if re.search(r"norm", name.lower()) and p.default is p.empty:
            return ("nn.LayerNorm(config.embed_dim)", "nn.LayerNorm")
        return place.part(name, p)

    return part


class Built:
    """A module that was built in the trials' first size, and what a call of it tells."""

    def __init__(self, place: Place, made: Construction):
        self.place = place
        self.embed, self.hidden = SIZES[0]
        if WHOLE in made.text:
            self.hidden = 2 * self.embed
        self.module, self.made = self._made(made, self.hidden)
        self.ratio = self.step = "free"
        widths = _sizes(self.module)
        if isinstance(self.module, nn.Module) and self.hidden not in widths and 2 * self.hidden not in widths:
            self.ratio, self.step = derived(lambda embed: self._widths_of(made, embed), self.embed)
            self.embed = self.embed if self.step == "free" else int(self.step)
            self.hidden = self.hidden if self.ratio == "free" else hidden_of(self.ratio, self.embed)
            self.module, self.made = self._made(made, self.hidden)

    def _made(self, made: Construction, hidden: int) -> tuple[Any, Construction]:
        like = {"up.weight": torch.zeros(1, dtype=torch.float64)}
        whole, module = as_module(*built(self.place, made, TABLE, FeedForwardConfig(self.embed, hidden), like))
        return module, whole

    def _widths_of(self, made: Construction, embed: int) -> set[int]:
        """Return the sizes of what is built in a width; none where that fails."""
        self.embed, before = embed, self.embed
        try:
            return _sizes(self._made(made, self.hidden)[0])
        except Failed:
            return set()
        finally:
            self.embed = before

    def texts(self) -> Iterator[Text]:
        """Yield what the module may be. Raises Failed where it cannot be called."""
        lazy = any(map(_lazy, self.module.parameters()))
        module = self.module.eval() if lazy else self.module.double().eval()
        stripped = tuple(norms_in(module))
        text = Text("feed_forward", self.made, stripped=stripped, refusals=tuple(self._refusals()))
        if lazy:
            attempt(lambda: module(torch.zeros(1, 2, self.embed, dtype=torch.float64)))
            text = text.but(first='torch.zeros(1, 2, config.embed_dim, dtype=weights["up.weight"].dtype)')
        if self.ratio != "free" or WHOLE in self.made.text:
            text = text.declaring(hidden_ratio="4" if self.ratio == "free" else self.ratio)
        if self.step != "free":
            text = text.declaring(model_width=self.step)
        where, sequence, residual = self._called(stripped)
        if sequence:
            text = text.but(arguments=f"x.{sequence}")
        after = [f"out = out.{sequence}"] if sequence else []
        after += [ADDED] if residual else []
        text = text.but(out=where, after=tuple(after))
        shapes = {name: tuple(p.shape) for name, p in self._parameters(stripped).items()}
        for network in networks(shapes, self.embed, self.hidden):
            yield self._with(text, network)

    def _with(self, text: Text, network: Network) -> Text:
        """Return the text with weights."""
        optional = "bias" in self.made.given
        state = [re.sub(r'weights\["(\w+\.bias)"\]', r'weights.get("\1")', e) if optional else e
                 for e in network.state]  # fmt: skip
        refusals = [*text.refusals]
        if network.gated:
            refusals += refuse("not config.gated", "a network without a gate")
        else:
            refusals += refuse("config.gated", "a gate")
        if network.lacking:
            refusals += refuse("config.bias", "biases in all layers")
        elif not optional:
            refusals += refuse("not config.bias", "a network without biases")
        this = text.but(state=tuple(state), refusals=tuple(refusals))
        return this.declaring(
            gated="yes" if network.gated else "no", layer_bias="no" if network.lacking else "yes",
            one_gate="yes" if network.certain else "no",
        )  # fmt: skip

    def _refusals(self) -> Iterator[str]:
        """Yield what stands before anything is built."""
        given = self.made.given
        if self.step != "free":
            yield from refuse(f"config.embed_dim % {self.step}", f"a width that is no multiple of {self.step}")
        if "dropout" not in given:
            yield from refuse("config.dropout and config.training", "dropout")
        if self.ratio != "free":
            times, _, part = self.ratio.partition("/")
            its = f"{times} * config.embed_dim" + (f" // {part}" if part else "")
            yield from refuse(f"config.hidden_dim != {its}", "another hidden width")
        elif WHOLE in self.made.text:
            yield from refuse("config.hidden_dim % config.embed_dim", "a hidden width that is no multiple of embed_dim")

    def _parameters(self, stripped: Sequence[str]) -> dict[str, Tensor]:
        found = {n: p for n, p in self.module.named_parameters() if not any(n.startswith(f"{s}.") for s in stripped)}
        used = self._used(found) if self.made.text.startswith("functional(") else {*found}
        of_used = {found[n].shape for n in used}
        return {n: p for n, p in found.items() if n in used or p.shape not in of_used}

    def _used(self, found: Mapping[str, Tensor]) -> set[str]:
        """Return the parameters that a call depends on: a dict may hold those of a whole layer."""
        x = drawn("tokens", 2, 3, self.embed)
        numbers = {n: drawn(n, *p.shape).requires_grad_() for n, p in found.items()}
        try:
            outs = [y for y in tree_leaves(called(self.module, x, numbers)) if torch.is_tensor(y) and y.requires_grad]
        except Failed:
            return {*found}
        total = torch.stack([y.sum() for y in outs]).sum() if outs else x.sum()
        grads = torch.autograd.grad(total, list(numbers.values()), allow_unused=True) if outs else ()
        return {n for n, grad in zip(numbers, grads, strict=False) if grad is not None} or {*found}

    def _called(self, stripped: Sequence[str]) -> tuple[str, str, bool]:
        """Return where the output is, how sequences are turned, and whether the input is added. Raises Failed."""
        with restored(self.module):
            return self._called_without(without(self.module, *stripped))

    def _called_without(self, bare: nn.Module) -> tuple[str, str, bool]:
        x = drawn("tokens", 2, 3, self.embed)
        errors = []
        for sequence in ("", "transpose(1, 2)"):
            given = x.transpose(1, 2) if sequence else x
            try:
                result = called(bare, given, {})
            except Failed as error:
                errors.append(str(error))
                continue
            where = found_output(result, tuple(given.shape))
            if where is None:
                errors.append(f"no output of shape {tuple(given.shape)} came back")
                continue
            silent = {n: torch.zeros_like(p) for n, p in bare.named_parameters()}
            out = eval(where, {"result": called(bare, given, silent)})
            return where, sequence, bool(torch.allclose(out, given, atol=1e-9))
        raise Failed(errors[0])


def _sizes(module: Any) -> set[int]:
    if not isinstance(module, nn.Module):
        return set()
    return {s for p in module.parameters() if not _lazy(p) for s in p.shape}


def called(module: nn.Module, x: Tensor, parameters: dict[str, Tensor]) -> Any:
    """Return what a module gives with some parameters in place of its own. Raises Failed."""
    return attempt(lambda: torch.func.functional_call(module, parameters, (x,)))


def _lazy(p: Any) -> bool:
    return isinstance(p, nn.parameter.UninitializedParameter)
