"""What tokenizers and detokenizers are asked before they are believed, in each reading of the end of a word."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from attnconf.adapters.contract import TokenizerConfig
from attnconf.conformance.chapters.tokenizer.stimuli import unmarked
from attnconf.conformance.engine.request import Request
from attnconf.reference.tokenizer import END


def requests(component: str, kind: str) -> Iterator[Request]:
    """Yield texts to encode, or ids to decode."""
    letters = ("w", "o", "<unk>", "l", " ", "e", "r", "n")
    vocabulary = {
        "word": ("low", "er", "<unk>", "lower", "new"),
        "character": letters,
        "byte-pair": (
            "w</w>",
            "r</w>",
            "<unk>",
            "o",
            "l",
            "e",
            "w",
            "r",
            "n",
            "o</w>",
            "l</w>",
            "lo",
            "low</w>",
            "er</w>",
        ),
    }[kind]
    merges = (("l", "o"), ("lo", "w</w>"), ("e", "r</w>")) if kind == "byte-pair" else ()
    config = TokenizerConfig(kind, vocabulary, merges, "<unk>")
    known = {"word": ("lower low new", "er"), "character": ("lower low", "new"), "byte-pair": ("lower low new", "lo")}[
        kind
    ]
    for text in known:
        if component == "tokenizer":
            yield Request(component, config, {}, {"text": text}, ())
    if component == "detokenizer":
        for ids in ([3, 0, 4, 1], [1, 3]):
            yield Request(component, config, {}, {"ids": ids}, ())


def read_as(request: Request, reading: str) -> Request:
    """Return a request as it is for words with marks, or without words.

    Where the mark stands alone its merges first of all join it to every letter.
    """
    config: Any = request.config
    if reading == "attached":
        return request
    if reading != "separate":
        return replace(request, config=unmarked(config))
    joins = tuple((token.removesuffix(END), END) for token in config.vocabulary if len(token) == 1 + len(END))
    return replace(
        request, config=replace(config, vocabulary=(*config.vocabulary, END), merges=(*joins, *config.merges))
    )
