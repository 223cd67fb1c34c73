"""What attention with T5's table of biases does without it: to a memory, in other layers, with the bias of another one.

A memory has no positions relative to its readers, so that its layers own no table, or add none of it. A layer that is
handed the bias of the one before adds that in its place. The reference has no options for these: each is compared with
attention without a table here, and what is not that is an open end.
"""

import re
from dataclasses import replace
from typing import Any

from attnconf.conformance.engine.request import Request
from attnconf.conformance.inference.masks.bias_tables import AS_T5, is_biased, is_undivided, is_unlike
from attnconf.conformance.inference.texts.attention_parts import BUCKETS
from attnconf.conformance.inference.texts.attention_requests import request
from attnconf.conformance.inference.texts.attention_text import AttentionText, MaskForm
from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.trials.calling import Form, parameters
from attnconf.conformance.inference.trials.proving import holds
from attnconf.conformance.inference.trials.trial import drawn
from attnconf.conformance.inference.words.vocabulary import INPUTS, meanings, snake
from attnconf.conformance.source.signatures import parameters_of

TABLE = 'weights["relative.weight"]'
SOME = f'torch.linspace(-2, 2, {BUCKETS} * config.num_heads).reshape({BUCKETS}, -1).to(weights["q.weight"])'
OF_ANOTHER = "the bias of another layer"
NO_BIAS = "without a bias"  # what is said of a memory that is understood
TO_A_MEMORY = "a memory's keys get the bias of positions, too; T5's have no position relative to a query"


# -- the bias of another layer


def with_handed_bias(place: Place, text: AttentionText, sizes: Any) -> AttentionText:
    """Return the text without the arguments that take a bias for that of the table: they are no masks."""
    if not is_biased(text):
        return text
    needed = {slot.name for slot in text.form.slots if slot.required}
    for p in parameters(place.thing):
        about = p.name in needed or "memory" in meanings(p.name, INPUTS) or "mask" in snake(p.name)
        if p.default is None and not about and _is_in_place(place, text, p.name, sizes):
            form = Form(tuple(slot for slot in text.form.slots if slot.name != p.name))
            words = f"{p.name}=None: {OF_ANOTHER}, added in the place of the table's, {AS_T5}"
            text = text.but(form=form, left_alone=(words, *text.left_alone))
    return text


def _is_in_place(place: Place, text: AttentionText, name: str, sizes: Any) -> bool:
    """Return whether a bias is added to the scores that an argument is given, and that of the table is not."""
    masks = {name: MaskForm("attn_bias", "(B, H, L, S) additive", additive=True)}
    one = _with_some_table(text).but(form=text.form.giving(name, "mask"), masks=masks)
    return holds(place, one, [_biased(one, size, L) for size, L in zip(sizes, (5, 6), strict=True)])


def _biased(text: AttentionText, size: tuple[int, int, int], L: int) -> Request:
    bias = drawn(f"handed bias {size}", 1, size[1], L, L)
    return request(text, size, 2, L, L, {"attn_bias": bias})


def _with_some_table(text: AttentionText) -> AttentionText:
    """Return the text as attention without biases, though there is a table with numbers in it."""
    return text.but(state=tuple(entry.replace(TABLE, SOME) for entry in text.state), inside={})


# -- what has no table, or does not add of it


def with_plain(place: Place, text: AttentionText, sizes: Any) -> AttentionText:
    """Return the text with words on attention without the bias: to a memory, or where the flag for the table is off."""
    if not is_biased(text):
        return text
    flag = next(iter(_on(place, text)), "")
    if text.self_only:
        text = _to_memory(place, text, sizes)
    elif not flag and is_undivided(text):
        return text.but(unknown=(*text.unknown, TO_A_MEMORY))
    return _without_table(place, text, sizes, flag) if flag else text


def _on(place: Place, text: AttentionText) -> list[str]:
    """Return the flags of a class that are on, and off by default."""
    off = [p.name for p in parameters_of(place.thing) if p.default is False] if isinstance(place.thing, type) else []
    return [name for name in off if re.search(rf"\b{name}=True\b", text.made.text)]


def _without_table(place: Place, text: AttentionText, sizes: Any, flag: str) -> AttentionText:
    """Return the text with a word on the class whose flag for the table is off: plain attention, or not understood."""
    written = text.made.text.replace(f"{flag}=True", f"{flag}=False")
    plain = text.but(
        made=replace(text.made, text=written),
        state=tuple(entry for entry in text.state if TABLE not in entry),
        inside={},
    )
    every = [plain, *(_reading(plain, name) for name in _memories(place, text))]
    if any(is_unlike(place, one, _plainly(one, sizes)) for one in every):
        return text.but(unknown=(*text.unknown, f"without {flag} it is not what it is with it, but for the bias"))
    others = tuple(words for words in text.left_alone if not words.startswith(f"{flag}="))
    return text.but(left_alone=(f"{flag}: without it, it is attention {NO_BIAS}", *others))


def _to_memory(place: Place, text: AttentionText, sizes: Any) -> AttentionText:
    """Return the text with words on a memory, where the table is for the tokens themselves."""
    for name in _memories(place, text):
        one = _reading(_with_some_table(text), name)
        if is_unlike(place, one, _plainly(one, sizes)):
            return text.but(unknown=(*text.unknown, f"with {name} it is not what it is without, but for the bias"))
        told = f"{name}: {NO_BIAS}, {AS_T5}; the tokens themselves are judged"
        text = text.but(left_alone=(told, *text.left_alone))
    return text


def _memories(place: Place, text: AttentionText) -> list[str]:
    """Return the arguments of a call that are a memory by their names, and that it does not get."""
    there = {slot.name for slot in text.form.slots}
    every = [p for p in parameters(place.thing) if p.default is None and p.name not in there]
    return [p.name for p in every if "memory" in meanings(p.name, INPUTS)]


def _reading(text: AttentionText, name: str) -> AttentionText:
    """Return the text that hands a memory over."""
    return text.but(form=text.form.giving(name, "memory"))


def _plainly(text: AttentionText, sizes: Any) -> list[Request]:
    return [request(text, size, 2, 4, 6, {}) for size in sizes]
