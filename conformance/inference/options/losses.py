"""The loss that a language model gives with its targets: the mean of -log p of each, at its own place or at the next.

Both are common: targets that the caller has moved by one (nanoGPT), and those that the model moves (transformers). No
requirement is about it, so that only what is neither is told, of code that speaks of nothing else to be added.
"""

import re
from collections.abc import Iterator

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves

from attnconf.conformance.engine.request import Request
from attnconf.conformance.inference.texts.language_models import COMPONENT, TARGETS
from attnconf.conformance.inference.trials.binding import Bound
from attnconf.conformance.inference.trials.calling import parameters
from attnconf.conformance.inference.trials.claims import words_of
from attnconf.conformance.inference.trials.spied import spied
from attnconf.conformance.inference.trials.trial import reply
from attnconf.conformance.inference.words.vocabulary import snake
from attnconf.conformance.source.source_text import code_reached

SPEAKS = r"cross_?entropy|nll_?loss|log_?softmax|logsumexp"
MORE = r"(?i)smooth|aux|z_?loss|penalt|focal|distil|balanc|moe|kl_?div|weight="  # that may be in it besides
MOVES = (
    r"(?i)shift(s|ed|ing)?\b[^.]{0,40}\b(inside|internally|within|here|for you|automatically|done|made)\b|is_shifted"
)
IGNORES = r"ignore_index *= *(-?\d+)|(-100)\b"
CLOSE = 1e-4


def of_loss(bound: Bound, asked: Request) -> Iterator[str]:
    """Yield a word on a loss that is no mean of -log p of the targets, on ignored ones that count, or are not moved."""
    code = code_reached(bound.place.thing)
    if bound.draft.component != COMPONENT or not re.search(SPEAKS, code) or re.search(MORE, code):
        return
    said = re.search(IGNORES, code)
    ignored = int(said[1] or said[2]) if said else None
    targets = asked.inputs["ids"].roll(1, dims=1).clamp(min=1)
    optional = [p for p in parameters(bound.place.thing) if p.default is None]
    for name in (p.name for p in optional if re.fullmatch(TARGETS, snake(p.name))):
        given = _given(bound, asked, name, targets)
        if given is None:
            continue
        moved = [shift for shift in (0, 1) if _is_mean(*given, targets, shift, ignored)]
        if not moved:
            yield f"the loss that comes with `{name}` is no mean of -log p of them, at their own places or at the next"
        elif moved == [0] and re.search(MOVES, words_of(bound.place.thing)):
            yield f"the loss that comes with `{name}` is of their own places: its words say that they are shifted"
        elif ignored is not None and _counts(bound, asked, name, targets, moved[0], ignored):
            yield f"`{name}` that are {ignored}, which is ignored, count in the loss"


def _counts(bound: Bound, asked: Request, name: str, targets: Tensor, shift: int, ignored: int) -> bool:
    """Return whether targets that the code says are ignored count in a loss."""
    targets = torch.cat([targets[:, :-1], torch.full_like(targets[:, -1:], ignored)], dim=1)
    given = _given(bound, asked, name, targets)
    return given is not None and bool(given[1].isfinite()) and not _is_mean(*given, targets, shift, ignored)


def _given(bound: Bound, asked: Request, name: str, targets: Tensor) -> tuple[Tensor, Tensor] | None:
    """Return the logits of all tokens and the loss that come with targets; None where they do not."""
    with spied(bound.place, **{name: targets}) as seen:
        reply(bound.draft.implementation(bound.place.module), asked)
    found = [x for x in tree_leaves(seen.returned) if isinstance(x, Tensor) and x.is_floating_point()]
    logits = [x for x in found if x.shape[:-1] == targets.shape]
    losses = [x for x in found if x.numel() == 1]
    return (logits[0].detach(), losses[0].detach().reshape(())) if len(logits) == len(losses) == 1 else None


def _is_mean(logits: Tensor, loss: Tensor, targets: Tensor, shift: int, ignored: int | None) -> bool:
    """Return whether a loss is the mean, or the sum, of -log p of the targets, so many places on; but the ignored."""
    ahead, wanted = logits[:, : logits.shape[1] - shift].log_softmax(-1), targets[:, shift:]
    counted = torch.ones_like(wanted, dtype=torch.bool) if ignored is None else wanted != ignored
    each = -ahead.gather(-1, wanted.clamp(min=0)[..., None])[..., 0][counted]
    return any(bool((loss - x).abs() <= CLOSE * x.abs()) for x in (each.mean(), each.sum(), each.sum() / len(targets)))
