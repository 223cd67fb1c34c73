"""Checks of the chapter spec/tokenizer.md: byte pairs."""

from attnconf.conformance.chapters.tokenizer import stimuli
from attnconf.conformance.chapters.tokenizer.checks.shared import Evidence
from attnconf.conformance.chapters.tokenizer.stimuli import ask, byte_pairs, gives, places, same
from attnconf.conformance.engine.case import Case
from attnconf.conformance.engine.requirement import requirement
from attnconf.conformance.engine.subject import Subject


@requirement("TOK-SYMBOL-1", stimuli.WRITTEN)
def without_merges_a_word_is_its_characters(subject: Subject, case: Case) -> Evidence:
    config = byte_pairs(subject, [], "wol")
    for word, tokens in (("w", "w</w>"), ("low", "l o w</w>"), ("wow", "w o w</w>"), ("lll", "l l l</w>")):
        yield gives(subject, config, word, tokens)


@requirement("TOK-MERGE-1", stimuli.WRITTEN)
def the_merge_that_was_learnt_first_is_made_first(subject: Subject, case: Case) -> Evidence:
    answers = []  # all of them, to be told from other orders by
    later, longer = (("b", "c"), ("a", "b")), (("c", "d"), ("a", "b"), ("ab", "c"))
    for merges, word, tokens in (
        (later, "abcx", "a bc x</w>"),
        (later[::-1], "abcx", "ab c x</w>"),
        (longer, "abcdx", "ab cd x</w>"),
        ((("a", "b"), ("c", "a")), "cabx", "c ab x</w>"),
        ((("b", "c"), ("a", "bc"), ("a", "b")), "abcx", "abc x</w>"),
        ((("b", "c</w>"), ("a", "b")), "abc", "a bc</w>"),
    ):
        config = byte_pairs(subject, merges, "abcdx")
        answers.append((config, word, ask(subject, config, word), places(config, tokens.split())))
    for answer in answers:
        yield same(*answer)


@requirement("TOK-MERGE-2", stimuli.WRITTEN)
def what_is_merged_is_merged_further(subject: Subject, case: Case) -> Evidence:
    config = byte_pairs(subject, (("a", "b"), ("ab", "c"), ("d", "x</w>"), ("abc", "dx</w>")), "abcdx")
    for word, tokens in (("abcx", "abc x</w>"), ("abcbx", "abc b x</w>"), ("abcdx", "abcdx</w>")):
        yield gives(subject, config, word, tokens)


@requirement("TOK-MERGE-3", stimuli.WRITTEN)
def a_merge_is_made_everywhere_from_left_to_right(subject: Subject, case: Case) -> Evidence:
    config = byte_pairs(subject, (("a", "a"), ("b", "c")), "abcx")
    for word, tokens in (
        ("bcxbcx", "bc x bc x</w>"), ("bcbcbcx", "bc bc bc x</w>"), ("aaax", "aa a x</w>"), ("aaaaax", "aa aa a x</w>"),
    ):  # fmt: skip
        yield gives(subject, config, word, tokens)
    config = byte_pairs(subject, (("x", "a"), ("a", "b")), "abx")
    yield gives(subject, config, "xababx", "xa b ab x</w>")


@requirement("TOK-LONG-1", stimuli.LONG)
def a_word_may_be_long(subject: Subject, case: Case) -> Evidence:
    n = max(case.letters, 131)
    config = byte_pairs(subject, (("a", "b"),), "abc")
    yield gives(subject, config, "ab" * (n // 2) + "c", "ab " * (n // 2) + "c</w>")
