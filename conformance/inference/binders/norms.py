"""Bind a class or function as layer_norm or rms_norm."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache

import torch
from torch import Tensor, nn

from attnconf.adapters.contract import CONVENTIONS
from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.engine.request import Reply, Request
from attnconf.conformance.engine.translations.layers import eps_in_code
from attnconf.conformance.inference.building.building import tensors_of
from attnconf.conformance.inference.building.construction import build
from attnconf.conformance.inference.drafts.texts import Text, bound, told
from attnconf.conformance.inference.small.norm_texts import WIDTHS, Kind, has_eps, refusals, texts, without_bias
from attnconf.conformance.inference.trials.binding import Bound, Place, Refusal
from attnconf.conformance.inference.trials.claims import claims_one_more
from attnconf.conformance.inference.trials.probing import Failed
from attnconf.conformance.inference.trials.proving import Prover, Reading, Trial, holds, nearest_first, prove
from attnconf.conformance.inference.trials.trial import Certificate, drawn, reply
from attnconf.conformance.source.signatures import parameters_of

# What a layer norm may divide by besides what the paper says: what The Annotated Transformer does, with either
# variance. The unbiased one with ε inside follows nobody, and whoever means it declares it. Of an RMS norm, what the
# PyTorch code of its authors does.
OTHER_DIVISORS: Mapping[str, list[dict[str, str]]] = {
    "layer_norm": [{"layer-norm-variance": "unbiased", "layer-norm-eps": "outside"}, {"layer-norm-eps": "outside"}],
    "rms_norm": [{"rms-norm-eps": "outside"}],
}

# F.normalize times √D with the ε that it is given. As small as people give it, it keeps zeros from 0/0 and no more.
FLOOR = "RMS-eps-as-floor"
AS_A_FLOOR = "its ε is a floor under the root mean square, as in F.normalize, and is added to nothing"


def bind(place: Place) -> Bound | Refusal:
    """Return the binding of a class or function as a norm, or what stands against it."""
    kind = Kind(place.component)
    prover = Prover[Text](place)

    @cache
    def certificate(eps: float, bias: bool) -> Certificate:
        return Certificate(kind.component, list(requests(kind, eps, bias)))

    proposals = (readings(place, text, kind, certificate) for text in texts(place, kind, prover.failures))
    proof = prove(prover, proposals, plain_first)
    if proof is None:
        return prover.refusal(f"it can be neither built nor called as {place.component}")
    text = proof.hypothesis
    if proof.certified:
        text = _with_dtype(place, _with_cast(place, _with_axes(place, text, kind), kind), kind)
    one = bound(place, proof, text, told(text, place.thing))
    if proof.certified == FLOOR and _has_a_floor(place, text, kind):
        one = replace(one, doubt=AS_A_FLOOR)
    return replace(one, open_ends=(*one.open_ends, *_unregistered(place, text, kind)))


# -- how it is asked


def readings(place: Place, text: Text, kind: Kind, certificate: Callable[..., Certificate]) -> Iterator[Reading[Text]]:
    """Yield the conventions that a text may stand for, each with its calls."""
    fixed = "config.eps" not in text.made.text + " ".join(text.made.before) + text.arguments
    if fixed and has_eps(place.thing):  # left at its default, although it is there to be set
        return
    bias = text.declares.get("layer-bias") != "no"
    for eps in CONVENTIONS["eps"][1:] if fixed else ("",):
        this = text.declaring(eps=eps) if fixed else text
        judge = certificate(eps_in_code(eps, torch.float64) if fixed else 0.0, bias)
        for divided in ({}, *(OTHER_DIVISORS[kind.component] if eps != "dtype" else ())):
            declared = this.but(declares={**this.declares, **divided})
            yield Reading(declared, judge)
            may_add = text.state and not (kind.layer and begins_at_one(place, text, kind))
            if may_add or (not text.state and claims_one_more(place.thing)):
                weight = {f"{'layer' if kind.layer else 'rms'}_norm_weight": "one-plus"}
                yield Reading(declared.declaring(**weight), judge)


def plain_first(trials: Sequence[Trial[Text]]) -> Sequence[Trial[Text]]:
    """Return the nearest trials, first of them those that add nothing to the weight of a layer norm.

    A shift that is taken for the gain begins at 0 as well, and would crowd out the reading in which a mistake is known.
    """
    plain = [trial for trial in trials if "layer-norm-weight" not in trial.hypothesis.declares]
    others = [trial for trial in trials if "layer-norm-weight" in trial.hypothesis.declares]
    return [*(nearest_first(plain) if plain else ()), *(nearest_first(others) if others else ())]


def begins_at_one(place: Place, text: Text, kind: Kind) -> bool:
    """Return whether the gain of something freshly made is 1: whoever adds 1 to it as well doubles its output."""
    try:
        there = tensors_of(build(place, text.made, kind.config((WIDTHS[0],))))
    except Failed:
        return False
    gain = there.get(text.state[0].split('"')[1])
    return gain is not None and bool((gain == 1).all())


def requests(kind: Kind, eps: float, bias: bool) -> Iterator[Request]:
    """Yield calls on rows of several sizes, among them such as show where ε is; with its own ε if it has one."""
    for i, width in enumerate(WIDTHS):
        lead = ((2, 3), (3, 4))[i]
        x = drawn(f"x {width}", *lead, width) + drawn(f"mean {width}", *lead, 1)
        small = torch.tensor([1.0, 1e-2, 1e-3, 1e-4, 1e-6, 1e-10])[: lead[0] * lead[1]].double()
        rows = torch.ones(lead[0] * lead[1]).double()
        rows[: len(small)] = small if eps else 1.0
        config = kind.config((width,), eps or (0.1, 1e-5)[i], bias)
        yield Request(
            kind.component, config, kind.weights((width,), bias), {"x": x * rows.reshape(*lead, 1)}, tuple(x.shape)
        )


# -- what is looked for once the rest is known


def _with_axes(place: Place, text: Text, kind: Kind) -> Text:
    """Return the text for several axes, where a class takes them: by what it says, else by what it does."""
    narrow = "config.shape[-1]"
    if not kind.layer or narrow not in text.made.text or not isinstance(place.thing, type):
        return text
    made = replace(text.made, text=text.made.text.replace(narrow, "config.shape"))
    bias = text.declares.get("layer-bias") != "no"
    wide = text.but(made=made, refusals=tuple(refusals(made, kind, bias)))
    wide = wide if bias else without_bias(wide)
    if says_several(place, text, kind):
        return wide
    shape = (3, 5)
    x = drawn("x with axes", 2, *shape)
    asked = Request(kind.component, kind.config(shape, 0.1, bias), kind.weights(shape, bias), {"x": x}, tuple(x.shape))
    return wide if holds(place, wide, [asked]) else text


def _has_a_floor(place: Place, text: Text, kind: Kind) -> bool:
    """Return whether ε is a floor under the root mean square, on rows below it too: above it none does the same."""
    x = drawn("x below a floor", 2, 3, WIDTHS[0]) * torch.tensor([0.1, 0.5, 4.0]).double()[:, None]
    width = (WIDTHS[0],)
    asked = Request(kind.component, kind.config(width, 1.0), kind.weights(width), {"x": x}, tuple(x.shape))
    return holds(place, text, [asked], FLOOR)


def _unregistered(place: Place, text: Text, kind: Kind) -> tuple[str, ...]:
    """Return words on tensors of a module that are as wide as its gain, and neither parameters nor buffers."""
    width = WIDTHS[0]
    try:
        thing = build(place, text.made, kind.config((width,)))
    except Failed:
        return ()
    held = vars(thing).items() if text.kind == "module" and isinstance(thing, nn.Module) else ()
    names = [name for name, x in held if isinstance(x, Tensor) and x.is_floating_point() and x.numel() == width]
    return tuple(f"`{name}` is a tensor and no parameter: it is not trained" for name in names)


def says_several(place: Place, text: Text, kind: Kind) -> bool:
    """Return whether a class makes a sequence of a number, or an annotation has one: it means several axes."""
    given = (p for p in parameters_of(place.thing) if f"{p.name}=config.shape[-1]" in text.made.text)
    name = next(given, None)
    if name is not None and any(
        w in str(name.annotation).lower() for w in ("sequence", "tuple", "list", "size", "iterable")
    ):
        return True
    try:
        thing = build(place, text.made, kind.config((WIDTHS[0],)))
    except Failed:
        return False
    held = [v for v in vars(thing).values() if isinstance(v, tuple | list)]
    return any(list(v) == [WIDTHS[0]] for v in held)


def _with_cast(place: Place, text: Text, kind: Kind) -> Text:
    """Return the text with where it casts in half precision: where nearly all elements are as if there."""
    if kind.layer:
        return text
    width = 64
    x, weight = drawn("x to cast", 4, width).bfloat16(), drawn("gain to cast", width).bfloat16()
    eps = eps_in_code(text.declares.get("eps", "1e-05"), x.dtype)
    asked = Request(kind.component, kind.config((width,), eps), {"weight": weight}, {"x": x}, tuple(x.shape))
    certificate = Certificate(kind.component, [asked])
    given = certificate.replies(text.implementation(place))[0]
    alike = {}
    for order in CONVENTIONS["rms-norm-cast"]:
        want = certificate.wanted(text.declaring(rms_norm_cast=order).declares)[0]
        if isinstance(given, Failure) or isinstance(want, Failure) or not isinstance(want, Reply):
            return text
        alike[order] = float((given.out == want.out).double().mean())
    order = max(alike, key=alike.__getitem__)
    return text.declaring(rms_norm_cast=order) if alike[order] > 0.98 else text


def _with_dtype(place: Place, text: Text, kind: Kind) -> Text:
    """Return the text with what it gives in float64: float32, as it does of anything, or what came in."""
    asked = next(requests(kind, 1.0, text.declares.get("layer-bias") != "no"))
    given = reply(text.implementation(place), asked)
    single = isinstance(given, Reply) and given.out.dtype == torch.float32
    return text.declaring(norm_dtype="float32") if single else text
