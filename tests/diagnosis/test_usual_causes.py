"""Where no known mistake reproduces a failure, what usually breaks the rule is said."""

from fnmatch import fnmatchcase

import torch

import attnconf
from attnconf.conformance.diagnosis.usual_causes import families, usual_cause
from attnconf.spec import registry


def test_every_requirement_has_something_to_look_at_first():
    assert [name for name in registry.requirements() if not usual_cause(name)] == []


def test_every_sentence_is_of_some_requirement():
    first = {
        next((pattern for pattern in families() if fnmatchcase(name, pattern)), None)
        for name in registry.requirements()
    }
    assert set(families()) - first == set()


def test_where_a_family_has_no_sentence_it_is_that_of_a_known_mistake():
    assert not any(fnmatchcase("TOK-TRAIN-1", pattern) for pattern in families())
    assert usual_cause("TOK-TRAIN-1") == "max, not min"


def leaking(config, weights):
    def forward(query, key, value, *, attn_mask=None, **options):
        scores = query @ key.mT / query.shape[-1] ** 0.5
        shares = torch.softmax(scores, dim=-1)
        if attn_mask is not None:
            shares = shares * (0.3 + 0.7 * attn_mask)
        return shares @ value

    return forward


def test_it_is_shown_with_the_function_to_look_into(monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    report = attnconf.check({"attention": leaking}, select="MASK-ROWS-1")
    (failure,) = report.failures
    assert failure.likely is None
    assert failure.hint.startswith("hidden keys still get weight: set their scores to -inf before the softmax")
    text = str(report)
    assert f"\n  try       {failure.hint}\n  where     {failure.where}\n" in text
    assert f"\ntry:   {failure.hint}\nwhere: {failure.where}\n" in text
    assert failure.where.startswith("somewhere in forward(), test_usual_causes.py:")
