"""How the arguments of a layer or a model take masks, and which attention each is for: found by trial."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.engine.request import Implementation, Reply, Request
from attnconf.conformance.inference.masks.claims import claimed, likeliest_first, may_be, said_to_be_other
from attnconf.conformance.inference.masks.forms import FILLED, as_said
from attnconf.conformance.inference.masks.masking import UNLIKE_A_MASK
from attnconf.conformance.inference.masks.own_masks import with_own
from attnconf.conformance.inference.masks.search import unmasked
from attnconf.conformance.inference.masks.switches import without_turned_off
from attnconf.conformance.inference.texts.layer_requests import FIRST, SECOND, mask, request
from attnconf.conformance.inference.texts.layer_text import SWITCHES, LayerMask, LayerText
from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.trials.budgets import LIKELIEST
from attnconf.conformance.inference.trials.calling import telling
from attnconf.conformance.inference.trials.trial import FAILED, Certificate, all_same, reply, same, within_rounding
from attnconf.conformance.inference.words.vocabulary import INPUTS as NAMES
from attnconf.conformance.inference.words.vocabulary import meanings


@dataclass
class Search:
    """What is known of a class while its masks are looked for."""

    place: Place
    certified: str | None = "reference"  # or the id of a known mistake, or None where nothing is known to be alike

    def distance(self, text: LayerText, form: LayerMask, causal: bool, certificate: Certificate) -> float:
        """Return how far the class is from what certified it; where nothing did, whether what is hidden counts."""
        draft = text.implementation(self.place)
        if self.certified is None:
            return 0.0 if self._hides(text, form, causal, draft) else FAILED
        given = certificate.replies(draft)
        return certificate.distance(given, text.declares, "" if self.certified == "reference" else self.certified)

    def _hides(self, text: LayerText, form: LayerMask, causal: bool, draft: Implementation) -> bool:
        """Return whether the output stays as it is when tokens change that the mask hides."""
        L, S = (1, 7) if text.decodes and form.which != "self" else (6, 7)
        case = FIRST.but(L=L, S=S)
        query, key, keyword = text.known.attends[form.which]
        length = S if key in ("memory", "source") else L
        at = length - 1
        masks: dict[str, Tensor] = {}
        if not form.keys_only and not text.decodes and form.told != "flag":
            masks = {"attn_mask": torch.ones(L, L, dtype=torch.bool).tril()[None, None]}
        elif not causal:
            masks = {keyword: (torch.arange(length) < at).expand(case.B, -1)}
        always = text.declares.get("causality") == "always"
        always = always or form.told == "flag"
        one = request(text.component, text.declares, case, (2, 2), masks, always)
        x = one.inputs[key]
        other = x.clone()
        other[:, at] = x[:, 0] + 1 if x.is_floating_point() else x[:, 0]
        first, second = reply(draft, one), reply(draft, replace(one, inputs={**one.inputs, key: other}))
        if isinstance(first, Failure) or isinstance(second, Failure):
            return False
        rows = slice(0, at) if key == query else slice(None)
        return same(replace(first, out=first.out[:, rows]), replace(second, out=second.out[:, rows]))

    def standing(self, text: LayerText, form: LayerMask) -> str:
        """Return what a mask that is not right is: a known mistake, something other, or "" where it changes nothing."""
        certificate = Certificate(text.component, self.requests(text, form, False))
        bare = [replace(r, inputs=unmasked(r.inputs)) for r in certificate.requests]
        masked, unmasked_ = (t.implementation(self.place) for t in (text, text.but(masks={})))
        given = certificate.replies(masked)
        plain = Certificate(text.component, bare).replies(unmasked_)
        if all_same(given, plain):
            return ""
        return "mistake" if certificate.mistake(given, text.declares) else "other"

    def flagged(self, text: LayerText) -> LayerText:
        """Return the text with the flag for causality where that is all that causality needs."""
        candidate = text.but(flag=True)
        case = FIRST.but(L=6, S=7)
        one = request(text.component, text.declares, case, (2, 2), causal=True)
        form = LayerMask("", "flag")
        return (
            candidate
            if within_rounding(self.distance(candidate, form, True, Certificate(text.component, [one])))
            else text
        )

    def requests(self, text: LayerText, form: LayerMask, causal: bool) -> list[Request]:
        """Return calls with a mask as general as the form can be, in two sizes."""
        found = []
        general = not form.keys_only and not text.decodes
        shared = form.told.startswith("(L, S)")
        for case, layers in ((FIRST.but(L=6, S=7), (2, 2)), (SECOND, (3, 3))):
            if text.decodes and not causal and form.which != "self" and not _brings_causality(text):
                case = case.but(L=1)
            masks = {} if causal else mask(
                text.component, form.which, case, general, shared, form.told.startswith("lengths")
            )  # fmt: skip
            always = text.declares.get("causality") == "always"
            found.append(request(text.component, text.declares, case, layers, masks, always))
        return found

    def find(self, text: LayerText, names: Sequence[str], which: str, causal: bool = False) -> tuple[LayerText, float]:
        """Return the text with the form that fits arguments given one mask, else the nearest; and how near it is."""
        nearest: tuple[LayerText, float] = (text, FAILED)
        certificates: dict[str, Certificate] = {}
        ran = []
        refused: dict[str, int] = {}
        for form in _candidates(names, which, causal, text.causal_always and which == "self"):
            shape = f"{form.told.partition(') ')[0]} {form.replaces}"
            if refused.get(shape, 0) >= 3:  # in three kinds: it is the shape that is not taken
                continue
            candidate = text.but(masks={**text.masks, **dict.fromkeys(names, form)})
            key = f"{form.keys_only} {form.told[:6]} {form.told[:7] == 'lengths'}"
            if key not in certificates:
                view = _at_ids if "padded-positions" in text.declares else None
                certificates[key] = Certificate(text.component, self.requests(candidate, form, causal), view)
            certificate = certificates[key]
            distance = self.distance(candidate, form, causal, certificate)
            if within_rounding(distance):
                return candidate, distance
            refused[shape] = refused.get(shape, 0) + (distance == FAILED and self.certified is not None)
            if distance < FAILED:
                ran.append((candidate, certificate))
            if distance < nearest[1]:
                nearest = (candidate, distance)
        if self.certified == "reference":
            for candidate, certificate in ran[:LIKELIEST]:
                draft = candidate.implementation(self.place)
                if certificate.mistake(certificate.replies(draft), text.declares):
                    return candidate, nearest[1]
        return nearest


def _at_ids(given: Reply, asked: Request) -> Reply:
    """Return a reply with nothing at padding: what comes there depends on how positions are counted."""
    ids = asked.inputs.get("key_mask")
    return given if ids is None else replace(given, out=given.out * ids[..., None])


def _brings_causality(text: LayerText) -> bool:
    """Return whether a decoder is causal of its own, or by a mask or a flag that is known already."""
    masked = any(mask.which == "self" and not mask.keys_only for mask in text.masks.values())
    return text.causal_always or text.flag or masked


def _candidates(names: Sequence[str], which: str, causal: bool, replacing: bool = False) -> Iterator[LayerMask]:
    """Yield the forms, the likeliest first; at last, where it may be, such as replace a causal mask that is there."""
    hint = any(re.search(r"pad|valid|len", name.lower()) for name in names)
    forms = list(FILLED.values())
    if hint:
        forms = sorted(forms, key=lambda f: not f.keys_only)
    if which in ("memory", "source"):
        forms = sorted(forms, key=lambda f: not f.keys_only)
    for form in forms:
        if not causal or not form.keys_only:
            yield LayerMask(form.text, form.told, which, form.keys_only)
    if replacing and not hint:
        yield from (replace(form, which=which, replaces=True) for form in forms if not form.keys_only)


def with_masks(place: Place, text: LayerText, certified: str | None) -> LayerText:
    """Return the text with what its arguments for masks want."""
    search = Search(place, certified)
    if "causal" in {*text.form.roles, *text.made.given} and not text.causal_always:
        text = search.flagged(text)
    slots = [slot.name for slot in text.form.slots if slot.role in ("mask", "lengths")]
    text = text.but(masks={n: m for n, m in text.masks.items() if text.needs_mask})
    text = with_own(search, _decoding(search, text, slots)) if text.decodes else _encoding(search, text, slots)
    if certified == "reference" and not text.needs_mask:
        text = without_turned_off(place, text, search.standing, lambda form: search.requests(text, form, False))
        text = text if text.decodes else _without_idle(search, text)
    return _held(search, text, place.prescribed["mask"]) if "mask" in place.prescribed else _as_it_says(search, text)


def _as_it_says(search: Search, text: LayerText) -> LayerText:
    """Return the text with right masks in the sense that the file's words give them: another then is the mistake."""
    for name, form in text.masks.items() if search.certified == "reference" else ():
        said = as_said(form, claimed(search.place.thing, name))
        asked = Certificate(text.component, search.requests(text, form, False))
        held = text.but(masks={**text.masks, name: said})
        if said == form or not within_rounding(search.distance(text, form, False, asked)):
            continue
        if form.kind != "additive" or search.standing(held, said) in ("mistake", ""):
            text = held
    return text


def _held(search: Search, text: LayerText, wanted: str) -> LayerText:
    """Return the text with masks as they are prescribed, and with what the arguments want that do not take these."""
    for name, form in text.masks.items():
        shape = form.told.partition(") ")[0].removesuffix(")") + ")" if form.kind != "lengths" else "(B, S)"
        other = FILLED.get(f"{shape} {wanted}") if wanted != "lengths" else FILLED["lengths (B,)"]
        if form.kind == wanted or other is None:
            continue
        held = text.but(masks={**text.masks, name: replace(other, which=form.which)})
        asked = Certificate(text.component, search.requests(text, form, False))
        before, after = (asked.replies(t.implementation(search.place)) for t in (text, held))
        same = len(before) == len(after) and all_same(before, after)
        text = held if same else held.but(opposed={**text.opposed, name: form.kind})
    return text


def _encoding(search: Search, text: LayerText, slots: Sequence[str]) -> LayerText:
    known = search.certified is None or text.needs_mask
    strange = [n for n in slots if not known and not {"mask", "lengths"} & set(meanings(n, NAMES))]
    for name in [n for n in slots if n not in strange]:
        others = {n: m for n, m in text.masks.items() if n != name}
        found, distance = search.find(text.but(masks=others), [name], "self")
        if "padded-positions" in text.known.conventions and not within_rounding(distance):
            counting = text.but(masks=others, declares={**text.declares, "padded-positions": "counted"})
            again = search.find(counting, [name], "self")
            found, distance = again if within_rounding(again[1]) else (found, distance)
        switch = None if within_rounding(distance) else _switch(search, text, name)
        if switch is not None:
            text = switch
        elif within_rounding(distance) or (name not in text.masks and distance < FAILED and not others):
            text = found
    for name in [n for n in strange if not telling(n)][:LIKELIEST]:
        text = _with_strange(search, text, name)
    return text


def _without_idle(search: Search, text: LayerText) -> LayerText:
    """Return the text without masks that change nothing: that is said of each once, and no mask is asked for."""
    idle = [
        name
        for name, form in text.masks.items()
        if not text.form.named(name).required and not search.standing(text.but(masks={name: form}), form)
    ]
    return text.but(masks={name: form for name, form in text.masks.items() if name not in idle})


def _switch(search: Search, text: LayerText, name: str) -> LayerText | None:
    """Return the text where a mask makes a layer causal, whatever it holds; None where it does something else."""
    if search.certified != "reference" or text.needs_mask or "x" not in text.known.inputs:
        return None
    certificate = Certificate(text.component, [
        request(text.component, text.declares, case, (2, 2), causal=True)
        for case in (FIRST.but(L=6), SECOND)
    ])  # fmt: skip
    masks = {n: m for n, m in text.masks.items() if n != name}
    given = [text.but(form=text.form.giving(name, role), flag=True, masks=masks) for role in SWITCHES]
    same = all(within_rounding(search.distance(one, LayerMask("", "flag"), True, certificate)) for one in given)
    return given[0] if same else None


def _with_strange(search: Search, text: LayerText, name: str) -> LayerText:
    """Return the text with how an argument takes masks whose name says nothing, if it is one for masks."""
    found, distance = search.find(text.but(masks={}), [name], "self")
    form = found.masks.get(name)
    standing = "" if form is None else "right" if within_rounding(distance) else search.standing(found, form)
    if form is not None and standing in ("right", "mistake"):
        return text.but(masks={**text.masks, name: form})
    if standing == "other" and said_to_be_other(search.place.thing, name):
        return text.but(left_alone=(*text.left_alone, f"{name}: it changes the output, and is said to be no mask"))
    if standing == "other":
        return text.but(doubt=text.doubt or UNLIKE_A_MASK.format(name))
    return text.but(left_alone=(*text.left_alone, f"{name}: no mask that we know"))


def _decoding(search: Search, text: LayerText, slots: Sequence[str]) -> LayerText:
    """Return the text with the causal mask, where it has to be brought, then the masks of targets and of the memory."""
    left = list(slots)
    used: list[str] = []
    if not text.causal_always and not text.flag:
        text, used = _first_fit(search, text, likeliest_first(left, "self"), "self", causal=True)
        left = [n for n in left if n not in used]
    more = search.find(text, used, "self")[1] if used and _takes_keys(text, used) else FAILED
    if not within_rounding(more):
        text, used = _first_fit(search, text, [n for n in likeliest_first(left, "self") if may_be(n, "self")], "self")
        left = [n for n in left if n not in used]
    models = "source" in text.known.attends
    about = [n for n in left if may_be(n, "memory")]
    if models:
        return _of_models(search, text, about)
    return _first_fit(search, text, likeliest_first(about, "memory"), "memory")[0]


def _takes_keys(text: LayerText, used: Sequence[str]) -> bool:
    return any(text.masks[n].told.startswith("(B") for n in used if n in text.masks)


def _of_models(search: Search, text: LayerText, about: Sequence[str]) -> LayerText:
    """Return the text with the source's mask, for the encoder and for the memory, in one argument or in several."""
    padding = [n for n in about if re.search(r"pad|valid|len", n.lower())]
    groups = [g for g in (padding, list(about)) if len(g) > 1]
    for names in groups:
        for form in _candidates(names, "source", False):
            both = {n: "memory" if "mem" in n else "source" for n in names}
            masks = {n: replace(form, which=one) for n, one in both.items()}
            candidate = text.but(masks={**text.masks, **masks})
            certificate = Certificate(text.component, search.requests(candidate, form, False))
            if within_rounding(search.distance(candidate, form, False, certificate)):
                return candidate
    for names in ([n] for n in about):
        found, distance = search.find(text, names, "source")
        if within_rounding(distance):
            return found
    if about:
        found, distance = search.find(text, about[:1], "source")
        return found if distance < FAILED else text
    return text


def _first_fit(
    search: Search, text: LayerText, names: Sequence[str], which: str, causal: bool = False
) -> tuple[LayerText, list[str]]:
    """Return the text with the first argument that a mask fits, and that argument; the nearest where none fits."""
    best: tuple[LayerText, float, list[str]] = (text, FAILED, [])
    for name in names:
        found, distance = search.find(text, [name], which, causal)
        if within_rounding(distance):
            return found, [name]
        if distance < best[1]:
            best = (found, distance, [name])
    return best[0], best[2]
