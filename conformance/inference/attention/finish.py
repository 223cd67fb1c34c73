"""What is looked for once attention is bound: flags, widths, masks, returned weights, the longest sequence."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import torch
from torch import Tensor

from attnconf.conformance.chapters.multi_head_attention.binding import APPEARANCES
from attnconf.conformance.chapters.shared.appearance import Option
from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.engine.request import Request
from attnconf.conformance.inference.attention.aside import outer, with_unapplied, without_effect
from attnconf.conformance.inference.attention.beyond import beyond
from attnconf.conformance.inference.attention.decoder_flags import without_idle
from attnconf.conformance.inference.attention.family import with_family
from attnconf.conformance.inference.attention.family_parts_turned import with_part_turned
from attnconf.conformance.inference.attention.family_windows import with_window
from attnconf.conformance.inference.attention.flags import with_flags
from attnconf.conformance.inference.attention.one_head import without_projection
from attnconf.conformance.inference.attention.qk_norms import with_norms
from attnconf.conformance.inference.building.construction import build, for_each_length, lengths_of, without_lengths
from attnconf.conformance.inference.building.loose_tensors import words_on_loose
from attnconf.conformance.inference.masks.bias_tables import with_one_way, with_own_sizes
from attnconf.conformance.inference.masks.biases import BIAS, refuses
from attnconf.conformance.inference.masks.joined_masks import joined, not_joined
from attnconf.conformance.inference.masks.masking import with_masks
from attnconf.conformance.inference.masks.shapes import wrong_shapes
from attnconf.conformance.inference.masks.shared_biases import with_handed_bias, with_plain
from attnconf.conformance.inference.options.left_out import with_broken
from attnconf.conformance.inference.positions.own_tables import with_tables
from attnconf.conformance.inference.texts.attention_requests import COMPONENT, config_of, request
from attnconf.conformance.inference.texts.attention_text import AttentionText, Normed
from attnconf.conformance.inference.texts.layer_text import LayerText
from attnconf.conformance.inference.trials.angles import shown
from attnconf.conformance.inference.trials.binding import Bound, Place
from attnconf.conformance.inference.trials.calling import Slot, parameters
from attnconf.conformance.inference.trials.probing import longest
from attnconf.conformance.inference.trials.proving import holds
from attnconf.conformance.inference.trials.trial import reply, same
from attnconf.conformance.inference.words.vocabulary import snake
from attnconf.conformance.source.signatures import parameters_of
from attnconf.conformance.source.source_text import code_reached

CAUSAL = r"causal|autoregressive|masked"
TRIANGLE = r"\b(tril|triu)(_indices)?_?\(|arange\([^\n]*[<>]=? *[^\n]*arange\("


def finish(place: Place, text: AttentionText, sizes: Any, certified: str | None) -> Bound:
    """Return the binding with masks and returned weights, which are looked for once the rest is known."""
    text = with_norms(place, text, sizes) if certified == "reference" and text.stripped else text
    text = with_handed_bias(place, with_own_sizes(text), sizes) if certified == "reference" else text
    text = with_flags(place, without_idle(place, text, sizes), sizes, request, certified)
    text = _with_memory_apart(place, text, sizes)
    text = _with_dropped(place, _checked(place, text, sizes), sizes)
    text = text.but(causal_always=text.causal_always or _says_causal(place, text))
    text = with_masks(place, with_one_length(place, text, sizes), sizes, request, certified)
    if certified == "reference":
        text = with_plain(place, with_one_way(place, joined(place, text, sizes), sizes), sizes)
    text = with_family(place, text, certified)
    text = with_part_turned(place, with_window(place, text)) if certified == "reference" else text
    text = _with_one_head(place, text, sizes) if certified == "reference" else text
    text = with_unapplied(place, text.but(longest=limit(place, text, sizes)), config_of(sizes[0]))
    plain, own_mistake = text, None
    if certified == "reference" and text.self_only:
        text, own_mistake = with_tables(place, text, "config.base", _turned(text), partial(_plainly, sizes))
    declares = text.conventions()
    profile = {"self": "self-attention-1", "memory": "memory-attention-1"}.get(declares.get("inputs", ""))
    if text.causal_always and text.self_only:
        profile = "causal-self-attention-1"
    broken = (
        (*text.idle, *not_joined(place, text, sizes), *_not_causal(place, text, sizes))
        if certified == "reference"
        else ()
    )
    if certified == "reference":
        broken += (*wrong_shapes(place, text, sizes, request), *beyond(place, text, sizes))
        broken += without_effect(place, plain, config_of(sizes[0]))
    aside = _set_aside(place, plain, sizes)
    aside += words_on_loose(place, text.made, config_of(sizes[0])) if text.unregistered else ()
    certified = own_mistake or certified
    found = Bound(place, text.draft(), profile, certified, told(place, text), text.kinds, text.doubt, aside, broken)
    return with_broken(found, request(text, sizes[0], 4, 8, 8, {}))


def _turned(text: AttentionText) -> list[Callable[[AttentionText], AttentionText]]:
    """Return what declares that queries and keys are turned: in which pairs, and before or after their norms."""
    places = [text.normed, replace(text.normed, place="after")] if text.normed else [None]
    pairs: tuple[dict[str, str], ...] = ({}, {"rope-pairing": "half"})
    every = product(pairs, places)
    return [partial(_in_pairs, {"positions-inside": "rotary", **pair}, normed) for pair, normed in every]


def _in_pairs(inside: Mapping[str, str], normed: Normed | None, text: AttentionText) -> AttentionText:
    return text.but(inside=inside, normed=normed)


def _plainly(sizes: Any, text: AttentionText) -> list[Request]:
    """Return calls without masks."""
    return [request(text, size, 2, L, L, {}) for size, L in zip(sizes, (4, 6), strict=True)]


def _with_memory_apart(place: Place, text: AttentionText, sizes: Any) -> AttentionText:
    """Return the text that hands a memory on where attention is not causal, if the file never does both together."""
    if not text.flagged or not any(slot.role == "memory" and not slot.required for slot in text.form.slots):
        return text
    both, open_ = (request(text, sizes[0], 2, 6, 6, {}, causal=causal) for causal in (True, False))
    apart = text.but(memory_apart=True)
    made, alone = text.implementation(place), apart.implementation(place)
    to_memory, without = reply(made, both), [reply(alone, _to_itself(one)) for one in (both, open_)]
    if refuses(to_memory):
        limit = "it is refused"
    elif any(isinstance(each, Failure) for each in without):
        return text  # it needs a memory
    elif same(to_memory, reply(made, open_)) and not same(*without):
        limit = "with one nothing is hidden"
    else:
        return text
    return apart.but(left_alone=(*text.left_alone, f"causal attention to a memory: {limit}"))


def _to_itself(one: Request) -> Request:
    """Return the call without a memory."""
    return replace(one, inputs={"query": one.inputs["query"]})


def _not_causal(place: Place, text: AttentionText, sizes: Any) -> tuple[str, ...]:
    """Return a word on what is not causal attention where there is no memory: no check asks for it there."""
    if not text.memory_apart:
        return ()
    one = request(text, sizes[0], 2, 6, 6, {}, causal=True)
    right = holds(place, text, [_to_itself(one)])
    return () if right else ("what is causal without a memory is not causal attention of the tokens to themselves",)


def _set_aside(place: Place, text: AttentionText, sizes: Any) -> tuple[str, ...]:
    """Return what of a class is not judged, because the textbook has nothing of the kind."""
    aside = (*text.unknown, *text.unapplied, *_idle_triangle(place, text), *([text.unshared] if text.unshared else []))
    if not text.stripped or outer(place, text, config_of(sizes[0])):
        return aside
    return (f"the norms {', '.join(text.stripped)} within attention are left out, and not judged", *aside)


def _idle_triangle(place: Place, text: AttentionText) -> tuple[str, ...]:
    """Return a word on a mask of what is later that the code makes and nothing asks for, where it hides nothing."""
    told = {"mask", "lengths", "causal"} & set(text.form.roles) or "causal" in text.made.given or text.flags
    if told or text.causal_always or not text.self_only or _has_modes(place):
        return ()
    code = code_reached(place.thing)
    found = re.search(TRIANGLE, code)
    return (f"the code makes a triangle (`{found[0]}…`), and later tokens count all the same",) if found else ()


def _has_modes(place: Place) -> bool:
    """Return whether a word chooses between ways to compute."""
    thing = place.thing
    every = [*parameters_of(thing), *(parameters(thing) if isinstance(thing, type) else ())]
    return any(isinstance(p.default, str) for p in every)


def _says_causal(place: Place, text: AttentionText) -> bool:
    """Return whether something has nothing to make it causal, but a name that says it is: it has to be."""
    plain = snake(place.name)
    told = {"mask", "lengths", "causal"} & set(text.form.roles) or "causal" in text.made.given
    return text.self_only and not told and re.search(CAUSAL, plain) is not None


def _with_one_head(place: Place, text: AttentionText, sizes: Any) -> AttentionText:
    """Return the text with what it says of a single head: that it has no output projection."""
    if "heads" not in text.made.given:
        return text
    several, embed = config_of(sizes[0]), sizes[0][0]
    made = [partial(build, place, text.made, config) for config in (several, config_of((embed, 1, embed)))]
    return text.but(alone=without_projection(place, text.state, *made))


def _checked(place: Place, text: AttentionText, sizes: Any) -> AttentionText:
    """Return the text without what its constructor has parameters for, but does not take."""
    for option in APPEARANCES[COMPONENT].options:
        if option.sizes & text.made.given and not _takes(place, text, option, sizes):
            text = text.but(made=replace(text.made, given=text.made.given - option.sizes))
    return text


def _takes(place: Place, text: AttentionText, option: Option, sizes: Any) -> bool:
    """Return whether a call with an option gives the textbook's numbers, as far as one can show it."""
    asked = option.asked(request(text, sizes[0], 2, 3, 7, {}))
    if asked is None:
        return True
    return holds(place, text, [asked])


def _with_dropped(place: Place, text: AttentionText, sizes: Any) -> AttentionText:
    """Return the text with what it drops in training: weights, or elements of its output, or both by one number.

    With the identity as output projection, elements of the heads are elements of the output.
    """
    if "dropout" not in text.made.given:
        return text
    made = text.implementation(place)
    one = request(text, sizes[0], 3, 6, 6, {})
    weights = {**one.weights, "out.weight": torch.eye(len(one.weights["out.weight"]), dtype=torch.float64)}
    weights |= {"out.bias": torch.zeros_like(b)} if (b := weights.get("out.bias")) is not None else {}
    kept, dropped = (
        reply(made, replace(one, weights=weights, config=replace(one.config, dropout=0.5, training=mode), seed=0))
        for mode in (False, True)
    )
    if isinstance(kept, Failure) or isinstance(dropped, Failure):
        return text
    if _holed(kept.out, one.config.num_heads) or not _holed(dropped.out, one.config.num_heads):
        return text
    there = dropped.out != 0
    alone = bool(((dropped.out - 2 * kept.out).abs()[there] < 1e-5).all())
    return text.but(drops="output" if alone else "both")


def _holed(out: Tensor, heads: int) -> bool:
    """Return whether single features of what a head gives are 0, (B, L, H·D): where weights are dropped, all are."""
    zero = out.unflatten(-1, (heads, -1)) == 0
    return float((zero.any(-1) & ~zero.all(-1)).double().mean()) > 0.1


def with_one_length(place: Place, text: AttentionText, sizes: Any) -> AttentionText:
    """Return the text built anew for the length of each call, where only so a causal call comes back."""
    asked = [request(text, sizes[0], 2, L, L, {}, causal=True) for L in (5, 7)]

    def comes_back(one: AttentionText) -> bool:
        made = one.implementation(place)
        return not any(isinstance(reply(made, each), Failure) for each in asked)

    names = lengths_of(text.made)
    if not names or not text.flagged or text.stripped or text.one_length or comes_back(text):
        return text
    anew = text.but(made=for_each_length(text.made), one_length=names)
    return anew if comes_back(anew) else text


REMARKS = 4  # options that are spoken of
LONG = 140  # tokens, beyond the longest scored case


def limit(place: Place, text: AttentionText, sizes: Any) -> int:
    """Return how many tokens a class takes at most, where it takes some but not long sequences; else 0."""
    module = text.implementation(place)

    def takes(tokens: int) -> bool:
        return not isinstance(reply(module, request(text, sizes[0], 1, tokens, tokens, {})), Failure)

    return longest(takes, 4, LONG)


def told(place: Place, text: AttentionText) -> tuple[str, ...]:
    """Return the binding in three lines, for people."""
    shown = re.sub(r"\btheirs\.|\bconfig\.", "", without_lengths(text.made.text))
    masks = masks_told(text) or "no masks"
    masks += f"; at most {text.longest} tokens" if text.longest else ""
    masks += "; as many keys as queries only" if text.square else ""
    masks += f"; one length only: {', '.join(text.one_length)} is that of the inputs" if text.one_length else ""
    conventions = text.conventions().items()
    choices = ", ".join(f"{name}: {choice}" for name, choice in conventions if name not in text.mask_conventions)
    more = [f"with the norms {', '.join(text.stripped)} left out"] if text.stripped else []
    more += ["with the input added, and subtracted again"] if text.residual else []
    return (
        f"constructor  {shown}",
        f"forward      ({text.form.text(partial(_given, text))}) -> {text.out}"
        + (", sequence first" if text.sequence_first else "")
        + (", one sequence (L, E) at a time" if text.single else ""),
        "; ".join([f"weights      {_weights_told(text)}", masks, *([choices] if choices else []), *more]),
        *remarks(text),
    )


def _given(text: AttentionText, slot: Slot) -> str | None:
    """Return what an argument gets, for people; None where it is left at its default."""
    if slot.role == "mask" and not slot.required and slot.name not in text.masks:
        return None
    return text.flags.get(slot.name, shown(slot)).replace("config.", "")


def masks_told(text: AttentionText) -> str:
    """Return how arguments take masks, those that take the same together."""
    alike: dict[str, list[str]] = {}
    for name, mask in text.masks.items():
        alike.setdefault(mask.told, []).append(name)
    apart = {(): (), (BIAS,): ("no bias beside the flag for causality",)}
    limits = apart.get(text.exclusive, ("no mask beside the flag for causality",))
    return "; ".join((*(f"{', '.join(names)} {form}" for form, names in alike.items()), *limits))


def remarks(text: AttentionText | LayerText) -> list[str]:
    """Return what there is to say of options that are not asked for, and why equality is not all; a line for each."""
    doubt = [f"in doubt     {text.doubt}"] if text.doubt else []
    return [*doubt, *(f"left alone   {words}" for words in text.left_alone[:REMARKS])]


def _weights_told(text: AttentionText) -> str:
    """Return what the parameters are, without the biases: they go with the weights."""
    entries = [
        re.sub(r'weights\["(\w+)\.weight"\]', r"\1", e).replace("config.", "") for e in text.state if ".weight" in e
    ]
    pairs = [re.match(r'(?:\*\*\{f)?"([^"]*)": (.*)', entry) for entry in entries]
    found = [f"{m[1].removesuffix('.weight')} = {m[2].removesuffix('}')}" for m in pairs if m]
    return ", ".join(f.replace("torch.", "") for f in found) or "none found"
