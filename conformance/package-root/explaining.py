"""``attnconf explain NAME``: texts on a requirement, mutant, chapter, component, convention, profile or case.

All but cases are read off the files, without torch.
"""

import re
import shutil
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache
from itertools import zip_longest

from attnconf.conformance.engine import catalogue, contract_texts
from attnconf.spec import courses, profiles, registry
from attnconf.spec.nearest import hint


def explain(name: str) -> list[str]:
    """Return the lines on everything with this name, in any case.

    Raises KeyError, with a message, if nothing has the name.
    """
    known, wanted = _known(), name.upper()
    if not any(key == wanted for key, _, _ in known) and re.search(r"[a-z].*-\d+$", name):  # as in readable-1
        known = [*known, *_cases()]
    blocks = [lines(written) for key, written, lines in known if key == wanted]
    if blocks:
        return [line for block in blocks for line in ["", *block]][1:]
    keys = {key: written for key, written, _ in known}
    begun = [key for key in keys if key.startswith(wanted)] if name else []
    near = f"; nearest: {keys[begun[0]]}" if begun else hint(wanted, keys, keys)
    kinds = "requirement, mutant, chapter, component, convention, profile or case"
    own = registry.may_be_of_course(name)
    raise KeyError(f"there is no {kinds} {name!r}{near or '; attnconf list shows all'}{own}")


Known = tuple[str, str, Callable[[str], list[str]]]  # (name in capitals, name, function that explains it)


@cache
def _known() -> list[Known]:
    kinds: list[tuple[Iterable[str], Callable[[str], list[str]]]] = [
        (registry.requirements(), lambda name: _requirement(registry.get(name))),
        (catalogue.mutant_texts(), lambda name: _mutant(catalogue.mutant_texts()[name])),
        (contract_texts.component_texts(), _component),
        (registry.CHAPTERS, lambda prefix: _chapter(registry.CHAPTERS[prefix])),
        ([c for c in registry.CHAPTERS.values() if not registry.of_course(c)], _chapter),
        (contract_texts.convention_texts(), _convention),
        (profiles.names(), _profile),
    ]
    return [(name.upper(), name, lines) for names, lines in kinds for name in names]


def _cases() -> list[Known]:
    from attnconf.explaining_cases import case_names, explain_case  # imports torch

    return [(name.upper(), name, explain_case) for name in case_names()]


def _requirement(r: registry.Requirement) -> list[str]:
    check = catalogue.check_texts(r.chapter).get(r.id)
    mutants = [(m.id, m.story) for m in catalogue.mutant_texts().values() if r.id in m.breaks]
    return [
        f"{r.id}  ({r.strength}, chapter {r.chapter})",
        *_wrapped(r.sentence),
        "",
        *_notes(r),
        *_reference(r),
        *_field("presupposes", _paired((other, registry.get(other).sentence) for other in r.presupposes)),
        *_field("needs", [", ".join(sorted(r.needs))] if r.needs else []),
        *_field("judged on", _judged_on(r)),
        *_field("broken by", _paired(mutants) or ["no known mistake"]),
        *_field("check", [_standing(check) if check else "none yet"]),
        *_field("cases", _cases_of(check) if check else []),
        *_field("example", _example(r)),
        *_field("page", [r.anchor]),
        *_field("run", [f"attnconf run --impl NAME{_profile_for(r)}{_course_of(r)} -k {r.id}"]),
    ]


def _cases_of(check: catalogue.CheckText) -> list[str]:
    """Return the families of cases of a check, and where they stand."""
    if not check.families:
        return ["as each chapter has them, in its calls.py"]
    names = ", ".join(family.removeprefix("stimuli.") for family in check.families)
    where = _module(check.chapter, "stimuli", check.module)
    return [f"{names} of {where}; a failure prints names, as readable-1, which attnconf explain takes"]


def _reference(r: registry.Requirement) -> list[str]:
    """Return the reference's functions for a requirement, with its sentence beside them on a wide terminal."""
    lines: list[str] = []
    for function in catalogue.references(r):
        code = [f"# reference/{function.chapter}.py:{function.line}", *function.source.split("\n")]
        room = shutil.get_terminal_size((120, 24)).columns - max(map(len, code)) - 5
        asked = textwrap.wrap(r.sentence, min(room, 44)) if room >= 28 else []
        width = max(map(len, asked), default=0)
        lines += [f"  {left:<{width}} | {line}".rstrip() for left, line in zip_longest(asked, code, fillvalue="")]
        lines.append("")
    return lines


def _example(r: registry.Requirement) -> list[str]:
    """Return the place of the page's worked example, for a requirement without one in its notes."""
    if any("Example." in line for line in _notes(r)):
        return []
    page = registry.page(r.chapter).read_text(encoding="utf-8").splitlines()
    headings = [(at, line) for at, line in enumerate(page, 1) if line.startswith(("> Example.", "## A worked example"))]
    return [f"spec/{r.chapter}.md:{headings[0][0]}  {headings[0][1].lstrip('># ')}"] if headings else []


def _mutant(m: catalogue.MutantText) -> list[str]:
    return [
        f"{m.id}  (mutant, chapter {m.chapter})",
        *_wrapped(m.story),
        "",
        *_field("breaks", _paired((broken, registry.get(broken).sentence) for broken in m.breaks)),
        *_field("hint", _folded(m.hint)),
        *_field("seen in", _folded(m.source) if m.source else []),
        *_field("file", [f"{_module(m.chapter, m.module)}:{m.line}"]),
    ]


def _course_of(r: registry.Requirement) -> str:
    course = courses.used()
    return f" --with {course.shown}" if course and registry.of_course(r.chapter) else ""


def _profile_for(r: registry.Requirement) -> str:
    """Return the --profile option that judges a requirement outside the default profile."""
    judging = [n for n in profiles.names() if any(e.requirement == r.id for e in profiles.load(n).entries)]
    return "" if profiles.DEFAULT in judging or not judging else f" --profile {judging[-1].rpartition('-')[0]}"


def _component(name: str) -> list[str]:
    component, conventions = contract_texts.component_texts()[name], contract_texts.convention_texts()
    chapters = _judged_by(name)
    first, *rest = component.docstring.split("\n\n")
    return [
        f"{name}  (component, judged by {', '.join(f'spec/{chapter}.md' for chapter in chapters)})",
        *_wrapped(" ".join(first.split())),
        "",
        *_field("adapter", [f"def {name}(config, weights):  # returns forward", f"forward({component.signature})"]),
        *_field("gives", [component.returns] if component.returns != "tensor" else []),
        *_field("config", [component.config, *(f"  {line}" for line in component.fields)]),
        *[line for text in rest for line in _field(*_named(text))],
        *_field("made of", [", ".join(component.made_of)] if component.made_of else []),
        *_field("can declare", [f"{c}: {', '.join(conventions[c].choices)}" for c in component.conventions]),
        *_field("judged by", _counted_profiles(name)),
        *_field("run", [f"attnconf run --impl NAME -k {name}"]),
    ]


def _named(text: str) -> tuple[str, list[str]]:
    """Return a paragraph of a configuration's docstring as a field."""
    text = " ".join(text.split()).replace("``", "`")
    return ("weights", _folded(text.removeprefix("Weights").lstrip(":, "))) if text.startswith("Weights") else (
        "", _folded(text)
    )  # fmt: skip


@cache
def _judged_by(component: str) -> list[str]:
    """Return the chapters that a component is judged by in the newest profiles, its own first."""
    entries = [e for name in profiles.names() for e in profiles.load(name).entries if e.component == component]
    own = Counter(registry.get(e.requirement).chapter for e in entries if e.lens.startswith("direct"))
    every = Counter(registry.get(e.requirement).chapter for e in entries)
    return [chapter for chapter, _ in (own + Counter(dict.fromkeys(every, 1))).most_common()]


def _counted_profiles(component: str) -> list[str]:
    lines = []
    for name in profiles.names():
        entries = [e for e in profiles.load(name).entries if e.component == component]
        counts = Counter("optional" if e.optional else "required" for e in entries)
        lines += [f"{name}: {', '.join(f'{n} {word}' for word, n in counts.items())}"] if entries else []
    return lines


def _chapter(name: str) -> list[str]:
    page = registry.page(name).read_text(encoding="utf-8")
    prefix = next(p for p, chapter in registry.CHAPTERS.items() if chapter == name)
    requirements = [r for r in registry.requirements().values() if r.chapter == name]
    topics: dict[str, list[str]] = {}
    for r in requirements:
        topics.setdefault(r.topic, []).append(r.id)
    mutants = [m for m in catalogue.mutant_texts().values() if m.chapter == name]
    functions = [(f.name, f.summary) for f in catalogue.reference_texts(name).values()]
    judged = [c for c in contract_texts.component_texts() if name in _judged_by(c)]
    return [
        f"{name}  (chapter {prefix}: {len(requirements)} requirements, {len(mutants)} known mistakes)",
        *_wrapped(page.partition("\n")[0].lstrip("# ")),
        "",
        *_field("requirements", _paired((topic, ", ".join(ids)) for topic, ids in topics.items())),
        *_field("judged on", _folded(", ".join(judged))),
        *_field("reference", [f"reference/{name}.py", *_paired(functions)] if functions else ["none"]),
        *_field("page", [_page(name)]),
    ]


def _page(chapter: str) -> str:
    own = registry.page(chapter)
    return f"{own.parent.name}/{own.name}"


def _convention(name: str) -> list[str]:
    convention = contract_texts.convention_texts()[name]
    first, *others = convention.choices
    having = [known.name for known in contract_texts.component_texts().values() if name in known.conventions]
    return [
        f"{name}  (convention)",
        *_wrapped(
            f"A choice that the specification leaves open: {', '.join(convention.choices)}. Different is not wrong."
        ),
        "",
        *_field("declare", [f'declares = {{"{name}": "{(others or [first])[0]}"}}  # in an adapter']),
        *_field("undeclared", _folded(f"observed where a page says so, else taken to be {first}")),
        *_field("components", _folded(", ".join(having))),
        *_field("pages", _paired((f"spec/{page}.md", _unlinked(row)) for page, row in convention.rows)),
    ]


def _unlinked(row: str) -> str:
    """Return the cells of a convention's row in a table, without its name and without links to pages."""
    cells = [cell.strip() for cell in row.strip("| ").split("|")[1:]]
    return "; ".join(cell for cell in cells if cell and not cell.startswith("["))


def _profile(name: str) -> list[str]:
    profile = profiles.load(name)
    places: dict[str, Counter[str]] = {}
    for e in profile.entries:
        places.setdefault(f"{e.component} ({e.lens})", Counter())["optional" if e.optional else "required"] += 1
    counts = [f"{place}: {', '.join(f'{n} {w}' for w, n in counts.items())}" for place, counts in places.items()]
    return [
        f"{name}  (profile{', the default' if name == profiles.DEFAULT else ''})",
        *_wrapped(profile.title),
        "",
        *_field("judges", counts),
        *_field("meaning", _folded("required must hold; of what is optional a failure counts, and a lack does not")),
        *_field("claim", [f'profile = "{name}"  # in an adapter']),
        *_field("run", [f"attnconf run --impl NAME --profile {name}"]),
    ]


def _notes(r: registry.Requirement) -> list[str]:
    """Return the page's text below the requirement, up to the next heading."""
    page = registry.page(r.chapter).read_text(encoding="utf-8").splitlines()
    below: list[str] = []
    for line in page[r.line + 1 :]:
        if line.startswith("#"):
            break
        below.append(line)
    if below and below[0].startswith(("presupposes:", "needs:")):
        below = below[1:]
    notes: list[str] = []
    fenced = False
    for line in (line.removeprefix(">").removeprefix(" ") for line in below):
        fenced ^= line.startswith("```")
        notes += [f"  {line}"] if fenced or line.startswith("```") else _wrapped(line) or [""]
    text = "\n".join(notes).strip("\n")
    return [*text.split("\n"), ""] if text else []


def _judged_on(r: registry.Requirement) -> list[str]:
    """Return a line for each profile that judges a requirement, with components and lenses."""
    lines = []
    for name in profiles.names():
        entries = [e for e in profiles.load(name).entries if e.requirement == r.id]
        places = ", ".join(f"{e.component} ({e.lens}{', optional' if e.optional else ''})" for e in entries)
        lines += [f"{name}: {places}"] if places else []
    return lines


def _standing(check: catalogue.CheckText) -> str:
    return f"{check.function} ({_module(check.chapter, check.module)}:{check.line})"


def _module(chapter: str, module: str, of_a_course: str = "") -> str:
    """Return where a module of a chapter stands; ``of_a_course``: another one, where a course brings the chapter."""
    if registry.of_course(chapter):
        return f"{registry.page(chapter).parent.name}/{of_a_course or module}.py"
    return f"conformance/chapters/{chapter}/{module}.py"


def _paired(pairs: Iterable[tuple[str, str]]) -> list[str]:
    lines = []
    for name, text in pairs:
        lines += [name, *(f"  {line}" for line in _folded(text))]
    return lines


def _field(name: str, lines: list[str]) -> list[str]:
    return [f"  {label:<12} {line}" for label, line in zip([name, *[""] * len(lines)], lines, strict=False)]


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, width(), initial_indent="  ", subsequent_indent="  ")


def _folded(text: str) -> list[str]:
    return textwrap.wrap(text, width() - 17, break_on_hyphens=False)


def width() -> int:
    """Return the number of characters in a line: the terminal's, from 50 to 100."""
    return min(max(shutil.get_terminal_size((100, 24)).columns, 50), 100)
