"""Norms of queries and keys inside attention: which members of the family they are, once the rest is known."""

import re
from collections.abc import Iterator

from torch import nn

from attnconf.conformance.inference.building.construction import build
from attnconf.conformance.inference.texts.attention_requests import COMPONENT, config_of, request
from attnconf.conformance.inference.texts.attention_text import AttentionText, Normed
from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.trials.probing import Failed
from attnconf.conformance.inference.trials.trial import Certificate

OF_QUERIES = r"(.*[._])?((q|query|queries|xq)(_?layer)?(_?norm|_?ln)?|(layer_?)?(norm|ln)_?(q|query|queries))"
OF_KEYS = OF_QUERIES.replace("q|query|queries", "k|key|keys").replace("xq", "xk")


def with_norms(place: Place, text: AttentionText, sizes: tuple[tuple[int, int, int], ...]) -> AttentionText:
    """Return the text with the norms of queries and keys that were left out, if it is a member of the family with them.

    It equals the formula, or else the formula with a known mistake in it; what is neither stays left out.
    """
    mistaken: list[AttentionText] = []
    for one in _readings(place, text, sizes):
        asked = [request(one, size, 2, L, L, {}) for size, L in zip(sizes, (4, 6), strict=True)]
        certificate = Certificate(COMPONENT, asked)
        given = certificate.replies(one.implementation(place))
        if certificate.agrees(given, one.conventions()):
            return one
        mistaken += [one] if certificate.mistake(given, one.conventions()) is not None else []
    return mistaken[0] if mistaken else text


def _readings(place: Place, text: AttentionText, sizes: tuple[tuple[int, int, int], ...]) -> Iterator[AttentionText]:
    """Yield the text with both norms: of each head or of all together by their widths, and in either place."""
    pair = _pair(text.stripped)
    if pair is None or text.heads_last or text.unregistered or text.lazy:
        return
    config = config_of(sizes[0])
    try:
        norms = [build(place, text.made, config).get_submodule(name) for name in pair]
    except (Failed, AttributeError):
        return
    widths = {tuple(p.shape) for norm in norms for p in norm.parameters()}
    over = {(config.head_dim,): "head", (config.num_heads * config.head_dim,): "width"}
    if len(widths) != 1 or next(iter(widths)) not in over:
        return
    kind = "layer" if all(len(list(norm.parameters())) == 2 for norm in norms) else "rms"
    (width,) = widths
    turned = text.inside.get("positions-inside") == "rotary"
    for at in ("before", "after") if turned else ("before",):
        state = (*text.state, *_entries(pair, norms))
        yield text.but(stripped=(), state=state, normed=Normed(kind, over[width], at, pair))


def _pair(names: tuple[str, ...]) -> tuple[str, str] | None:
    """Return which of the norms is that of queries, and which that of keys; None where their names do not say."""
    of_queries, of_keys = ([n for n in names if re.fullmatch(words, n)] for words in (OF_QUERIES, OF_KEYS))
    if len(names) != 2 or len(of_queries) != 1 or len(of_keys) != 1:
        return None
    return of_queries[0], of_keys[0]


def _entries(pair: tuple[str, str], norms: list[nn.Module]) -> Iterator[str]:
    """Yield the entries of the dict of parameters: of a norm the gain comes first, then the shift."""
    for (part, name), norm in zip(zip("qk", pair, strict=True), norms, strict=True):
        for parameter, (own, begins) in zip(("weight", "bias"), norm.named_parameters(), strict=False):
            less = " - 1" if parameter == "weight" and not bool(begins.any()) else ""  # it multiplies by 1 + weight
            yield f'"{name}.{own}": weights["{part}_norm.{parameter}"]{less}'
