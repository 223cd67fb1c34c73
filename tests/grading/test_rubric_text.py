"""Rubrics: what is read of one, and that each mistake in one is told in one line, with the line it is on."""

import pytest

from attnconf.conformance.grading import overview, rubric_text
from attnconf.conformance.grading.rubric import RubricError, Wanted
from attnconf.conformance.grading.scoring import Planned

GOOD = """\
title = "A homework"
components = ["multi_head_attention", "rotary"]  # [[item]] in a comment
forbidden = ["torch.nn.MultiheadAttention"]

[conventions]
mask = "true-keeps"

[[item]]
name = "Scores"
points = 5
component = "multi_head_attention"
requirements = [
    "ATT-SCALE-1",
    "ATT-SCORE-1",
]

[[item]]
name = "Rotation"
points = 2.5
component = "rotary"
section = "rotary/The rotation"
without = ["ROPE-BASE-1"]
needs = ["Scores"]
partial = true
cap = 0.25
visibility = "after_due_date"
hint = "category"
"""


def parse(text=GOOD):
    return rubric_text.parse(text, "hw.toml")


def wrong(text):
    with pytest.raises(RubricError) as error:
        parse(text)
    said = str(error.value)
    assert "\n" not in said
    return said


def test_a_rubric_is_read():
    rubric = parse()
    scores, rotation = rubric.items
    assert (rubric.title, rubric.profile, rubric.points) == ("A homework", "core-3", 7.5)
    assert rubric.wanted == (Wanted("multi_head_attention"), Wanted("rotary"))
    assert rubric.conventions == {"mask": "true-keeps"}
    assert rubric.forbidden == ("torch.nn.MultiheadAttention",)
    assert (rubric.unrecognised, rubric.seconds, rubric.text, rubric.source) == ("nothing", 120, GOOD, "hw.toml")
    assert scores.requirements == ("ATT-SCORE-1", "ATT-SCALE-1")  # in the order of the page
    assert "ROPE-DIR-1" in rotation.requirements
    assert not {"ROPE-BASE-1", "ROPE-POS-1", "ROPE-ODD-1"} & set(rotation.requirements)
    assert (rotation.needs, rotation.partial, rotation.cap) == (("Scores",), True, 0.25)
    assert (rotation.visibility, rotation.hint) == ("after_due_date", "category")


def test_a_component_may_be_a_class_of_a_name():
    start = 'title = "T"\n[[component]]\nname = "rotary"\nclass = "RoPE"\n'
    item = '[[item]]\nname = "a"\npoints = 1\nquality = "robust"\n'
    rubric = parse(start + item)
    assert rubric.wanted == (Wanted("rotary", "RoPE"),)
    assert rubric.items[0].requirements[0].startswith("ROPE-")
    assert set(rubric.items[0].requirements) >= {"ROPE-ODD-1", "CALL-LAYOUT-1"}
    (only,) = parse(start + item + 'chapter = "rotary"\n').items
    assert "ROPE-ODD-1" in only.requirements
    assert "CALL-LAYOUT-1" not in only.requirements


def test_a_requirement_is_in_two_items_only_where_one_says_so():
    twice = (
        '\n[[item]]\nname = "Again"\npoints = 1\ncomponent = "multi_head_attention"\nrequirements = ["ATT-SCALE-1"]\n'
    )
    assert wrong(GOOD + twice) == (
        "hw.toml:33: ATT-SCALE-1 is in the item 'Scores', too: want it in one, or shared = true"
    )
    assert parse(GOOD + twice + "shared = true\n").points == 8.5


def replaced(old, new):
    assert GOOD.count(old) == 1
    return GOOD.replace(old, new)


REPLACED = [
    # the head
    ('title = "A homework"', "", "hw.toml:1: title is missing: want a text"),
    ('"A homework"', "7", "hw.toml:1: title = 7: want a text"),
    ('"A homework"', '" "', "hw.toml:1: title = ' ': want a text of one line"),
    ("title = ", "profile = 'core-9'\ntitle = ", "hw.toml:1: no profile 'core-9': there are "),
    ("title = ", "tilte = 'x'\ntitle = ", "hw.toml:1: unknown key 'tilte' of a rubric; nearest: title"),
    ("title = ", "seconds = -1\ntitle = ", "hw.toml:1: seconds = -1: want a number from 1 to 86400"),
    ("title = ", "seconds = inf\ntitle = ", "hw.toml:1: seconds = inf: want a number from 1 to 86400"),
    ("title = ", "unrecognised = 'all'\ntitle = ", "hw.toml:1: unrecognised = 'all': want one of nothing, laws"),
    ('"torch.nn.MultiheadAttention"', '"torch nn"', "hw.toml:3: forbidden: 'torch nn' is no dotted name, such as "),
    ('["torch.nn.MultiheadAttention"]', "[]", "hw.toml:3: forbidden = []: want at least one"),
    # components
    ('"multi_head_attention",', '"multihead_attention",',
     "hw.toml:2: no component 'multihead_attention'; nearest: multi_head_attention"),
    ('["multi_head_attention", "rotary"]', '["rotary", "rotary"]', "hw.toml:2: components has 'rotary' twice"),
    ('["multi_head_attention", "rotary"]', "[1]", "hw.toml:2: components = [1]: want a list of texts"),
    ('"rotary"]', '"rotary", "alibi"]', "hw.toml:2: no item is about alibi"),
    ('components = ["multi_head_attention", "rotary"]', "",
     "hw.toml:1: there are neither components nor [[component]]: want one of them"),
    ("[conventions]", "[[component]]\nname = 'rotary'\n[conventions]",
     "hw.toml:5: there are both components and [[component]]: want one of them"),
    # conventions
    ("mask = ", "maks = ", "hw.toml:6: no convention 'maks'; nearest: mask"),
    ('"true-keeps"', '"true-keep"', "hw.toml:6: mask = 'true-keep': want one of true-keeps, true-drops, "),
    ('mask = "true-keeps"', 'eps = "1e-05"', "hw.toml:6: eps is no choice that multi_head_attention, rotary has"),
    ("[conventions]\n", "", "hw.toml:5: unknown key 'mask' of a rubric"),
    # items
    ("points = 5", "pionts = 5", "hw.toml:10: unknown key 'pionts' of an item; nearest: points"),
    ("points = 5", "", "hw.toml:8: points is missing: want a number"),
    ("points = 5", 'points = "5"', "hw.toml:10: points = '5': want a number"),
    ("points = 5", "points = true", "hw.toml:10: points = True: want a number"),
    ("points = 5", "points = -1", "hw.toml:10: points = -1: want a number from 0 to 1e+06"),
    ("points = 5", "points = nan", "hw.toml:10: points = nan: want a number from 0 to 1e+06"),
    ("points = 5", "points = inf", "hw.toml:10: points = inf: want a number from 0 to 1e+06"),
    ("points = 5", "points = 1.234", "hw.toml:10: points = 1.234: want at most two decimals"),
    ('name = "Rotation"', 'name = "Scores"', "hw.toml:18: name = 'Scores': there is such an item above"),
    ('name = "Rotation"', "", "hw.toml:17: name is missing: want a text"),
    ('component = "rotary"', "", "hw.toml:17: component is missing: want a text"),
    ('component = "rotary"', 'component = "rotery"',
     "hw.toml:20: the rubric wants no component 'rotery'; nearest: rotary"),
    ('"ATT-SCORE-1"', '"ATT-SCOR-1"', "hw.toml:14: requirements: no requirement 'ATT-SCOR-1'; nearest: ATT-SCORE-1"),
    ('"ATT-SCORE-1"', '"ROPE-DIR-1"',
     "hw.toml:14: requirements: ROPE-DIR-1 is not asked of multi_head_attention in core-3"),
    ('"ATT-SCORE-1"', '"ATT-SCALE-1"', "hw.toml:13: requirements has 'ATT-SCALE-1' twice"),
    ('section = "rotary/The rotation"\n', "",
     "hw.toml:17: the item does not say what it is about: want one of requirements, chapter, section, quality"),
    ('"rotary/The rotation"', '"rotary/The rotations"',
     "hw.toml:21: no section 'rotary/The rotations' has requirements on the component; nearest: rotary/The rotation"),
    ('section = "rotary/The rotation"', 'chapter = "rotari"',
     "hw.toml:21: no chapter 'rotari' has requirements on the component; nearest: rotary"),
    ('section = "rotary/The rotation"', 'quality = "robst"',
     "hw.toml:21: quality = 'robst': want one of robust, precise, efficient; nearest: robust"),
    ('section = "rotary/The rotation"', 'section = "rotary/The rotation"\nrequirements = ["ROPE-DIR-1"]',
     "hw.toml:21: requirements are listed, so section says nothing: want one of the two"),
    ('without = ["ROPE-BASE-1"]', 'quality = "efficient"',
     "hw.toml:17: the item is about nothing: core-3 asks for no such requirement on rotary"),
    ('"ROPE-BASE-1"', '"ROPE-POS-1"', "hw.toml:22: without: ROPE-POS-1 is not in the item, so it need not be left out"),
    ('needs = ["Scores"]', 'needs = ["Score"]', "hw.toml:23: needs: no item 'Score'; nearest: Scores"),
    ('needs = ["Scores"]', 'needs = ["Rotation"]', "hw.toml:23: needs goes in a circle: Rotation -> Rotation"),
    ("points = 5", 'points = 5\nneeds = ["Rotation"]',
     "hw.toml:11: needs goes in a circle: Scores -> Rotation -> Scores"),
    ("cap = 0.25", "cap = 1.5", "hw.toml:25: cap = 1.5: want a number from 0 to 1"),
    ("cap = 0.25", "threshold = -0.5", "hw.toml:25: threshold = -0.5: want a number from 0 to 1"),
    ("partial = true", "all_or_nothing = true", "hw.toml:25: cap needs partial = true"),
    ("cap = 0.25", "all_or_nothing = true", "hw.toml:24: partial has no effect with all_or_nothing = true"),
    ("partial = true", "partial = 1", "hw.toml:24: partial = 1: want true or false"),
    ('"after_due_date"', '"after_due"',
     "hw.toml:26: visibility = 'after_due': want one of visible, hidden, after_due_date, after_published; nearest: "),
    ('"category"', '"all"', "hw.toml:27: hint = 'all': want one of none, category, diagnosis"),
    ("[[item]]\nname = \"Scores\"", "[item]\nname = \"Scores\"", "hw.toml:17: this is not TOML at column "),
    # TOML
    ("points = 5", "points = ", "hw.toml:10: this is not TOML at column 10: Invalid value"),
    ("points = 5", "points = 5\npoints = 6", "hw.toml:11: this is not TOML at column "),
    ('hint = "category"', 'hint = "category', "hw.toml:27: this is not TOML at column "),
    ('hint = "category"', "hint = [", "hw.toml:27: this is not TOML"),
    ('hint = "category"', "hint = " + "[" * 5000, "hw.toml:27: this is not TOML"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "said"), REPLACED, ids=[f"{at} {case[2][8:50]}" for at, case in enumerate(REPLACED)]
)
def test_a_mistake_is_told_with_its_line(old, new, said):
    assert wrong(replaced(old, new)).startswith(said)


HEAD = 'title = "T"\ncomponents = ["rotary"]\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "hw.toml:1: title is missing: want a text"),
        (HEAD, "hw.toml:1: there is no [[item]], so nothing earns points"),
        (HEAD + "item = []\n", "hw.toml:1: there is no [[item]], so nothing earns points"),
        (HEAD + "item = 3\n", "hw.toml:3: item = 3: want tables, each under [[item]]"),
        (HEAD + "[item]\n", "hw.toml:3: item = {}: want tables, each under [[item]]"),
        (HEAD + "conventions = 3\n", "hw.toml:3: conventions = 3: want a table, [conventions]"),
        (HEAD + '[[item]]\nname = "a"\npoints = 0\nchapter = "rotary"\n', "hw.toml:3: no item is worth any points"),
        ('title = "T"\ncomponent = []\n', "hw.toml:2: component = []: want at least one"),
        ('title = "T"\n[[component]]\nname = "rotary"\nclass = "a b"\n',
         "hw.toml:4: class = 'a b': want the name of a class"),
        ('title = "T"\n[[component]]\nname = "rotary"\nkind = "x"\n', "hw.toml:4: unknown key 'kind' of a component"),
        ('title = "T"\n[[component]]\nname = "rotary"\n[[component]]\nname = "rotary"\n',
         "hw.toml:5: name = 'rotary': there is such a component above"),
        ('title = "T"\nprofile = "core-1"\ncomponents = ["rotary"]\n',
         "hw.toml:3: core-1 asks for nothing of rotary: it is about attention, multi_head_attention"),
    ],
)  # fmt: skip
def test_a_mistake_of_the_whole_is_told(text, said):
    assert wrong(text).startswith(said)


def test_lines_are_counted_past_texts_and_comments_that_look_like_tables():
    odd = "title = \"T\"\n# points = 9\nforbidden = [ # ]\n  \"a.b\", '''c.d''' ]\r\ncomponents = [\"rotary\"]\n"
    item = '[[ item ]] # [[item]]\n"name" = """\nan item"""\n\'points\' = -1\nchapter = "rotary"\n'
    assert wrong(odd + item).startswith("hw.toml:9: points = -1")
    dotted = 'title = "T"\ncomponents = ["rotary"]\nconventions.rope-pairing = "thirds"\n'
    assert wrong(dotted + '[[item]]\nname = "a"\npoints = 1\nchapter = "rotary"\n').startswith(
        "hw.toml:3: rope-pairing"
    )
    inline = 'title = "T"\ncomponents = ["rotary"]\nitem = [\n  {name = "a", points = 1, chapter = "rotari"},\n]\n'
    assert wrong(inline).startswith("hw.toml:4: no chapter 'rotari'")


def refused(path):
    with pytest.raises(RubricError) as error:
        rubric_text.load(path)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_a_file_that_is_no_rubric_is_told(tmp_path):
    file = tmp_path / "hw.toml"
    file.write_text(GOOD, encoding="utf-8-sig")  # as Windows writes it
    assert rubric_text.load(file).source == str(file)
    file.write_bytes(b'title = "x"\ncomponents = ["\xff"]\n')
    assert refused(file) == f"{file}:2: the byte 0xff is not UTF-8; save the file as UTF-8"
    assert refused(tmp_path) == f"{str(tmp_path)!r} is a folder, want a rubric: a .toml file"
    assert refused(tmp_path / "wh.toml").endswith(f"positional-encodings ship; nearest: {file}")
    assert refused("first-atention").endswith("; nearest: first-attention")
    assert refused("a\0b").startswith("cannot read 'a\\x00b'")


@pytest.mark.parametrize("name", rubric_text.shipped())
def test_a_shipped_rubric_gives_a_hundred_points(name):
    rubric = rubric_text.load(name)
    assert (rubric.points, rubric.source) == (100, name)
    assert len(rubric.items) <= 10


def test_what_a_rubric_gives_points_for_is_told():
    told = overview.lines(parse())
    assert told[:6] == [
        "A homework (core-3)",
        "prescribed: mask = true-keeps",
        "",
        "points  requirements  item",
        "     5             2  Scores",
        "   2.5            11  Rotation  in part, up to 25%; needs Scores; after_due_date",
    ]
    assert told[6] == "   7.5            13  in all"
    assert "  rotary/The rotation: ROPE-BASE-1" in told
    assert not any("ROPE-DIR-1" in line for line in told)


def test_what_a_plan_keeps_everybody_from_earning_is_told():
    rubric = parse()
    plan = [Planned(item.component, name, True) for item in rubric.items for name in item.requirements]
    assert overview.gaps(rubric, plan) == []
    assert overview.gaps(rubric, plan[1:]) == ["Scores is without ATT-SCORE-1, which cannot be judged here"]
    assert overview.gaps(rubric, plan[2:]) == [
        "multi_head_attention can earn nothing: what computes nothing passes all that is asked of it",
        "Scores can earn nothing: none of its requirements can be judged here",
    ]
