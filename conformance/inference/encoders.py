"""What a class that learns merges does with them: its method that makes pieces, or their ids, of a text.

Other merges are put in the place of those that it has learnt. What its method gives then is what a tokenizer of byte
pairs gives.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import FunctionType
from typing import Any

from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.engine.request import Request
from attnconf.conformance.inference.attention_text import refuse
from attnconf.conformance.inference.binding import Bound
from attnconf.conformance.inference.probing import Failed, attempt
from attnconf.conformance.inference.token_text import ENCODE, NUMBERS, TOKENIZE, TOKENS, VALUES
from attnconf.conformance.inference.tokenizers import requests
from attnconf.conformance.inference.trial import ROUNDING, Certificate, Draft, gap, names
from attnconf.conformance.source.signatures import parameters_of

METHODS = tuple(dict.fromkeys((*ENCODE, *TOKENIZE, "segment", "segment_word", "apply", "apply_bpe", "bpe")))
END = "</w>"
LIST_OF, RANKS, _, JOINED = VALUES["merges"]
WORDS = ["low"] * 3 + ["lower"] * 2  # what is learnt, to see where it is kept


def with_encoding(bound: Bound, before: Sequence[str]) -> Bound:
    """Return the binding of a trainer with the tokenizer that it is, too; ``before``: how it is made and trained.

    Where none of its methods for it is understood, this is said, and lowers the verdict.
    """
    thing = bound.place.thing
    if not isinstance(thing, type) or not bound.established:
        return bound
    there = [
        m for m in METHODS if isinstance(getattr(thing, m, None), FunctionType) and _of_one_text(getattr(thing, m))
    ]
    if not there:
        return bound
    end = bound.draft.declares["word-end"]
    certificate = Certificate("tokenizer", [_with_end(r, end) for r in requests("tokenizer", "byte-pair")])
    declares = {**bound.draft.declares, "token-kind": "byte-pair"}
    for method, body in _bodies(bound, before, there):
        draft = replace(bound.draft, body=f"{bound.draft.body}\n\n{body}", declares=declares, also=("tokenizer",))
        given = certificate.replies(_alone(draft).implementation(bound.place.module))
        if _understood(certificate, given, declares):
            return replace(bound, draft=draft, told=(*bound.told, f"encodes      made.{method}(text)"))
    words = f"what its method {there[0]} does with the merges is not understood"
    return replace(bound, open_ends=(*bound.open_ends, words), told=(*bound.told, f"not tried    {', '.join(there)}"))


def _understood(certificate: Certificate, given: Sequence[Any], declares: Mapping[str, str]) -> bool:
    """Return whether a draft gives the textbook's ids of several words, or those of a known mistake."""
    if not given or isinstance(given[-1], Failure):
        return False
    alike = gap(given[0], certificate.wanted(declares)[0]) <= ROUNDING
    return alike or certificate.mistake(given, declares) is not None


def _of_one_text(method: Any) -> bool:
    if not isinstance(method, FunctionType):
        return False
    return sum(p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters_of(method)) == 2


def _alone(draft: Draft) -> Draft:
    return replace(draft, component="tokenizer", also=())


def _with_end(request: Request, end: str) -> Request:
    """Return a request whose merges, where the mark stands alone, first of all join it to every letter."""
    config: Any = request.config
    if end == "attached":
        return request
    joins = tuple((token.removesuffix(END), END) for token in config.vocabulary if len(token) == 1 + len(END))
    return replace(
        request, config=replace(config, vocabulary=(*config.vocabulary, END), merges=(*joins, *config.merges))
    )


def _bodies(bound: Bound, before: Sequence[str], methods: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the text of a tokenizer for each method that may encode."""
    made = before[0].partition(" = ")[2]
    kept = _kept(bound, before)
    if not kept:
        return
    held = f"holding({made.replace('config.num_merges', 'len(config.merges)')}, {{{', '.join(kept)}}})"
    refusals = [
        *refuse('config.kind != "byte-pair"', "tokens of another kind"),
        *refuse("config.specials", "special tokens"),
    ]
    for method in methods:
        yield method, "\n".join([
            "def tokenizer(config, weights):", *(f"    {line}" for line in (*refusals, f"made = {held}")), "",
            "    def forward(text):",
            "        if unknown_in(text, config):",
            '            raise NotImplementedError("an unknown token")',
            f"        return numbered(made.{method}(text), config)", "", "    return forward", "",
        ])  # fmt: skip


def _kept(bound: Bound, before: Sequence[str]) -> list[str]:
    """Return entries for the attributes in which an object keeps what it has learnt; none without its merges."""
    space = names(bound.place.module) | {"words": WORDS, "config": type("Config", (), {"num_merges": 3})}
    try:
        attempt(lambda: exec("\n".join(before), space))
    except Failed:
        return []
    found = {name: entry for name, x in vars(space["made"]).items() if (entry := _entry(x))}
    if not {LIST_OF, RANKS, JOINED} & set(found.values()):
        return []
    return [f'"{name}": {entry}' for name, entry in found.items()]


def _entry(x: Any) -> str:
    """Return the expression for what holds merges or tokens; nothing for anything else."""
    if isinstance(x, list | tuple) and x and all(_is_pair(each) for each in x):
        return LIST_OF
    if not isinstance(x, dict) or not x:
        return ""
    kinds = {(_kind(key), _kind(value)) for key, value in x.items()}
    return {
        ("pair", "int"): RANKS, ("pair", "str"): JOINED, ("str", "int"): NUMBERS, ("int", "str"): TOKENS,
    }.get(kinds.pop() if len(kinds) == 1 else ("", ""), "")  # fmt: skip


def _kind(x: Any) -> str:
    return "pair" if _is_pair(x) else type(x).__name__


def _is_pair(x: Any) -> bool:
    return isinstance(x, list | tuple) and len(x) == 2 and all(isinstance(part, str) for part in x)
