"""What is unlike its row is told: another outcome, another name, and a file that has no row."""

from unlike_rows import unlike


def test_an_outcome_or_a_name_that_is_another_is_told():
    rows = {("wrong/a.py", "attention"): ("named", "ATT-unscaled"), ("right/b.py", "rotary"): ("conformant", "")}
    assert unlike(rows, rows) == []
    assert unlike(rows, {("right/b.py", "rotary"): ("WRONG VERDICT", "")}) == [
        "right/b.py rotary: ('conformant', '') -> ('WRONG VERDICT', '')"
    ]
    others = {("wrong/a.py", "attention"): ("named", "ATT-two"), ("right/c.py", "rotary"): ("conformant", "")}
    assert len(unlike(rows, others)) == 2
