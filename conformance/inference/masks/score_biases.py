"""T5's relative bias inside layers: which parameter is its table, wherever it is kept, and which way its buckets go."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from torch import Tensor, nn

from attnconf.conformance.chapters.shared.members import BUCKETS
from attnconf.conformance.inference.texts.layer_requests import FIRST, request
from attnconf.conformance.inference.texts.layer_text import LayerText
from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.trials.trial import Certificate

FAR = {False: 16, True: 31}  # tokens, by causality: several distances share a bucket, and none is on its edge
NEAR = 8  # up to so many have a bucket for each distance, whichever way buckets go
OTHERS = f"the buckets of tokens more than {NEAR - 1} apart are not those of 32 buckets and a largest distance of 128"
_SHAPES: dict[tuple[int, ...], str] = {(BUCKETS, FIRST.heads): "", (FIRST.heads, BUCKETS): ".T"}


@dataclass(frozen=True)
class ScoreBias:
    """The table that is added from, by its entry of the state; ``names``: all tables, also those that nobody uses."""

    entries: tuple[str, ...] = ()
    names: frozenset[str] = frozenset()

    def declares(self, causal: bool) -> Mapping[str, str]:
        """Return what is declared: what sees no later tokens has no buckets for them."""
        return {"score-bias": "one-way" if causal else "both-ways"} if self.entries else {}


UNBIASED = ScoreBias()


def score_bias(module: nn.Module, order: Sequence[str], used: Collection[str], stacked: bool) -> ScoreBias:
    """Return the relative bias of a layer or stack; none where it is not one table that is used.

    ``order``: all parameters in the order of use, ``used``: those that are applied.
    """
    real = dict(module.named_parameters())
    tables = [name for name in order if _shape(real[name]) in _SHAPES]
    applied = [name for name in tables if name in used]
    if len(applied) != 1:
        return UNBIASED
    ours = "relative.weight" if stacked else "attn.relative.weight"
    entry = f'"{applied[0]}": weights["{ours}"]{_SHAPES[_shape(real[applied[0]])]}'
    return ScoreBias((entry,), frozenset(tables))


def _shape(parameter: Tensor) -> tuple[int, ...]:
    return () if isinstance(parameter, nn.parameter.UninitializedParameter) else tuple(parameter.shape)


# -- far tokens, where the largest distance is written in the code


def of_near_tokens(place: Place, text: LayerText) -> LayerText:
    """Return the text, which refuses far tokens where its own largest distance is another than the textbook's.

    Then its buckets of far ones are others, and may be right. What is given the largest distance is held to it.
    """
    if "score-bias" not in text.declares or "distance" in text.made.given:
        return text
    causal = text.declares.get("causality") == "always"
    asked = request(text.component, text.declares, FIRST.but(L=FAR[causal]), (2, 2), causal=causal)
    certificate = Certificate(text.component, [asked])
    given = certificate.replies(text.implementation(place))
    if certificate.agrees(given, text.declares) or certificate.mistake(given, text.declares) is not None:
        return text
    return text.but(longest=NEAR, untried=(*text.untried, OTHERS))
