"""Which known mistake gives the replies of somebody's code, and what is looked at to find it."""

import pytest
import torch

from attnconf.adapters.contract import AttentionConfig
from attnconf.conformance.engine.request import Request
from attnconf.conformance.inference.trials import trial
from attnconf.conformance.inference.trials.trial import Certificate, drawn, textbook


@pytest.fixture
def certificate():
    inputs = {name: drawn(name, 2, 3, 5, 4) for name in ("query", "key", "value")}
    inputs["attn_bias"] = drawn("bias", 1, 1, 5, 5)
    return Certificate("attention", [Request("attention", AttentionConfig(), {}, inputs, (2, 3, 5, 4))])


def subtracts(mutant):
    return mutant.id == "MASK-bias-subtracted"


def test_what_matters_is_found_as_without_saying_so(certificate):
    given = certificate.replies(textbook("MASK-bias-subtracted"))
    assert certificate.mistake(given, {}).id == "MASK-bias-subtracted"
    assert certificate.mistake(given, {}, subtracts).id == "MASK-bias-subtracted"


def test_where_it_does_not_give_the_replies_no_other_is_looked_for(certificate, monkeypatch):
    given = certificate.replies(textbook("ATT-unscaled"))
    looked_at = []
    monkeypatch.setattr(trial, "textbook", lambda mutant="": looked_at.append(mutant) or textbook(mutant))
    assert certificate.mistake(given, {}, subtracts) is None
    assert looked_at == ["MASK-bias-subtracted"]
    assert certificate.mistake(given, {}).id == "ATT-unscaled"


def test_the_first_of_all_that_give_them_counts(certificate):
    """A mistake that matters may give the same numbers as one that stands before it."""
    given = certificate.replies(textbook("ATT-unscaled"))
    names = [m.id for m in certificate.mistakes(given, {})]
    assert certificate.mistake(given, {}, lambda m: m.id == names[-1]).id == names[0]
    assert torch.is_tensor(given[0].out)
