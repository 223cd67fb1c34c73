"""One form of a mask for one argument of attention, tried: calls with masks as general as the form can be."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from attnconf.conformance.inference.masks.returned import Requests
from attnconf.conformance.inference.texts.attention_text import AttentionText, MaskForm
from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.trials.trial import (
    Certificate,
    all_same,
    within_rounding,
)


@dataclass(frozen=True)
class Trial:
    """One form for one argument, tried."""

    form: MaskForm
    distance: float
    given: list[Any]
    certificate: Certificate
    declares: dict[str, str]
    exclusive: bool = False  # not together with the flag for causal attention

    @property
    def right(self) -> bool:
        return within_rounding(self.distance)

    @property
    def flat(self) -> bool:
        """Whether the mask has one axis for samples and heads together."""
        return "·" in self.form.told


@dataclass(frozen=True)
class Search:
    """What the search for masks needs of a class: where it stands, and how calls of it are made up."""

    place: Place
    sizes: Any
    request: Requests
    mistake: str = ""  # the mutant that the class is known to be
    made: dict[tuple[Any, ...], Certificate] = field(default_factory=dict)

    def certificate(self, text: AttentionText, form: MaskForm, causal: bool = False) -> Certificate:
        """Return calls with masks as general as the form can be; forms that are as general have the same."""
        alone = form.told.startswith("lengths"), form.keys_only, form.for_all_samples
        key = (*alone, causal, text.causal_always, text.square, text.lacking, getattr(text, "value_width", True))
        if key not in self.made:
            requests = asked_with(text, form, self.sizes, self.request, causal)
            self.made[key] = Certificate(text.component, requests)
        return self.made[key]

    def of_each_head(self, text: AttentionText) -> Any:
        """Return a call with a mask that differs between heads; there are fewer tokens than heads."""
        size = self.sizes[0]
        B, L, S = 6, 4, 4
        mask = (torch.arange(B * size[1] * L * S).reshape(B, size[1], L, S) * 7919 % 13) > 4
        mask |= torch.eye(L, S, dtype=torch.bool)
        return self.request(text, size, B, L, S, {"attn_mask": mask})

    def tried(self, text: AttentionText, name: str, form: MaskForm, asked: Certificate | list[Any]) -> Trial:
        """Return how far a class is from the textbook when an argument is given masks in one form."""
        certificate = asked if isinstance(asked, Certificate) else Certificate(text.component, asked)
        needed = {slot.name for slot in text.form.slots if slot.required}
        others = {n: m for n, m in text.masks.items() if n in needed}  # one that is not given hides nothing
        candidate = text.but(masks={**others, name: form})
        given, declares = certificate.replies(candidate.implementation(self.place)), dict(candidate.conventions())
        return Trial(form, certificate.distance(given, declares, self.mistake), given, certificate, declares)

    def hides(self, text: AttentionText, found: AttentionText, name: str) -> bool:
        """Return whether an argument beside others changes what comes back: one that does nothing is told elsewhere."""
        form = found.masks[name]
        return self.changed(text, name, self.tried(text, name, form, self.certificate(text, form)))

    def changed(self, text: AttentionText, name: str, trial: Trial) -> bool:
        """Return whether a mask in an argument changes anything."""
        without = text if text.needs_mask else text.but(masks={n: m for n, m in text.masks.items() if n != name})
        bare = [replace(r, inputs=unmasked(r.inputs)) for r in trial.certificate.requests]
        given = Certificate(text.component, bare).replies(without.implementation(self.place))
        return not all_same(trial.given, given)


def unmasked(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the inputs of a call without masks."""
    return {name: x for name, x in inputs.items() if name not in ("key_mask", "attn_mask", "attn_bias")}


def asked_with(text: AttentionText, form: MaskForm, sizes: Any, request: Requests, causal: bool = False) -> list[Any]:
    """Return calls with masks as general as the form can be."""
    requests = []
    for i, size in enumerate(sizes):
        B, L, S = ((2, 3, 7), (3, 4, 5))[i]
        if i == 1:
            B = 7  # more samples than anything else has
        square = text.self_only or text.square or causal  # the corner in which causality starts is not the question
        S = L if square else S
        S, L = (S + 3, L + 3) if square and i == 0 else (S, L)
        masks = masks_in(form, B, L, S)
        requests.append(request(text, size, B, L, S, masks, **({"causal": True} if causal else {})))
    return requests


def masks_in(form: MaskForm, B: int, L: int, S: int) -> dict[str, Tensor]:
    """Return a mask as general as the form can be, by the keyword that it is given by."""
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
    if form.for_all_samples:
        mask = mask[:1].expand(B, -1, -1, -1)
    return {"attn_mask": mask}
