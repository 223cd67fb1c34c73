"""Ways to get tokenizers wrong: ids to text."""

import re

from attnconf.adapters import reference as adapter
from attnconf.conformance.chapters.tokenizer.mutants.shared import END
from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import tokenizer


def shifted(i, vocabulary):
    return tokenizer.token_of(i - 1 if i > 0 else i, vocabulary)


decode_from_one = Mutant(
    "TOK-decode-from-one",
    story="ids are taken to begin at 1",
    breaks={"TOK-DECODE-1"},
    hint="the token with the id i is vocabulary[i]",
    replace={tokenizer.token_of: shifted},
)

decode_sorted = Mutant(
    "TOK-decode-sorted",
    story="ids are looked up in the sorted vocabulary",
    breaks={"TOK-DECODE-1"},
    hint="look them up in the vocabulary as it is given",
    replace={tokenizer.token_of: lambda i, vocabulary: tokenizer.token_of(i, sorted(vocabulary))},
)

negative_from_end = Mutant(
    "TOK-negative-from-end",
    story="a negative id is a token from the vocabulary's end",
    breaks={"TOK-DECODE-6"},
    hint="compare with 0 and raise an error: a list takes -1 for its last element",
    replace={tokenizer.token_of: lambda i, vocabulary: vocabulary[i]},
)

ids_clamped = Mutant(
    "TOK-ids-clamped",
    story="an id beyond the vocabulary is its last token",
    breaks={"TOK-DECODE-6"},
    hint="raise an error",
    replace={tokenizer.token_of: lambda i, vocabulary: vocabulary[max(0, min(i, len(vocabulary) - 1))]},
)

ids_dropped = Mutant(
    "TOK-ids-dropped",
    story="an id that no token has is left out",
    breaks={"TOK-DECODE-6"},
    hint="raise an error: such ids come from another vocabulary",
    replace={tokenizer.token_of: lambda i, vocabulary: vocabulary[i] if 0 <= i < len(vocabulary) else ""},
    source="transformers#20781",
)


def joining(**how):
    """Return join with another way for some kinds, each under the first word of its name."""

    def changed(tokens, kind):
        return how.get(kind.partition("-")[0], lambda given: tokenizer.join_tokens(given, kind))(list(tokens))

    return changed


words_glued = Mutant(
    "TOK-words-glued",
    story="words are joined without spaces",
    breaks={"TOK-DECODE-2"},
    hint='" ".join(words)',
    replace={tokenizer.join_tokens: joining(word="".join)},
)

spaces_cleaned = Mutant(
    "TOK-spaces-cleaned",
    story="spaces before punctuation are taken out",
    breaks={"TOK-DECODE-2"},
    hint="text is not made more beautiful: clean_up_tokenization_spaces=False",
    replace={tokenizer.join_tokens: joining(word=lambda words: re.sub(" ([.,])", r"\1", " ".join(words)))},
    source="clean_up_tokenization_spaces of transformers",
)

characters_spaced = Mutant(
    "TOK-characters-spaced",
    story="characters are joined with spaces between them",
    breaks={"TOK-DECODE-3"},
    hint='"".join(characters)',
    replace={tokenizer.join_tokens: joining(character=" ".join)},
)

characters_stripped = Mutant(
    "TOK-characters-stripped",
    story="spaces side by side become one when characters are joined",
    breaks={"TOK-DECODE-3"},
    hint="white space is text",
    replace={tokenizer.join_tokens: joining(character=lambda tokens: re.sub(" +", " ", "".join(tokens)))},
)

mark_kept = Mutant(
    "TOK-mark-kept",
    story="the marks are left in the text",
    breaks={"TOK-DECODE-4"},
    hint="each becomes a space, but the last",
    replace={tokenizer.join_pieces: lambda pieces: "".join(pieces)},
)

mark_lost = Mutant(
    "TOK-mark-lost",
    story="the marks are taken out, and words grow together",
    breaks={"TOK-DECODE-4"},
    hint="each becomes a space, but the last",
    replace={tokenizer.join_pieces: lambda pieces: "".join(pieces).replace(END, "")},
)

space_at_end = Mutant(
    "TOK-space-at-end",
    story="a space is left at the end of the text",
    breaks={"TOK-DECODE-4"},
    hint="the last mark becomes nothing",
    replace={tokenizer.join_pieces: lambda pieces: "".join(pieces).replace(END, " ")},
)

pieces_spaced = Mutant(
    "TOK-pieces-spaced",
    story="pieces are joined with spaces between them",
    breaks={"TOK-DECODE-4"},
    hint="only a mark is a space",
    replace={tokenizer.join_pieces: lambda pieces: " ".join(pieces).replace(END, "")},
)


def piece_by_piece(errors):
    """Return join_pieces where each piece is turned into text alone; bytes are written as characters."""

    def alone(piece):
        if max(piece, default="") > "\xff":
            return piece
        return piece.encode("latin-1").decode(errors=errors).encode().decode("latin-1")

    return {tokenizer.join_pieces: lambda pieces: tokenizer.join_pieces([alone(piece) for piece in pieces])}


bytes_alone = Mutant(
    "TOK-bytes-alone",
    story="the bytes of each token are turned into text alone: a character that several tokens make is lost",
    breaks={"TOK-ROUND-1"},
    hint='join the bytes of all tokens first, then decode once: b"".join(tokens).decode()',
    replace=piece_by_piece("replace"),
    variants=[piece_by_piece("ignore")],
)


def of_text(change):
    return {tokenizer.join_pieces: lambda pieces: change(tokenizer.join_pieces(pieces))}


ascii_only = Mutant(
    "TOK-ascii-only",
    story="what is not ASCII is left out of the text",
    breaks={"TOK-ROUND-1"},
    hint='decode("utf-8"), not decode("ascii", errors="ignore")',
    replace=of_text(lambda text: "".join(c for c in text if c.isascii())),
)

bytes_as_characters = Mutant(
    "TOK-bytes-as-characters",
    story="each byte becomes a character of its own, as in Latin-1",
    breaks={"TOK-ROUND-1"},
    hint='the bytes are UTF-8: b"".join(tokens).decode("utf-8"), not chr of each',
    replace=of_text(lambda text: text.encode().decode("latin-1")),
)


def keeping(kept):
    """Return decode of the tokens that are kept; kept(token)."""

    def changed(ids, kind, vocabulary):
        return tokenizer.decode(
            [i for i in ids if not 0 <= i < len(vocabulary) or kept(vocabulary[i])], kind, vocabulary
        )

    return changed


specials_skipped = Mutant(
    "TOK-specials-skipped",
    story="special tokens are left out",
    breaks={"TOK-DECODE-5"},
    hint="keep them: skip_special_tokens=False",
    replace={tokenizer.decode: keeping(lambda token: token not in ("<eos>", "[sep]"))},
    source="the decode of the library tokenizers, which skips them by default",
)

unknown_skipped = Mutant(
    "TOK-unknown-skipped",
    story="the unknown token is left out",
    breaks={"TOK-DECODE-5"},
    hint="say that something was there",
    replace={tokenizer.decode: keeping(lambda token: token != "<unk>")},
)

decode_truncated = Mutant(
    "TOK-decode-truncated",
    story="a text ends after sixteen tokens",
    breaks={"TOK-ROUND-1"},
    hint="decode all ids",
    replace={tokenizer.decode: lambda ids, kind, vocabulary: tokenizer.decode(list(ids)[:16], kind, vocabulary)},
)


def from_the_first(ids, kind, vocabulary):
    tokenizer.token_of(ids[0], vocabulary)
    return tokenizer.decode(ids, kind, vocabulary)


empty_refused = Mutant(
    "TOK-empty-refused",
    story="no ids raise an error",
    breaks={"TOK-DECODE-7"},
    hint="an empty text has no ids",
    replace={tokenizer.decode: from_the_first},
    raises={"TOK-DECODE-7"},
)


def popping(config, weights):
    def forward(ids):
        tokens = []
        while ids:
            tokens.append(tokenizer.token_of(ids.pop(0), config.vocabulary))
        return tokenizer.join_tokens(tokens, config.kind)

    return forward


ids_popped = Mutant(
    "TOK-ids-popped",
    story="ids are popped off the caller's list",
    breaks={"CALL-IMMUT-1"},
    hint="iterate over the list",
    replace={adapter.detokenizer: popping},
)


def remembering_text(config, weights):
    earlier = []

    def forward(ids):
        earlier.extend(ids)
        return tokenizer.decode(earlier, config.kind, config.vocabulary)

    return forward


text_continued = Mutant(
    "TOK-text-continued",
    story="a text begins with the texts of earlier calls",
    breaks={"CALL-REPEAT-1"},
    hint="decode the ids of this call",
    replace={adapter.detokenizer: remembering_text},
)
