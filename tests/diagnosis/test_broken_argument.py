"""What is said of an argument that does not do what its name promises: its line, and what mends it."""

import pytest

from attnconf.conformance.diagnosis.broken_argument import line_in, mended, without_line

RAISES = "the argument `mask` of forward raises AttributeError: no 'gone' (it.py:2)"


def test_the_line_that_the_words_end_with_is_shown_with_its_code(tmp_path):
    path = tmp_path / "it.py"
    path.write_text("def forward(x, mask):\n    return x + mask.gone\n", encoding="utf-8")
    assert line_in(RAISES, str(path)) == "it.py:2  return x + mask.gone"
    assert without_line(RAISES) == "the argument `mask` of forward raises AttributeError: no 'gone'"


@pytest.mark.parametrize("words", ["the argument `offset` of forward has no effect", "6 heads: want (6, 5, 5)"])
def test_words_that_know_no_line_stay_whole(words):
    assert line_in(words, "it.py") is None
    assert without_line(words) == words


def test_a_cell_of_a_notebook_is_a_place():
    assert line_in("it raises KeyError (In [3], line 4)", "") == "In [3], line 4"


def test_what_is_no_argument_gets_no_advice_on_one():
    assert "mend this line" in str(mended(RAISES))
    assert mended("6 heads: out has shape (12, 5, 5), want (6, 5, 5)") is None
