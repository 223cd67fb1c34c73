"""Training through the door: the tasks are what they say, others than the reference learn, and a terminal shows it."""

import io

import pytest
import torch

from attnconf.conformance.chapters.contents import all_checks
from attnconf.conformance.chapters.encoder.stimuli import LEARN
from attnconf.conformance.chapters.shared import layers, learning
from attnconf.conformance.chapters.shared.learning import BLANK, LENGTH, UNSCORED, WORDS
from attnconf.conformance.engine import progress
from attnconf.conformance.engine.subject import Subject
from attnconf.conformance.pictures.thorough import explore
from attnconf.conformance.run.implementations import load

torch.set_num_threads(1)


def drawn(task):
    return task(50, torch.Generator().manual_seed(3))


@pytest.mark.parametrize("task", [learning.copy, learning.reverse, learning.sort, learning.recall])
def test_places_are_asked_for_and_words_are_not(task):
    ids, targets = drawn(task)
    assert ids.shape == (50, 2 * LENGTH, 2)
    assert (targets[:, :LENGTH] == UNSCORED).all()
    assert ((targets[:, LENGTH:] >= 0) & (targets[:, LENGTH:] < WORDS)).all()
    assert (ids[:, LENGTH:, 1] == BLANK).all()


def test_what_is_to_be_said():
    for task, wanted in (
        (learning.copy, lambda words: words),
        (learning.reverse, lambda words: words[::-1]),
        (learning.sort, sorted),
    ):
        ids, targets = drawn(task)
        for words, said in zip(ids[:, :LENGTH, 0].tolist(), targets[:, LENGTH:].tolist(), strict=True):
            assert said == list(wanted(words))
    ids, targets = drawn(learning.recall)
    for tokens, said in zip(ids.tolist(), targets[:, LENGTH:].tolist(), strict=True):
        partner = dict(tokens[:LENGTH])
        assert [partner[asked] - WORDS for asked, _ in tokens[LENGTH:]] == said


def test_the_next_word_is_the_target_where_nobody_can_know_it():
    ids, targets = drawn(learning.guess)
    assert torch.equal(ids[:, 1:, 0], targets[:, :-1])


def test_an_encoder_that_is_not_the_reference_learns():
    (case,) = LEARN
    subject = Subject(load("textbook_modules")[0], "encoder", "direct")
    block = layers.encoder(subject, case, "pre", final_norm=True)
    assert learning.accuracy_of(subject, case, block, learning.recall) >= learning.LEARNED
    assert len(subject.log) == 3  # of 401 calls: the two of the first step, and the last


def test_training_is_not_explored_around():
    subject = Subject(load("reference")[0], "encoder", "direct")
    check = all_checks()["ENC-LEARN-1"]
    assert explore(subject, check, check.cases(subject, 0, "cpu")) is None


def test_steps_are_shown_on_a_terminal_and_nowhere_else(monkeypatch):
    assert list(progress.watched(range(3), "learning")) == [0, 1, 2]
    terminal = io.StringIO()
    monkeypatch.setattr(progress, "terminal", terminal)
    assert list(progress.watched(range(3), "learning")) == [0, 1, 2]
    assert "learning" in terminal.getvalue()
