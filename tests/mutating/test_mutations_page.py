"""The page of machine-made changes counts what became of them, and gives each survivor its reason."""

from attnconf.reports.mutations import key, page


def change(place, altered, verdict, *, raises=False, named=""):
    rejected = verdict != "conformant" and not raises
    return {
        "kind": "constant", "place": place, "line": 3, "before": "x = 1", "after": "x = 2 | 3",
        "effect": {"altered": altered, "raises": raises, "situation": "", "difference": ""},
        "verdict": {"component": "attention", "verdict": verdict, "reason": "", "named": named, "inside": ""},
        "rejected": rejected, "survives": altered and verdict == "conformant", "accused": not altered and rejected,
    }  # fmt: skip


RESULT = {
    "file": "right/one.py",
    "changes": [
        change("line 1", True, "nonconformant", named="unscaled"), change("line 2", True, "unrecognised"),
        change("line 3", True, "conformant"), change("line 4", True, "conformant"),
        change("line 5", True, "not judged", raises=True), change("line 6", False, "conformant"),
        change("line 7", False, "incomplete"),
    ],
}  # fmt: skip


def numbers(text):
    lines = (line.strip("|").split("|") for line in text.splitlines() if line.startswith("| "))
    return {cells[0].strip(): cells[1].strip() for cells in lines if len(cells) == 2}


def test_every_change_is_counted_once():
    found = numbers(page([RESULT], {}))
    assert found["changes"] == "7"
    assert found["alter something"] == "5"
    assert found["alter nothing"] == "2"
    assert found["are judged"] == "4"
    assert found["of these rejected"] == "2"
    assert found["survive"] == "2"
    assert found["as nonconformant"] == "1"
    assert found["with the name of a mistake"] == "1"
    assert found["of these rejected all the same"] == "1"


def test_a_survivor_without_a_reason_is_open():
    survivor = {**RESULT["changes"][2], "file": "one.py"}
    text = page([RESULT], {key(survivor): "a default"})
    found = numbers(text)
    assert found["of these: a default"] == "1"
    assert found["of these: open"] == "1"
    assert found["of what a requirement speaks of, rejected"] == "66.6 % of 3"
    assert r"line 3: x = 2 \| 3" in text


def test_what_is_rejected_though_it_seems_harmless_has_a_reason_or_is_open():
    accused = {**RESULT["changes"][6], "file": "one.py"}
    last = page([RESULT], {key(accused): "an option that no input asks for"}).splitlines()[-1]
    assert "line 7" in last
    assert "an option that no input asks for" in last
    assert "open" in page([RESULT], {}).splitlines()[-1]
