"""How an argument takes a mask: its shape, its dtype and what True or 1 means in it, found by trial."""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from attnconf.conformance.evidence import Failure
from attnconf.conformance.inference.attention_text import AttentionText, MaskForm
from attnconf.conformance.inference.binding import Place
from attnconf.conformance.inference.trial import FAILED, ROUNDING, Certificate, Draft, drawn

ONE = "one_for_all_heads(seen)"
KEYS = f"one_for_all_queries({ONE})"
# (in words, expression of seen, whether it says something of keys alone), the widest first
SHAPES = (
    ("(B, 1, L, S)", f"{ONE}[:, None]", False),
    ("(B, L, S)", ONE, False),
    ("(L, S)", f"one_for_all_samples({ONE})", False),
    ("(B·H, L, S)", "for_each_head(seen, {heads})", False),
    ("(B, S)", KEYS, True),
    ("(B, 1, 1, S)", f"{KEYS}[:, None, None]", True),
    ("(B, 1, S)", f"{KEYS}[:, None]", True),
    ("lengths (B,)", f"lengths({KEYS})", True),
)
KINDS = (
    ("true-keeps", "{m}"),
    ("true-drops", "~{m}"),
    ("additive", "additive({m}, attn_bias, query)"),
    ("1-keeps, integers", "{m}.long()"),
    ("1-keeps", "{m}.to(query.dtype)"),
    ("1-drops, integers", "(~{m}).long()"),
    ("1-drops", "(~{m}).to(query.dtype)"),
)
Requests = Callable[..., Any]
Declared = Callable[[AttentionText], dict[str, str]]


def with_masks(place: Place, text: AttentionText, sizes: Any, request: Requests, declared: Declared) -> AttentionText:
    """Return the text with what its arguments for masks want, and with the weights that come back."""
    names = [slot.name for slot in text.form.slots if slot.role in ("mask", "lengths")]
    for name in names:
        found = _argument(place, text, name, sizes, request, declared)
        if found is not None:
            text = text.but(masks={**text.masks, name: found})
    return _with_weights(place, text, sizes, request, declared)


def _argument(
    place: Place, text: AttentionText, name: str, sizes: Any, request: Requests, declared: Declared
) -> MaskForm | None:
    """Return how one argument takes masks; what the textbook, else a known mistake, certifies; else what runs."""
    ran: list[tuple[MaskForm, float, Certificate, list[Any], Draft]] = []
    for form in _forms(text):
        if ran and any(form.told.rpartition(" ")[0] == r[0].told.rpartition(" ")[0] for r in ran if r[1] <= ROUNDING):
            continue
        candidate = text.but(masks={**text.masks, name: form})
        certificate = Certificate(text.component, _requests(text, form, sizes, request))
        draft = Draft(text.component, candidate.body(), declared(candidate))
        given = certificate.replies(draft.implementation(place.module))
        distance = certificate.distance(given, draft.declares)
        if distance <= ROUNDING:
            form = _widened(place, candidate, form, name, sizes, request, declared)
            return _biased(place, text, form, name, sizes, request, declared)
        if distance < FAILED:
            ran.append((form, distance, certificate, given, draft))
    for form, _, certificate, given, draft in ran:
        if certificate.mistakes(given, draft.declares):
            return form
    return min(ran, key=lambda r: r[1])[0] if ran else None


def _forms(text: AttentionText) -> Iterator[MaskForm]:
    for shape, pattern_of_shape, keys_only in SHAPES:
        expression = pattern_of_shape.replace("{heads}", text.heads)
        if shape.startswith("lengths"):
            yield MaskForm(expression, shape, True)
            continue
        for kind, pattern in KINDS:
            yield MaskForm(pattern.format(m=f"{expression}"), f"{shape} {kind}", keys_only, kind == "additive")


def _requests(text: AttentionText, form: MaskForm, sizes: Any, request: Requests) -> list[Any]:
    """Return calls with masks as general as the form can be."""
    requests = []
    for i, size in enumerate(sizes):
        B, L, S = ((2, 3, 7), (3, 4, 5))[i]
        S = L if text.self_only else S
        B, S, L = (B, S + 3, L + 3) if text.self_only else (B, S, L)
        masks = _masks(form, B, L, S)
        requests.append(request(text, size, B, L, S, masks))
    return requests


def _masks(form: MaskForm, B: int, L: int, S: int) -> dict[str, Tensor]:
    if form.told.startswith("lengths"):
        return {"key_mask": torch.arange(S) < torch.tensor([S - b % (S - 1) for b in range(B)])[:, None]}
    if form.keys_only:
        keys = torch.ones(B, S, dtype=torch.bool)
        for b in range(B):
            keys[b, (2 * b + 1) % S] = False
            keys[b, S - 1] = b % 2 == 0
        keys[:, 0] = True
        return {"key_mask": keys}
    rows = torch.arange(B * L * S).reshape(B, 1, L, S)
    mask = (rows * 7919 % 11) > 3
    mask |= torch.eye(L, S, dtype=torch.bool)
    mask[..., 0] |= ~mask.any(-1)
    if "(L, S)" in form.told and "B" not in form.told:
        mask = mask[:1].expand(B, -1, -1, -1)
    return {"attn_mask": mask}


def _widened(
    place: Place, text: AttentionText, form: MaskForm, name: str, sizes: Any, request: Requests, declared: Declared
) -> MaskForm:
    """Return the form for masks that differ between heads, where the argument takes these too."""
    if ONE + "[:, None]" not in form.text or (text.component != "attention" and "heads" not in text.made.given):
        return form
    wide = MaskForm(
        form.text.replace(ONE + "[:, None]", "seen"), form.told.replace("(B, 1,", "(B, H,"), False, form.additive
    )
    size = sizes[0]
    B, L, S = 2, 6, 6
    mask = (torch.arange(B * size[1] * L * S).reshape(B, size[1], L, S) * 7919 % 13) > 4
    mask |= torch.eye(L, S, dtype=torch.bool)
    certificate = Certificate(text.component, [request(text, size, B, L, S, {"attn_mask": mask})])
    candidate = text.but(masks={**text.masks, name: wide})
    draft = Draft(text.component, candidate.body(), declared(candidate))
    given = certificate.replies(draft.implementation(place.module))
    return wide if certificate.distance(given, draft.declares) <= ROUNDING else form


def _biased(
    place: Place, text: AttentionText, form: MaskForm, name: str, sizes: Any, request: Requests, declared: Declared
) -> MaskForm:
    """Return the form for boolean masks and for biases on the scores, where the argument takes both."""
    if form.additive or form.keys_only or "integers" in form.told or "1-" in form.told:
        return form
    both = f"{form.text} if attn_bias is None else additive({form.text}, attn_bias, query)"
    wide = MaskForm(both, f"{form.told}, or additive", False, True)
    B, L, S = 2, 6, 6
    bias = drawn("bias", B, 1, L, S)
    certificate = Certificate(text.component, [request(text, sizes[0], B, L, S, {"attn_bias": bias})])
    candidate = text.but(masks={**text.masks, name: wide})
    draft = Draft(text.component, candidate.body(), declared(candidate))
    given = certificate.replies(draft.implementation(place.module))
    return wide if certificate.distance(given, draft.declares) <= ROUNDING else form


# -- returned weights

WEIGHTS = ("{r}", "{r}.transpose(0, 1)", "{r}.unflatten(0, (-1, config.num_heads))", "torch.stack(tuple({r}), dim=1)",
           "{r}[:, None]", "{r}.permute(2, 3, 0, 1)", "{r}.permute(0, 3, 1, 2)")  # fmt: skip


def _with_weights(
    place: Place, text: AttentionText, sizes: Any, request: Requests, declared: Declared
) -> AttentionText:
    """Return the text with where the attention weights are in what comes back, where they are there."""
    if text.out == "result" and not text.form.of("want_weights"):
        return text
    B, L, S = 2, 3, 7
    one = request(text, sizes[0], B, L, S, {})
    rows = (B, sizes[0][1], L, L if text.self_only else S)
    wanting = Certificate(text.component, [_asking(one, rows)])
    out = text.out if text.out != "result" else "result[0] if need_weights else result"
    others = [f"result[{i}]" for i in range(3) if f"result[{i}]" != text.out] if "result['" not in text.out else []
    for place_of in others:
        for pattern in WEIGHTS:
            candidate = text.but(out=out, weights=pattern.format(r=place_of))
            draft = Draft(text.component, candidate.body(), declared(candidate))
            given = wanting.replies(draft.implementation(place.module))
            if wanting.distance(given, draft.declares) <= ROUNDING:
                return candidate
    return _averaged(place, text, out, others, one, rows, declared)


def _asking(one: Any, rows: tuple[int, ...]) -> Any:
    from dataclasses import replace

    return replace(one, weights_shape=rows, averaged_shape=(rows[0], *rows[2:]))


def _averaged(
    place: Place, text: AttentionText, out: str, others: list[str], one: Any, rows: tuple[int, ...], declared: Declared
) -> AttentionText:
    """Return the text for weights that are averaged over the heads, or wrong; without weights where none come back."""
    asked = Certificate(text.component, [_asking(one, rows)])
    for place_of in others:
        candidate = text.but(out=out, weights=place_of)
        draft = Draft(text.component, candidate.body(), declared(candidate))
        given = asked.replies(draft.implementation(place.module))
        if given and not isinstance(given[0], Failure) and given[0].weights is not None:
            return candidate
    return text
