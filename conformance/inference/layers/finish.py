"""What is looked for once a layer is bound: its ε, the other order of its norms, what it drops, and words on it all."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import partial

import torch
from torch import Tensor

from attnconf.adapters.contract import COMPONENTS, CONVENTIONS
from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.engine.request import Request
from attnconf.conformance.engine.translate import in_conventions
from attnconf.conformance.inference.attention.finish import remarks
from attnconf.conformance.inference.attention.flags import defaults_of
from attnconf.conformance.inference.building.building import run, space_for
from attnconf.conformance.inference.layers.state import uncovered
from attnconf.conformance.inference.texts.layer_requests import FIRST, plain_requests, request
from attnconf.conformance.inference.texts.layer_sides import sides_of
from attnconf.conformance.inference.texts.layer_text import SWITCHES, LayerText
from attnconf.conformance.inference.texts.layer_units import Unit, norm_entries
from attnconf.conformance.inference.trials.angles import shown
from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.trials.calling import ABOUT_CAUSALITY, Slot, either, parameters, says_nothing
from attnconf.conformance.inference.trials.probing import Failed, attempt
from attnconf.conformance.inference.trials.trial import FAILED, Certificate, gap, reply, same, textbook, within_rounding
from attnconf.conformance.inference.words.vocabulary import SIZES, meanings
from attnconf.conformance.source.signatures import parameters_of
from attnconf.conformance.worker.bodies import names

# -- which ε stands in its code: on rows of the usual size 1e-5 and none differ by less than a root in float32 is off

WRITTEN = [eps for eps in CONVENTIONS["eps"] if eps not in ("free", "dtype")]
NONE, LEAST = "0", min(WRITTEN, key=float)
LESS = (f"ε: less than {LEAST}, or none; it is read as {LEAST}",)
SMALL = (3e-3, 1e-5)  # what tokens are multiplied by: variances at which 1e-5, and at which 1e-12, are seen
OUTPUTS = r"(.*\.)?(attn|self|cross)\.out\.(weight|bias)"


def with_its_eps(place: Place, text: LayerText) -> dict[str, str]:
    """Return what a text declares, with the ε that explains best what comes out of small rows: its own, another, NONE.

    Where none does in the place that is declared, inside the root or outside, it is looked for in the other one.
    """
    declares, known = dict(text.declares), COMPONENTS[place.component]
    if not known.layered:
        return declares
    if "eps" in declares and known.reads_ids:
        return _clearly_nearer(place, text)
    given = reply(text.implementation(place), _small(text, declares))
    if isinstance(given, Failure):
        return declares

    def off(reading: Mapping[str, str]) -> float:
        return gap(given, reply(in_conventions(textbook(), reading), _small(text, reading)))

    here = min(_with_each(declares), key=off)
    if within_rounding(off(here)):
        return here
    there = min(_with_each(_elsewhere(declares)), key=off)
    return there if within_rounding(off(there)) else here


def _clearly_nearer(place: Place, text: LayerText) -> dict[str, str]:
    """Return what is declared with the ε that is ten times nearer than its own; ids give no small rows, but float64."""
    asked = plain_requests(text)[0]
    given = reply(text.implementation(place), asked)
    if isinstance(given, Failure):
        return dict(text.declares)

    def off(reading: Mapping[str, str]) -> float:
        config = replace(asked.config, eps=float(reading["eps"]))
        return gap(given, reply(in_conventions(textbook(), reading), replace(asked, config=config)))

    own, *others = _with_each(text.declares)
    nearest = min(others, key=off)
    return nearest if 10 * off(nearest) < off(own) else own


def _with_each(declares: Mapping[str, str]) -> list[dict[str, str]]:
    """Return conventions with each ε that may stand in the code, their own first; as they are where it is given."""
    own = declares.get("eps")
    every = dict.fromkeys((own, *WRITTEN, NONE)) if own else ()
    return [{**declares, "eps": eps} for eps in every] or [dict(declares)]


def _elsewhere(declares: Mapping[str, str]) -> dict[str, str]:
    """Return conventions with ε on the other side of the root; beside an unbiased variance nobody has it inside."""
    name = f"{declares['norm-kind']}-norm-eps"
    if name not in declares:
        return {**declares, name: "outside"}
    kept = declares.get("layer-norm-variance") == "unbiased"
    return {other: choice for other, choice in declares.items() if kept or other != name}


def other_eps(declares: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return that another ε than the one in the code is not there."""
    if "eps" not in declares:
        return []
    eps = float(declares["eps"])
    return [(f"config.eps != {eps}", f"another ε than {eps}, which is in its code")]


def _small(text: LayerText, declares: Mapping[str, str]) -> Request:
    """Return a call on small rows, to which attention adds nothing: nothing large stands before the next norm.

    Its ε is the one that is declared, or a large one, which counts beside the rows of ids as well.
    """
    causal = text.declares.get("causality") == "always"
    short = FIRST.but(L=1) if text.decodes and not text.causal_always and text.may_be_masked else FIRST
    asked = request(text.component, {**text.declares, "eps": LEAST}, short, (2, 2), causal=causal)
    weights = {n: torch.zeros_like(w) if re.fullmatch(OUTPUTS, n) else w for n, w in asked.weights.items()}
    inputs = {name: _shrunk(x) for name, x in asked.inputs.items()}
    config = replace(asked.config, eps=float(declares.get("eps", 0.1)))
    return replace(asked, config=config, weights=weights, inputs=inputs)


def _shrunk(x: Tensor) -> Tensor:
    """Return vectors of tokens, each sample's in another size."""
    factors = torch.tensor([SMALL[i % len(SMALL)] for i in range(x.shape[0])], dtype=x.dtype)
    return x * factors[:, None, None] if x.is_floating_point() and x.ndim > 2 else x


# -- an argument for the norms' order, of a stack that ends in a norm only where they come first

COMPUTES = "where it is True, computes something else than layers whose norms come first and a norm behind them"


@dataclass(frozen=True)
class OtherOrder:
    """What is known of a class whose norms come first, where by default they do not."""

    alike: bool  # it has the same parameters in both orders
    told: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()


def other_order(place: Place, text: LayerText) -> OtherOrder:
    """Return whether a class computes the same of its parameters in both orders, and else what it does in the other."""
    config = replace(plain_requests(text)[0].config, norm_first=False)
    try:
        there, then = (_parameters(place, text, replace(config, norm_first=first)) for first in (False, True))
    except Failed:
        return OtherOrder(True)
    alike, name = there.keys() == then.keys(), _argument(text)
    lasts = [side.last for side in sides_of(text.component, (2, 2)) if side.last]
    groups = _idle_norms(text, then) if alike else _groups([n for n in then if n not in there])
    if not (len(groups) == len(lasts) > 0 and _are_norms(groups, then)) or there.keys() - then.keys():
        return OtherOrder(alike, () if alike else (f"{name}=True: it has other parameters then, and is not judged",))
    entries = [
        f'"{n}": weights["{last}.{kind}"]'
        for own, last in zip(groups, lasts, strict=True)
        for n, kind in norm_entries(Unit("norm", tuple(own)), then).items()
    ]
    first = {**text.declares, "norm-order": "pre", "final-norm": "always"}
    masks = {name: mask for name, mask in text.masks.items() if text.needs_mask}
    whole = text.but(entries=(*text.entries, *entries), masks=masks, declares=first)
    certificate = Certificate(text.component, plain_requests(whole))
    given = certificate.replies(whole.implementation(place))
    if certificate.agrees(given, first):
        return OtherOrder(False, (f"{name}=True: equal to the textbook, with a norm behind the last layer",))
    if alike:
        return OtherOrder(True)
    if certificate.distance(given, first) == FAILED:
        return OtherOrder(False, (f"{name}=True: it does not run so",))
    mistake = certificate.mistake(given, first)
    words = f"the argument `{name}` of the constructor, {COMPUTES}"
    return OtherOrder(False, (), (f"{words}: {mistake.story}" if mistake else words,))


def _idle_norms(text: LayerText, parameters: Mapping[str, Tensor]) -> list[list[str]]:
    """Return what may be norms that no entry gives weights: of what is embedded, or behind the last layer."""
    left = _groups(uncovered(text.entries, text.stacks, parameters))
    return [own for own in left if _are_norms([own], parameters)]


def _are_norms(groups: Sequence[Sequence[str]], parameters: Mapping[str, Tensor]) -> bool:
    return all(len(own) <= 2 and parameters[n].shape == (FIRST.width,) for own in groups for n in own)


def _parameters(place: Place, text: LayerText, config: object) -> dict[str, Tensor]:
    """Return the parameters of a class for a configuration. Raises Failed."""
    like = {"": torch.zeros(1, dtype=torch.float64)}
    space = {**names(place.module), **space_for(config, place.module, weights=like)}
    return dict(attempt(partial(run, text.made, space)).named_parameters())


def _argument(text: LayerText) -> str:
    found = re.search(r"""(\w+)["']?\]? ?[=:] ?config\.norm_first""", text.made.text)
    return found[1] if found else "norm_first"


def _groups(parameters: Sequence[str]) -> list[list[str]]:
    """Return names of parameters by their modules, in order."""
    found: dict[str, list[str]] = {}
    for name in parameters:
        found.setdefault(name.rpartition(".")[0], []).append(name)
    return list(found.values())


# -- what is dropped in training that nobody can choose: depth, or with a probability in the code

PARTS = r"path|layers?|heads?|tokens?|blocks?|connect"
OTHER = rf"(stochastic_?depth|layer_?drop(?!_?out)|drop_?({PARTS}))(_?(rate|prob\w*|p))?"
WORDS = "training in which nothing is dropped"
DRAWS = 32  # calls in training: a layer of two samples is dropped rarely


def with_dropping(place: Place, text: LayerText, asked: Request) -> LayerText:
    """Return the text, which refuses training where something is dropped then that no argument is for.

    ``asked``: a call without dropout. What drops in evaluation too, or more than its argument for dropout says, is
    wrong, and no such text.
    """
    chosen = "dropout" in text.made.given and "dropping(" not in text.made.text  # else functions may drop besides
    if not hasattr(asked.config, "training") or (chosen and not any(_other_dropping(place))):
        return text
    implementation = text.implementation(place)
    training = replace(asked.config, training=True)
    still = [reply(implementation, asked.asked(seed=seed)) for seed in (0, 1)]
    if any(isinstance(r, Failure) for r in still) or gap(*still):
        return text
    drawn = (reply(implementation, asked.asked(config=training, seed=seed)) for seed in range(DRAWS))
    ran = (r for r in drawn if not isinstance(r, Failure))
    first = next(ran, still[0])
    if all(same(r, first) for r in ran):
        return text  # what is always other in training drops nothing: it is wrong, in training
    return text.but(refusals=(*text.refusals, ("config.training", WORDS)))


def _other_dropping(place: Place) -> Iterator[str]:
    """Yield the options of a file's constructors and configurations that drop something else."""
    for thing in vars(place.module).values():
        if isinstance(thing, type) and thing.__module__ == place.module.__name__:
            names = [f.name for f in fields(thing)] if is_dataclass(thing) else [p.name for p in parameters_of(thing)]
            yield from (name for name in names if re.fullmatch(OTHER, name))


# -- for people


def switches(text: LayerText) -> Iterator[str]:
    """Yield a word on each argument for masks of which nothing but its presence counts."""
    for slot in text.form.slots:
        if slot.role in SWITCHES:
            yield f"whatever mask is given to `{slot.name}`, it is causal; no other mask can be asked for"


def unturned(place: Place, text: LayerText) -> Iterator[str]:
    """Yield a word on each flag that is left as it is and may be for causality, or for whatever else."""
    left = [slot.name for slot in text.form.of("causal") if not (text.flag or slot.required)]
    for p in parameters(place.thing):
        if p.name in left or (isinstance(p.default, bool) and says_nothing(p.name)):
            yield f"{p.name}={p.default}: what it does otherwise is not judged"
    for name, default in defaults_of(place.thing).items():
        about = ABOUT_CAUSALITY & set(meanings(name, SIZES)) or either(name)
        if about and isinstance(default, bool) and f"{name}=" not in text.made.text:
            yield f"{name}={default}: what it does otherwise is not judged"


def _given(text: LayerText, slot: Slot) -> str | None:
    """Return what an argument gets, for people; None where it is left at its default."""
    idle = slot.name not in text.masks if slot.role == "mask" else slot.role == "causal" and not text.flag
    return None if idle and not slot.required else shown(slot)


def told(text: LayerText) -> tuple[str, ...]:
    """Return the binding in three lines, for people."""
    shown = re.sub(r"\btheirs\.|\bconfig\.", "", text.made.text)
    own = {name: ", in place of its own" if mask.replaces else "" for name, mask in text.masks.items()}
    masks = "; ".join(f"{name} {mask.told}{own[name]}" for name, mask in text.masks.items()) or "no masks"
    entries = [*text.entries, *(e for stack in text.stacks for e in stack.entries)]
    weights = "; ".join(entries[:3]) + ("; …" if len(entries) > 3 else "")
    passed = "; what it embeds is not judged" if "handed(" in text.made.text else ""
    before = re.sub(r"\btheirs\.|\bconfig\.", "", "; ".join(text.made.before))
    return (
        f"constructor  {shown}" + (f", after {before}" if before else ""),
        f"forward      ({text.form.text(partial(_given, text))}) -> {text.out}"
        + (", sequence first" if text.sequence_first else "")
        + passed,
        f"weights      {weights or 'none: it has no parameters of its own'}; {masks}",
        *remarks(text),
    )
