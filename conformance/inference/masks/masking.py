"""How an argument takes a mask: its shape, its dtype and what True or 1 means in it, found by trial."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from torch import Tensor

from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.engine.request import Reply
from attnconf.conformance.inference.masks.biases import (
    BIAS,
    MASKS,
    biased,
    refuses,
    two_valued,
    with_bias_apart,
    wrongly_added,
)
from attnconf.conformance.inference.masks.claims import claimed, said, said_to_be_other
from attnconf.conformance.inference.masks.forms import ADDED, ONE, mask_forms
from attnconf.conformance.inference.masks.returned import Requests, with_weights
from attnconf.conformance.inference.masks.search import Search, Trial
from attnconf.conformance.inference.masks.shared_biases import OF_ANOTHER
from attnconf.conformance.inference.texts.attention_text import AttentionText, MaskForm
from attnconf.conformance.inference.texts.layer_forms import about_memory
from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.trials.budgets import LIKELIEST
from attnconf.conformance.inference.trials.calling import Form, parameters, says_nothing
from attnconf.conformance.inference.trials.trial import (
    FAILED,
    gap,
    reply,
    same_numbers,
    why,
)
from attnconf.conformance.inference.words.vocabulary import INPUTS, SIZES, meanings

NOBODYS = "the rows of what it hides are its own, and no requirement is about them"
UNLIKE_A_MASK = "{} takes a mask and changes the output, and is neither right nor a known mistake"


def with_masks(
    place: Place, text: AttentionText, sizes: Any, request: Requests, certified: str | None
) -> AttentionText:
    """Return the text with what its arguments for masks want, and with the weights that come back.

    ``certified``: by what the rest is; a known mistake is what the masks have to go with. Where it is certified, what
    an argument is for whose name says nothing is told by what it does.
    """
    search = Search(place, sizes, request, "" if certified in (None, "reference") else str(certified))
    strange = _strange(place, text) if certified else []
    if text.needs_mask and certified and not any(text.form.named(name).required for name in text.masks):
        text = _insisted_on(search, text) if certified == "reference" else text.but(needs_mask=False)
    named = [slot.name for slot in text.form.slots if slot.role in ("mask", "lengths") and slot.name not in strange]
    named = [name for name in named if not _of_something_else(text, name)]
    of_tokens = [name for name in named if not about_memory(name)]
    named = of_tokens if text.self_only and of_tokens else named  # where there is no memory, nothing of it is hidden
    for name in sorted(named, key=_late):
        wanted = place.prescribed.get("mask", "")
        found, standing = _with_argument(search, text, name, wanted)
        if wanted and standing != "right":
            found = _opposed(search, text, name, found)
        elif standing == "right" and not wanted:
            found = _as_it_says(search, text, name, found, claimed)
        hides = standing == "mistake" and text.masks and search.hides(text, found, name)
        if standing != "right" and (own := _of_itself(search, text, found, name)) is not None:
            text = own
            continue
        if standing in ("right", "aside") or not text.masks or hides:
            text = found
    for name in strange[:LIKELIEST]:
        text = _with_strange(search, text, name)
    text = with_bias_apart(search, text) if certified == "reference" else text
    return with_weights(place, text, sizes, request, search.mistake)


def _insisted_on(search: Search, text: AttentionText) -> AttentionText:
    """Return the text with a word on a mask that has to be there though it has a default: that default has to do."""
    (name, *_), bare = text.masks, text.but(needs_mask=False, masks={})
    failed = reply(bare.implementation(search.place), search.request(bare, search.sizes[0], 2, 4, 4, {}))
    if not isinstance(failed, Failure) or not failed.at:
        return text.but(needs_mask=False)
    return text.but(idle=(*text.idle, f"the argument `{name}` of forward cannot be left at its default: {why(failed)}"))


def _late(name: str) -> tuple[bool, bool]:
    """Return how late an argument is looked at: that of a memory first, and what is called a mask and no more."""
    return not about_memory(name), not re.fullmatch(r"(attn|attention|src|self)?_?mask", name)


def _of_itself(search: Search, text: AttentionText, found: AttentionText, name: str) -> AttentionText | None:
    """Return the text with a mask of tokens among themselves, which hides nothing of a memory; None where it is none.

    It is one table for all samples, as that of the order of tokens is; padding would have to be hidden of a memory,
    unless another argument is for that.
    """
    memory = [slot for slot in text.form.slots if slot.role == "memory"]
    if not memory or memory[0].required or (name in found.masks and search.hides(text, found, name)):
        return None
    itself = text.but(form=Form(tuple(slot for slot in text.form.slots if slot.role != "memory")))
    searching = replace(search, made={})
    alone, standing = _with_argument(searching, itself, name, "")
    if standing == "mistake" and name not in found.masks:  # no check asks for masks without the memory
        trial = searching.tried(itself, name, alone.masks[name], searching.certificate(itself, alone.masks[name]))
        known = trial.certificate.mistake(trial.given, trial.declares)
        words = f"the argument `{name}` of forward is broken: {known.story}" if known else ""
        return text.but(idle=(*text.idle, words)) if words else None
    if standing != "right":
        return None
    masks = {**text.masks, name: alone.masks[name]}
    if any(about_memory(other) and mask.keys_only for other, mask in text.masks.items()):
        return text.but(masks=masks, own_masks=(*text.own_masks, name))
    if not alone.masks[name].for_all_samples or alone.masks[name].keys_only:
        return None
    does = "it hides nothing" if name in found.masks else "none is taken"
    aside = f"{name}: of tokens among themselves; of a memory {does}"
    return text.but(masks=masks, masks_of_itself=True, left_alone=(*text.left_alone, aside))


def _of_something_else(text: AttentionText, name: str) -> bool:
    """Return whether an option that was taken for a mask, as the only one, says that it is a size: ``window``."""
    return not text.form.named(name).required and not meanings(name, INPUTS) and bool(meanings(name, SIZES))


def _as_it_says(
    search: Search, text: AttentionText, name: str, found: AttentionText, claim: Callable[[Any, str], str]
) -> AttentionText:
    """Return the text with masks that mean what the file says of them, where they do the opposite."""
    says, (kind, _, does) = claim(search.place.thing, name), found.masks[name].kind.partition("-")
    if says and kind == "additive":  # 1 - mask times next to nothing takes what is added, and hides nothing
        held, standing = _with_argument(search, text, name, f"1-{says}")
        return held if standing == "mistake" else found
    if not says or not does or does == says:
        return found
    held, standing = _with_argument(search, text, name, f"{kind}-{says}")
    return held if standing else found


def _opposed(search: Search, text: AttentionText, name: str, held: AttentionText) -> AttentionText:
    """Return the text with what an argument wants that does not take masks as is prescribed."""
    free, standing = _with_argument(search, text, name, "")
    return held.but(opposed={**held.opposed, name: free.masks[name].kind}) if standing == "right" else held


def _strange(place: Place, text: AttentionText) -> list[str]:
    """Return the arguments that may take a mask though their names say nothing of one."""
    roles = {slot.name: slot.role for slot in text.form.slots}
    return [
        p.name
        for p in parameters(place.thing)
        if says_nothing(p.name)
        and not any(words.startswith(f"{p.name}=None: {OF_ANOTHER}") for words in text.left_alone)
        and (roles[p.name] == "mask" if p.name in roles else p.default is None and p.kind is not p.POSITIONAL_ONLY)
    ]


def _with_strange(search: Search, text: AttentionText, name: str) -> AttentionText:
    """Return the text with how an argument takes masks whose name says nothing, if it is one for masks."""
    required = any(slot.name == name and slot.required for slot in text.form.slots)
    asked = text.but(form=text.form.giving(name, "mask"))
    found, standing = _with_argument(search, asked, name, search.place.prescribed.get("mask", ""), True)
    second = standing == "right" and found.masks[name].additive and any(m.additive for m in text.masks.values())
    if standing in ("right", "mistake") and not second:  # a bias is added once
        prescribed = "mask" in search.place.prescribed
        return found if standing == "mistake" or prescribed else _as_it_says(search, asked, name, found, said)
    if standing == "other" and said_to_be_other(search.place.thing, name):
        return text.but(left_alone=(*text.left_alone, f"{name}: it changes the output, and is said to be no mask"))
    if standing == "other":
        return text.but(doubt=text.doubt or UNLIKE_A_MASK.format(name))
    shown = name if required else f"{name}=None"
    what = "another bias" if second else "no mask that we know"
    return text.but(left_alone=(*text.left_alone, f"{shown}: {what}"))


def _with_argument(
    search: Search, text: AttentionText, name: str, wanted: str, strange: bool = False
) -> tuple[AttentionText, str]:
    """Return the text with how one argument takes masks, and what certifies it: it is right, or a mistake, or other.

    ``wanted``: what the values are prescribed to mean.

    Else it is what a known mistake certifies, else what runs. Where a flag makes attention causal, first what is right
    together with the flag. ``strange``: it may be no mask, and what changes nothing is none.
    """
    ran: list[Trial] = []
    alone: list[Trial] = []  # right without the flag
    for form in mask_forms(text):
        if wanted and form.kind != wanted:
            continue
        trial = search.tried(text, name, form, search.certificate(text, form))
        if trial.right:
            form = two_valued(search, text, name, biased(search, text, name, _widened(search, text, name, form)))
            if not text.flagged:
                return text.but(masks={**text.masks, name: form}), "right"
            both = search.tried(text, name, form, search.certificate(text, form, causal=True))
            if both.right:
                return text.but(masks={**text.masks, name: form}), "right"
            alone.append(replace(trial, form=form, exclusive=refuses(both.given[-1])))
        elif trial.distance < FAILED and not any(_twins(trial, t) for t in ran if t.flat == trial.flat):
            ran.append(trial)
    if not (alone or wanted) and (form_of_numbers := wrongly_added(search, text, name, mask_forms(text))):
        return text.but(masks={**text.masks, name: form_of_numbers}), "mistake"
    ran = [t for t in ran if search.changed(text, name, t)] if strange else ran
    if text.form.named(name).role == "lengths":  # as it is called so
        ran = [t for t in ran if t.form.kind == "lengths"] or ran
    if text.self_only and (apart := next(filter(_but_for_the_hidden, ran), None)):
        return _not_asked_for(text, name, apart.form), "aside"
    flat, full = ([t for t in ran if t.flat == one] for one in (True, False))
    nearest = sorted(full, key=lambda t: t.distance)[:LIKELIEST]
    last = sorted(flat, key=lambda t: t.distance)[:LIKELIEST]  # samples times heads need a proof
    widest = [t for t in ran if t in nearest] + last
    mistaken = (t for t in widest if t.certificate.mistake(t.given, t.declares))
    together = sorted(alone, key=lambda t: t.exclusive)[:1]
    by_standing = {"right": iter(together), "mistake": mistaken, "other": iter(nearest)}
    for standing, trials in by_standing.items():
        if (chosen := next(trials, None)) is not None:
            refused = (*MASKS, BIAS) if chosen.exclusive else text.exclusive
            return text.but(masks={**text.masks, name: chosen.form}, exclusive=refused), standing
    return text, ""


def _not_asked_for(text: AttentionText, name: str, form: MaskForm) -> AttentionText:
    """Return the text with an argument left alone; one that has to be given hides nothing."""
    alone = text.but(left_alone=(*text.left_alone, f"{name}: {NOBODYS}"))
    if not text.form.named(name).required:
        return alone
    return alone.but(masks={**text.masks, name: form}, hiding_nothing=(*text.hiding_nothing, name))


def _but_for_the_hidden(trial: Trial) -> bool:
    """Return whether all is right under masks of keys, but the rows of tokens that are hidden themselves."""
    wanted = trial.certificate.wanted(trial.declares)
    if not trial.form.keys_only or len(trial.given) != len(wanted):
        return False
    pairs = zip(trial.certificate.requests, trial.given, wanted, strict=True)
    return all(_same_where_seen(given, want, r.inputs["key_mask"]) for r, given, want in pairs)


def _same_where_seen(given: Any, want: Any, mask: Tensor) -> bool:
    if not (isinstance(given, Reply) and isinstance(want, Reply) and given.out.isfinite().all()):
        return False
    return same_numbers(given.out[mask], want.out[mask])


def _twins(one: Trial, other: Trial) -> bool:
    """Return whether two forms of a mask come to the same."""
    same = one.certificate is other.certificate and one.distance == other.distance
    return same and all(gap(a, b) == 0 for a, b in zip(one.given, other.given, strict=True))


def of_each_head(form: MaskForm) -> MaskForm:
    """Return the form (B, 1, L, S) for masks that differ between heads."""
    one, seen = form.text.replace(ADDED, "seen"), ADDED if form.additive else "seen"
    told = form.told.replace("(B, 1,", "(B, H,")
    return MaskForm(one.replace(ONE + "[:, None]", seen), told, False, form.additive)


def _widened(search: Search, text: AttentionText, name: str, form: MaskForm) -> MaskForm:
    """Return the form for masks that differ between heads, where the argument takes these too."""
    one = form.text.replace(ADDED, "seen")
    if ONE + "[:, None]" not in one or (text.component != "attention" and "heads" not in text.made.given):
        return form
    wide = of_each_head(form)
    return wide if search.tried(text, name, wide, [search.of_each_head(text)]).right else form
