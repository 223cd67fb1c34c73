"""A step before the vocabulary is one of its own where learning makes it, too; else it is a mistake."""

from types import ModuleType, SimpleNamespace

import pytest

from attnconf.conformance.inference.tokens.taught import learnt_steps, with_steps
from attnconf.conformance.inference.tokens.token_text import TokenText

TEXT = """
class Words:
    def __init__(self):
        self.index = {"<unk>": 0}

    def fit(self, texts):
        for text in texts:
            for word in LEARNT:
                self.index.setdefault(word, len(self.index))

    def encode(self, text):
        return [self.index.get(word, 0) for word in ENCODED]
"""
SMALL, AS_IT_IS, SPLIT = "text.lower().split()", "text.split()", 'text.replace(",", " , ").split()'


@pytest.mark.parametrize(
    ("learnt", "encoded", "steps"),
    [
        (SMALL, SMALL, ("small",)),
        (SPLIT, SPLIT, ("split",)),
        (AS_IT_IS, SMALL, ()),
        (AS_IT_IS, SPLIT, ()),
        (SMALL, AS_IT_IS, ()),
        (AS_IT_IS, AS_IT_IS, ()),
    ],
)
def test_a_step_is_made_in_learning_and_in_encoding(learnt, encoded, steps):
    module = ModuleType("words")
    exec(TEXT.replace("LEARNT", learnt).replace("ENCODED", encoded), vars(module))
    place = SimpleNamespace(module=module)
    found = learnt_steps(place, "theirs.Words()", ("", "fit"), "low er new")
    vocabulary = '{"index": {token: i for i, token in enumerate(config.vocabulary)}}'
    made, own = f"holding(theirs.Words(), {vocabulary})", ("theirs.Words()", "fit")
    text = TokenText("word", made=made, encode="made.encode(text)", own=own, learnt=found)
    assert with_steps(place, text, lambda one: one.draft().implementation(module)).steps == steps
