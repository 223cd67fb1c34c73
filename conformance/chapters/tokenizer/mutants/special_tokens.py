"""Ways to get tokenizers wrong: special tokens."""

import re

from attnconf.conformance.engine.mutant import Mutant
from attnconf.reference import tokenizer

specials_are_text = Mutant(
    "TOK-specials-are-text",
    story="special tokens are taken apart like other text",
    breaks={"TOK-SPECIAL-1"},
    hint="cut the text at special tokens before anything else",
    replace={tokenizer.cut_at_specials: lambda text, specials: [text]},
)


def cut_where_alone(text, specials):
    return re.split(r"(?<!\S)(" + "|".join(map(re.escape, specials)) + r")(?!\S)", text) if specials else [text]


specials_alone = Mutant(
    "TOK-specials-alone",
    story="a special token is seen only where white space stands around it",
    breaks={"TOK-SPECIAL-2"},
    hint="cut the text at special tokens before it is split into words",
    replace={tokenizer.cut_at_specials: cut_where_alone},
)


def cut_once(text, specials):
    first = min((text.find(s) for s in specials if s in text), default=None)
    if first is None:
        return [text]
    special = tokenizer.special_at_start(text[first:], specials)
    return [text[:first], special, text[first + len(special) :]]


first_special_only = Mutant(
    "TOK-first-special-only",
    story="only the first special token of a text is seen",
    breaks={"TOK-SPECIAL-1"},
    hint="go on behind it",
    replace={tokenizer.cut_at_specials: cut_once},
)


def cut_with_spaces(text, specials):
    parts = tokenizer.cut_at_specials(text, specials)
    return [part.strip() for part in parts] if len(parts) > 1 else parts


space_swallowed = Mutant(
    "TOK-space-swallowed",
    story="special tokens swallow the white space around them",
    breaks={"TOK-SPECIAL-1"},
    hint="with the kind character it is text",
    replace={tokenizer.cut_at_specials: cut_with_spaces},
    source="lstrip and rstrip of the library tokenizers' AddedToken",
)


def grown_together(text, kind, vocabulary, merges=(), unknown=None, specials=()):
    within = re.findall(r"(?<=\w)(" + "|".join(map(re.escape, specials)) + r")(?=\w)", text) if specials else []
    for special in within:
        text = text.replace(special, "", 1)
    ids = tokenizer.encode(text, kind, vocabulary, merges, unknown, specials)
    return [*ids, *(vocabulary.index(special) for special in within)]


specials_taken_out = Mutant(
    "TOK-specials-taken-out",
    story="a special token within a word is taken out, and the word grows together",
    breaks={"TOK-SPECIAL-2"},
    hint="it ends a word, and begins the next",
    replace={tokenizer.encode: grown_together},
)


def cut_in_any_case(text, specials):
    for special in specials:
        text = re.sub(re.escape(special), special, text, flags=re.IGNORECASE)
    return tokenizer.cut_at_specials(text, specials)


specials_any_case = Mutant(
    "TOK-specials-any-case",
    story="special tokens are found whatever the case of their letters",
    breaks={"TOK-SPECIAL-3"},
    hint="compare them as they are written",
    replace={tokenizer.cut_at_specials: cut_in_any_case},
)


def spaces_within(text, specials):
    for special in specials:
        text = text.replace(f"{special[0]} {special[1:-1]} {special[-1]}", special)
    return tokenizer.cut_at_specials(text, specials)


specials_spaced = Mutant(
    "TOK-specials-spaced",
    story="a special token is found with spaces within its brackets, too",
    breaks={"TOK-SPECIAL-3"},
    hint="compare them as they are written",
    replace={tokenizer.cut_at_specials: spaces_within},
)

first_listed = Mutant(
    "TOK-first-listed",
    story="where one special token begins with another, the one that is listed first is taken",
    breaks={"TOK-SPECIAL-4"},
    hint="try the longest first; in a regular expression, sort the alternatives by their length",
    replace={
        tokenizer.special_at_start: lambda text, specials: next((s for s in specials if text.startswith(s)), ""),
    },
)
