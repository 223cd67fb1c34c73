"""The block of what is not recognised: what was looked at, what was not, and how to say what it is."""

from made_records import record, result

from attnconf.reports.unrecognised import blocks


def block(name, made="Head(d)"):
    """Return the one block, as one line, on an implementation of this name, of which two laws were judged."""
    results = [
        result(name, "ATT-KEYS-1"),
        result(name, "ATT-ROWS-1", "fail"),
        *(result(name, f"ATT-A-{n}", "fail", settled=False, counts=False) for n in range(3)),
        result(name, "ATT-B-1", "not-applicable"),
    ]
    content = record(name, results, verdict="unrecognised")
    content["implementations"][0]["bound"] = [f"constructor  {made}", "weights      q = q"]
    (lines,) = blocks(content)
    return " ".join(" ".join(lines).split())


def test_it_says_how_many_requirements_say_something_and_how_many_do_not():
    text = block("it.py")
    assert "looked at 2 requirements that ask the same whichever parameter is which: 1 hold" in text
    assert "not judged: 3 others, which ask something else in each reading" in text


def test_what_was_said_already_is_not_advised():
    assert "say what it is: attnconf run --impl=it.py:Head@attention, or another" in block("it.py")
    said = block("it.py:Head@attention")
    assert "attnconf run" not in said
    assert "say how it is read: attnconf bind it.py:Head@attention > adapter.py" in said


def test_what_makes_a_class_ready_is_not_its_name():
    text = block("it.py", 'dropping(in_single(Head(d), "norm"), dropout)')
    assert "attnconf run --impl=it.py:Head@attention" in text
