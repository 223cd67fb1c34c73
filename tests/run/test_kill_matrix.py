"""The suite's own proof: every check has been seen to fail, at the root of a known mistake, and by a wide margin."""

import ast
import random
import re
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import drawn
import pytest

from attnconf.adapters.contract import COMPONENTS
from attnconf.conformance.chapters import contents
from attnconf.conformance.chapters.contents import all_checks, all_mutants
from attnconf.conformance.chapters.equivalent_mutants import equivalents
from attnconf.conformance.engine.evidence import DIFFERENCES_SOURCE, SEMANTIC_SOURCE
from attnconf.conformance.engine.mutant import reaches
from attnconf.conformance.run import kept_rows, matrix, mutant_rows
from attnconf.conformance.source.syntax import tree_of
from attnconf.reports import kill_matrix, kill_picture
from attnconf.spec import registry

MARGIN = 1000  # the smallest effect of a mutant, in units of the bound

# Bounds other than the semantic gap, by how their source begins: the smallest ratio, and why it is not MARGIN.
OTHER_BOUNDS = {
    "exact": (MARGIN, "the bound is 0: any difference is infinitely far beyond it"),
    DIFFERENCES_SOURCE: (MARGIN, "a missing gradient is off by all of itself, which is 10⁴ bounds"),
    "1e-5": (MARGIN, "a path that forgets something is off by all of it, though float32 is all that is asked of it"),
    "1e-4·max": (5, "the ten bits of TF32 are off by 6e-4, and little that is wrong in float32 alone is finer"),
    "1e-10": (MARGIN, "float32 inside float64 is off by 1e-7, a thousand bounds"),
    "two roundings of": (4, "half precision: neighbours become one, which is a whole slope of the 16 that are judged"),
    "float16: ": (MARGIN, "an overflow is off by infinity"),
    "drift of float32": (MARGIN, "a table that ends too soon is off by 1, and the drift at position 4000 is 5e-4"),
    "half precision: one unit": (50, "what is judged is 1 against one unit of a 16-bit format, 8e-3 in bfloat16"),
    "float32, frequencies from rounded": (MARGIN, "a frequency that is left out is off by 1, and the bound is 3·10⁻⁵"),
    "float32 angles": (MARGIN, "a position that is rounded to another is off by radians, and the bound is 3·10⁻⁴"),
    "two roundings of the dtype": (8, "steps of a half are 30 roundings of bfloat16, at the largest number"),
    "two steps of the dtype": (10, "angles are off by radians at most, and a step of bfloat16 is a hundredth"),
    "2·(error of the textbook": (1.5, "half precision judges rounding against rounding: there is no gap to widen"),
    "3·(error of the textbook": (1.5, "ten bits against 24, but in the sum of all roundings"),
    "2.5·(error of the textbook": (1.5, "half precision judges rounding against rounding: there is no gap to widen"),
    "through ": (1.5, "half precision of layers: rounding against rounding, as above"),
    "float32: 2.4e-7": (MARGIN, "a sine of a wrong angle is off by about 1"),
    "2M·(float32: 2.4e-7": (MARGIN, "an inner product of M wrong cosines is off by about M"),
    "1e-11": (MARGIN, "float32 inside float64 is off by 1e-7, ten thousand bounds"),
    "float32 in a norm": (MARGIN, "half the digits of float32 are a thousand units of it, and a guessed root is 3 %"),
    "offset of 1e4 in float32": (
        100,
        "what cancels leaves a variance that is off by its own size, and the bound is 5e-3",
    ),
    "half precision of a norm": (
        1.5,
        "a sum that stagnates is off by its own size, and the bound is 16 units of bfloat16",
    ),
    "half precision after a norm": (1.5, "half precision judges rounding against rounding: 2 units, where 4 are wrong"),
    "eight units of bfloat16": (10, "positions that become one differ by 1 at most, and eight units are 6e-2"),
    "as many as in": (1.01, "operations are whole numbers, counted without error: one more is one too many"),
    "FLOPs of the formula": (1.1, "FLOPs are whole numbers, and a part that is computed twice is a part of them"),
    "growth of memory": (1.3, "an exponent is off by a whole number: 2 where 1 is wanted, with 1.15 allowed"),
    "numbers for each score": (1.5, "E = 16 numbers for a score where 3 are needed and 8 are allowed"),
    "one rounding of the half precision": (100, "an error of 1 against what rounds to 2^-8 and cannot be told finer"),
}

# Roots judged by the semantic gap whose effect is smaller: the smallest ratio, and why no stimulus makes it larger.
NARROW = {
    "ATT-PREC-1": (300, "what is judged is one rounding step of a 16-bit format, 5e-4 to 4e-3 of the value itself"),
}

ONNX_SURVIVORS = 11  # of 46 mutants of ONNX's Attention cases (93 cases, none with a negative number)


AT_ONCE = 20  # mutants that a worker judges before it looks what is left
NAMES = [mutant_rows.REFERENCE, *mutant_rows.known()]
PARTS = {NAMES[first]: NAMES[first : first + AT_ONCE] for first in range(0, len(NAMES), AT_ONCE)}
RECOMPUTED = 0.03  # of the rows, without the short cut


@pytest.fixture(scope="session")
def judged(together, request):
    """Return the function that gives the rows of a part of the mutants: kept, or judged by one of the workers."""
    matrix.prepare()
    kept = {} if request.config.getoption("--in-full") else kept_rows.read()

    def unharmed(component):
        return together.value(component, lambda: mutant_rows.unharmed(component))

    def rows_of(part):
        return [row for name in PARTS[part] for row in mutant_rows.rows_of(name, kept, unharmed)]

    return lambda parts: together.values(parts, rows_of, others=PARTS)


@pytest.fixture(scope="session")
def rows(judged):
    """Return the whole matrix."""
    return tuple(row for part in judged(PARTS).values() for row in part)


@pytest.fixture(scope="session")
def of_mutants(rows):
    """Return (mutant, row) for every mutant of a chapter and every component."""
    return [(all_mutants()[row.mutant], row) for row in rows if row.mutant in all_mutants()]


@pytest.mark.parametrize("part", PARTS)
def test_every_row_is_judged(part, judged):
    """Here, so that the workers share the work; what the rows must be is asserted of all of them below."""
    (found,) = judged([part]).values()
    assert [(row.mutant, row.component) for row in found] == [(m, c) for m in PARTS[part] for c in COMPONENTS]


def test_the_reference_fails_nothing(rows):
    failed = {row.component: row.failed for row in rows if row.mutant == mutant_rows.REFERENCE}
    assert failed == dict.fromkeys(COMPONENTS, frozenset())


def test_the_roots_of_a_mutant_are_what_it_breaks(of_mutants):
    """Where its code is reached; elsewhere its row is the reference's."""
    wrong = {}
    for mutant, row in of_mutants:
        silent = row.component in mutant.silent_on or not mutant_rows.shows(row.component, mutant)
        want = set() if silent else set(mutant.breaks) & set(row.judged)
        if set(row.roots) != want:
            wrong[mutant.id, row.component] = f"roots {sorted(row.roots)}, breaks {sorted(want)}"
    assert not wrong


def test_a_mutant_is_silent_where_it_says_so(of_mutants):
    loud = {(m.id, row.component): sorted(row.failed) for m, row in of_mutants if row.component in m.silent_on}
    assert not {where: failed for where, failed in loud.items() if failed}


@pytest.mark.parametrize("name", ["ATT-query-overwritten", "ATT-stale-cache"])
def test_what_a_component_cannot_reach_is_the_reference_there(name, rows):
    """Such rows are copied; judged, they come out the same."""
    assert reaches("attention", all_mutants()[name])
    assert not reaches("multi_head_attention", all_mutants()[name])
    (copied,) = [row for row in rows if (row.mutant, row.component) == (name, "multi_head_attention")]
    assert outcome(copied) == outcome(mutant_rows.judge_one(name, "multi_head_attention"))


def test_some_rows_at_random_come_out_the_same_without_the_short_cut(rows, request):
    """Others every day; all of them with --in-full."""
    day = drawn.day().isoformat()
    judged = [row for row in rows if row.mutant != mutant_rows.REFERENCE]
    judged = [row for row in judged if mutant_rows.shows(row.component, mutant_rows.known()[row.mutant])]
    in_full = request.config.getoption("--in-full")
    some = judged if in_full else random.Random(day).sample(judged, round(RECOMPUTED * len(judged)))
    print(f"drawn on {day}: {', '.join(f'{row.mutant} on {row.component}' for row in some)}")
    other = [row for row in some if outcome(row) != outcome(mutant_rows.judge_one(row.mutant, row.component))]
    assert not other


def outcome(row):
    """Return a row without its effects, kept with few digits, and without the order in which the short cut judges."""
    return replace(row, effects={}, judged=tuple(sorted(row.judged)))


def test_the_short_cut_is_taken_and_not_everywhere():
    """What is wrong with scores shows wherever there are any; with causality, only where a check is causal."""
    unharmed = mutant_rows.unharmed("attention")
    soft, causal = (all_mutants()[name] for name in ("ATT-unscaled", "MASK-causal-strict"))
    assert not unharmed.comes_out_the_same(soft, "ATT-ORACLE-1")
    assert unharmed.comes_out_the_same(causal, "ATT-SCALE-1")
    assert not unharmed.comes_out_the_same(causal, "MASK-CAUSAL-1")


def test_every_mutant_shows_on_some_component():
    assert all(any(mutant_rows.shows(c, mutant) for c in COMPONENTS) for mutant in mutant_rows.known().values())


def test_every_mutant_is_killed(of_mutants):
    assert {m.id for m in all_mutants().values()} == {m.id for m, row in of_mutants if row.roots}


def test_every_requirement_is_the_root_of_a_mutant(of_mutants):
    assert {root for _, row in of_mutants for root in row.roots} == set(all_checks())


def test_every_presupposition_is_witnessed(of_mutants):
    """Some mutant fails both ends of it, with the presupposed one at the root."""
    edges = {(r.id, other) for r in registry.requirements().values() for other in r.presupposes}
    seen = {(failed, root) for _, row in of_mutants for root in row.roots for failed in row.consequences}
    assert sorted(edges - seen) == []


def test_no_presupposition_is_implied_by_others():
    implied = [
        (r.id, other)
        for r in registry.requirements().values()
        for other in r.presupposes
        if any(other in registry.ancestors(third) for third in r.presupposes)
    ]
    assert not implied


def test_an_exception_is_a_root_only_where_the_mutant_says_so(of_mutants):
    said = {m.id: set(m.raises) for m in all_mutants().values()}
    seen = defaultdict(set)
    for mutant, row in of_mutants:
        seen[mutant.id] |= set(row.raised) & set(row.roots)
    assert {name: seen[name] for name in said} == said


def test_nothing_is_an_error_or_unsupported(rows):
    assert not {(row.mutant, row.component): row.odd for row in rows if row.odd}


def smallest_allowed(requirement, source):
    """Return the ratio of error to bound that a root must reach."""
    if source == SEMANTIC_SOURCE:
        return NARROW.get(requirement, (MARGIN,))[0]
    known = [least for begin, (least, _) in OTHER_BOUNDS.items() if source.startswith(begin)]
    assert known, f"{requirement} is judged by a bound that OTHER_BOUNDS does not list: {source}"
    return known[0]


def test_every_effect_is_far_beyond_its_bound(of_mutants):
    """So that neither a slow machine nor an honest rounding decides a verdict."""
    small = {
        (mutant.id, row.component, root): effect.ratio
        for mutant, row in of_mutants
        for root, effect in row.effects.items()
        if effect.ratio is not None and effect.ratio < smallest_allowed(root, effect.source)
    }
    assert not small


def test_every_narrow_margin_is_needed(of_mutants):
    ratios = [(root, e) for _, row in of_mutants for root, e in row.effects.items() if e.ratio is not None]
    for requirement in NARROW:
        assert any(root == requirement and e.ratio < MARGIN for root, e in ratios)


def test_the_mutants_that_onnx_lets_live_are_killed(of_mutants):
    survivors = {m.id for m in all_mutants().values() if "survives ONNX" in m.source}
    assert len(survivors) == ONNX_SURVIVORS
    assert survivors == {m.id for m, row in of_mutants if row.roots and m.id in survivors}


@pytest.mark.parametrize("chapter", registry.CHAPTERS.values())
def test_no_name_is_taken_twice_in_a_module_of_mutants(chapter):
    """The second would hide the first, which nobody would judge."""
    folder = Path(str(contents.__file__)).parent / chapter
    for path in (*folder.glob("mutants.py"), *folder.glob("mutants/*.py")):
        body = tree_of(path.read_text(encoding="utf-8")).body
        names = [ast.unparse(target) for node in body if isinstance(node, ast.Assign) for target in node.targets]
        names += [node.name for node in body if isinstance(node, ast.FunctionDef)]
        assert sorted(set(names)) == sorted(names), path


def test_there_are_enough_mutants():
    assert len(all_mutants()) >= 70


@pytest.mark.parametrize("name", equivalents())
def test_an_equivalent_mutant_fails_nothing(name, rows):
    assert {row.component: row.failed for row in rows if row.mutant == name and row.failed} == {}


def test_every_equivalent_mutant_has_its_proof():
    text = (matrix.REPORT.parents[1] / "conformance/chapters/equivalent_mutants.md").read_text(encoding="utf-8")
    headings = [line for line in text.splitlines() if line.startswith("## ")]
    want = [f"## {i}. {m.id}: {m.story}" for i, m in enumerate(equivalents().values(), 1)]
    assert headings == want


def test_the_kept_rows_are_up_to_date(rows):
    kept, known = kept_rows.read(), mutant_rows.known()
    shown = [r for r in rows if r.mutant == mutant_rows.REFERENCE or mutant_rows.shows(r.component, known[r.mutant])]
    want = {(row.mutant, row.component): outcome(row) for row in shown}
    stale = sorted(key for key in want.keys() | kept.keys() if key not in kept or outcome(kept[key]) != want.get(key))
    assert not stale, "write anew with python -m attnconf.conformance.run.matrix"


def test_a_row_is_kept_as_it_is(rows, tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text(kept_rows.write(rows), encoding="utf-8")
    again = kept_rows.read(path)
    assert {k: outcome(row) for k, row in again.items()} == {k: outcome(row) for k, row in kept_rows.read().items()}
    few = path.read_text(encoding="utf-8").replace('"digest": "', '"digest": "0', 1)
    path.write_text(few, encoding="utf-8")
    assert again.keys() - kept_rows.read(path).keys() == {(mutant_rows.REFERENCE, next(iter(COMPONENTS)))}


def test_a_digest_sees_what_a_row_comes_from():
    """Another function of the reference, other checks or other mutants, and no other."""
    of = kept_rows.digest
    assert of("ATT-unscaled", "attention") == of("ATT-scaled-by-E", "attention")
    assert len({of("ATT-unscaled", "attention"), of("ATT-unscaled", "multi_head_attention")}) == 2
    assert of("MASK-inverted", "attention") != of("ATT-unscaled", "attention")


def test_what_is_made_from_the_mutants_is_up_to_date(rows):
    stale = [p.name for p, text in matrix.documents(rows) if not p.is_file() or p.read_text(encoding="utf-8") != text]
    assert not stale, f"{', '.join(stale)}: write anew with python -m attnconf.conformance.run.matrix"


def test_the_picture_has_a_dot_for_each_mutant_that_a_requirement_catches():
    """The page has the same in words: it is counted here, in place of judging."""
    page = matrix.REPORT.read_text(encoding="utf-8")
    killed = re.findall(r"^\| [A-Z]+-[A-Z0-9]+-\d+ \| (?:MUST|SHOULD) \| (.+) \|$", page, re.M)
    picture = matrix.REPORT.with_suffix(".svg").read_text(encoding="utf-8")
    assert picture.count("h0") == sum(len(cell.split(", ")) for cell in killed)
    assert f"{len(killed)} requirements, {len(all_mutants())} mutants" in picture


def test_a_small_picture():
    record = matrix.record(()) | {"rows": [{"mutant": "MASK-inverted", "roots": ["MASK-BOOL-1"]}]}
    (dot,) = re.findall(r"M([\d.]+) ([\d.]+)h0", kill_picture.picture(record))
    column = [m["id"] for m in record["mutants"]].index("MASK-inverted")
    row = [r["id"] for r in record["requirements"]].index("MASK-BOOL-1")
    assert [float(x) for x in dot] == pytest.approx(
        [kill_picture.LEFT + (column + 0.5) * kill_picture.COLUMN, kill_picture.TOP + (row + 0.5) * kill_picture.ROW],
        abs=0.1,
    )


def test_the_table_of_mistakes_needs_both_markers():
    begin = "<!-- mistakes: made from the mutants in conformance/chapters/masks -->"
    record = matrix.record(())
    page = kill_matrix.with_mistakes(f"before\n\n{begin}\nold\n<!-- end -->\n\nafter\n", record, "masks")
    assert page.startswith(f"before\n\n{begin}\n\n| Mistake |")
    assert page.endswith("\n\n<!-- end -->\n\nafter\n")
    assert "old" not in page
    with pytest.raises(ValueError, match="without <!-- end -->"):
        kill_matrix.with_mistakes(f"{begin}\n", record, "masks")


def test_one_mutant_is_tried_alone(capsys):
    assert matrix.main(["--only", "LRN-clamped"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("LRN-clamped: ")
    assert "  roots   LRN-BEYOND-1" in lines
    assert lines[-1] == "breaks is right"


def test_a_mutant_that_names_other_roots_is_told():
    mutant = replace(all_mutants()["LRN-clamped"], breaks=frozenset({"LRN-ROW-1"}))
    lines, agrees = matrix.examine(mutant)
    assert not agrees
    assert "  a root that breaks does not name: LRN-BEYOND-1" in lines
    assert "  named by breaks, and no root here: LRN-ROW-1" in lines
    assert "breaks names what is a root nowhere: LRN-ROW-1" in lines
