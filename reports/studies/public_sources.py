"""Draws the implementations of the study of public code out of clones, by the rule in public_code.md.

    python reports/studies/public_sources.py CLONES --first 600

takes the first N repositories of public_frame.tsv in the order of the rule, and writes public_sources.tsv: what was
drawn; beside each repository of public_frame.tsv what became of it; and the counts into public_code.md. Nothing is
judged, no code is kept, and the same clones give the same table. Not part of the installed package.
"""

import argparse
import ast
import csv
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from attnconf.conformance.source.syntax import tree_of
from attnconf.reports.studies.public_clones import Clone, Place, clone
from attnconf.reports.studies.public_components import component_of

HERE = Path(__file__).parent
WORD = "attnconf-21"
LARGEST_REPOSITORY = 100_000_000  # bytes
LARGEST_FILE = 400_000
EACH = 2  # from a repository
COLUMNS = ("number", "repository", "commit", "path", "class", "component", "kind", "frame", "part")
NOT_IN = re.compile(
    r"(^|/)(tests?|third_party|vendor|venv|site-packages|build|node_modules)(\.\w+)?(/|$)|(^|/)(test_|\.)"
)
KINDS = {  # words of the name and of the README
    "homework": r"homework|assignment|coursework|\b(?<!of )courses?\b|\bhw[-_ ]?\d?\b|\bcs[-_ ]?\d{3}\w?",
    "library": "",  # see kind_of
    "research": r"@article|@inproceedings|@misc|official (pytorch |tensorflow |jax )?(implementation|code)|our paper",
    "tutorial": r"from[-_ ]scratch|\b(tutorials?|learn|educational|simple|minimal|annotated|implementation of)\b"
    r"|\b(nano|mini|tiny)[-_ ]?(gpt|transformer|llm|llama|vit|bert)",
}


@dataclass(frozen=True)
class Framed:
    """A repository of the frame."""

    phrase: str
    repository: str
    seen: str  # "yes" if the suite was mended with it

    @property
    def part(self) -> str:
        return "last" if hashed("part", self.repository) % 3 == 0 else "first"

    @property
    def frame(self) -> str:
        return "seen" if self.seen else "libraries" if self.phrase == "libraries" else "names"


@dataclass(frozen=True)
class Candidate:
    """A class or function that is eligible."""

    place: Place
    component: str
    shape: str  # equal for copies

    @property
    def rank(self) -> int:
        return hashed(f"{self.place.repository}:{self.place.path}:{self.place.thing}")


@dataclass
class Drawn:
    """What was drawn so far."""

    rows: list[dict[str, str]] = field(default_factory=list)
    shapes: set[str] = field(default_factory=set)
    copies: int = 0

    def take(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Return at most EACH of a repository's candidates, of different components, none a copy."""
        taken: list[Candidate] = []
        for one in sorted(candidates, key=lambda c: c.rank):
            if len(taken) == EACH or one.component in {c.component for c in taken}:
                continue
            if one.shape in self.shapes:
                self.copies += 1
                continue
            self.shapes.add(one.shape)
            taken.append(one)
        return taken


def hashed(*words: str) -> int:
    """Return the number that decides an order; case says nothing where GitHub does not heed it."""
    head, _, rest = ":".join(words).partition("/")
    name, colon, path = rest.partition(":")
    return int(sha256(f"{WORD}:{head.lower()}/{name.lower()}{colon}{path}".encode()).hexdigest(), 16)


def framed(path: Path) -> list[Framed]:
    """Return the repositories of the frame in the order in which they are taken."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = [Framed(row["phrase"], row["repository"], row["seen"]) for row in csv.DictReader(file, delimiter="\t")]
    return sorted(rows, key=lambda one: hashed(one.repository))


def definitions(path: str, raw: bytes) -> Iterator[ast.ClassDef | ast.FunctionDef]:
    """Yield the classes and functions at the top level of a file, or of the cells of a notebook."""
    for text in cells(raw) if path.endswith(".ipynb") else [raw.decode(errors="replace")]:
        try:
            tree = tree_of(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        yield from (node for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef))


def cells(raw: bytes) -> list[str]:
    """Return the code cells of a notebook without the lines for the shell; none where it is no notebook."""
    try:
        found = [cell["source"] for cell in json.loads(raw)["cells"] if cell["cell_type"] == "code"]
        texts = ["".join(source) for source in found]
    except (ValueError, KeyError, TypeError, RecursionError):
        return []
    return ["\n".join(line for line in text.split("\n") if not re.match(r"\s*[%!]", line)) for text in texts]


def shape_of(node: ast.AST) -> str:
    """Return what copies have in common: the syntax tree without docstrings."""
    for one in ast.walk(node):
        body = getattr(one, "body", None)
        if isinstance(one, ast.ClassDef | ast.FunctionDef) and ast.get_docstring(one) is not None and body:
            one.body = body[1:] or [ast.Pass()]
    return sha256(ast.dump(node).encode()).hexdigest()


def candidates(here: Clone, repository: str, commit: str, files: dict[str, str]) -> Iterator[Candidate]:
    """Yield what is eligible in a repository. Of two definitions of a name in one file the last one counts."""
    wanted = {p: blob for p, blob in files.items() if p.endswith((".py", ".ipynb")) and not NOT_IN.search(p)}
    contents = here.contents(sorted(set(wanted.values())))
    for path, blob in sorted(wanted.items()):
        raw = contents.get(blob, b"")
        if len(raw) > LARGEST_FILE:
            continue
        last = {node.name: node for node in definitions(path, raw)}
        for name, node in last.items():
            component = component_of(node)
            if component:
                yield Candidate(Place(repository, commit, path, name), component, shape_of(node))


def kind_of(here: Clone, repository: str, files: dict[str, str]) -> str:
    """Return the kind of a repository, by its name and the beginning of its README."""
    name = repository.partition("/")[2].lower()
    readme = min((p for p in files if re.fullmatch(r"readme(\.\w+)?", p, re.IGNORECASE)), default=None)
    raw = here.contents([files[readme]]).get(files[readme], b"") if readme else b""
    text = f"{name}\n{raw.decode(errors='replace')[:3000].lower()}"
    package = re.search(rf"pip3? install (-u |--upgrade )?{re.escape(name)}(?![-\w])", text)
    if package and {"setup.py", "pyproject.toml"} & set(files) and not re.search(KINDS["homework"], text):
        return "library"
    return next((kind for kind, words in KINDS.items() if words and re.search(words, text)), "other")


def draw(one: Framed, clones: Path, drawn: Drawn) -> str:
    """Add what is drawn from a repository; return what became of it."""
    try:
        here = clone(clones, one.repository)
    except FileNotFoundError:
        return "no snapshot"
    if here.size() > LARGEST_REPOSITORY:
        return "too large"
    commit = here.head()
    files = here.files(commit)
    eligible = list(candidates(here, one.repository, commit, files))
    if not eligible:
        return "nothing eligible"
    taken = drawn.take(eligible)
    kind = kind_of(here, one.repository, files)
    for c in taken:
        values = (one.repository, commit, c.place.path, c.place.thing, c.component, kind, one.frame, one.part)
        drawn.rows.append(dict(zip(COLUMNS, (str(len(drawn.rows) + 1), *values), strict=True)))
    return f"drawn {len(taken)}" if taken else "only copies"


def counted(frame: Sequence[dict[str, str]], sources: Sequence[dict[str, str]]) -> str:
    """Return the counts of both tables as Markdown."""
    outcomes = Counter(row["outcome"] for row in frame)
    repositories = len({row["repository"] for row in sources})
    reached = len(frame) - outcomes["not reached"]
    lines = [
        f"{len(sources)} implementations out of {repositories} repositories; {reached} of {len(frame)} were taken.\n"
    ]
    lines += ["| Repositories | |", "|---|---|"]
    lines += [f"| {outcome} | {n} |" for outcome, n in sorted(outcomes.items())]
    for column in ("component", "kind", "frame"):
        lines += ["", f"| Implementations by {column} | first part | last third | all |", "|---|---|---|---|"]
        for value in sorted({row[column] for row in sources}):
            parts = Counter(row["part"] for row in sources if row[column] == value)
            lines.append(f"| {value} | {parts['first']} | {parts['last']} | {parts.total()} |")
    lines += ["", "| Phrase | Repositories | taken | drawn from | implementations |", "|---|---|---|---|---|"]
    phrases = {row["repository"]: row["phrase"] for row in frame}
    drawn = Counter(phrases[row["repository"]] for row in sources)
    for phrase, n in sorted(Counter(phrases.values()).items(), key=lambda pair: (pair[0] == "libraries", pair)):
        here = Counter(row["outcome"].rpartition(" ")[0] for row in frame if row["phrase"] == phrase)
        lines.append(f"| {phrase} | {n} | {n - here['not']} | {here['drawn']} | {drawn[phrase]} |")
    return "\n".join(lines)


def renew(page: Path, text: str) -> None:
    """Write the counts into the page, where there is one."""
    if page.exists():
        head, mark, _ = page.read_text(encoding="utf-8").partition("<!-- counts -->\n")
        tail = page.read_text(encoding="utf-8").partition("<!-- end -->")[2]
        page.write_text(f"{head}{mark}{text}\n<!-- end -->{tail}", encoding="utf-8")


def write(path: Path, rows: Sequence[dict[str, str]], columns: Sequence[str]) -> None:
    """Write a table with tabs."""
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, columns, delimiter="\t", lineterminator="\n", quoting=csv.QUOTE_NONE)
        table.writeheader()
        table.writerows(rows)


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clones", type=Path)
    parser.add_argument("--first", type=int, help="how many repositories of the frame are taken (default: all)")
    parser.add_argument("--folder", type=Path, default=HERE, help="where the tables lie (default: beside this file)")
    given = parser.parse_args(words)
    frame = framed(given.folder / "public_frame.tsv")
    reached = frame[: given.first]
    drawn = Drawn()
    became = {one.repository: draw(one, given.clones, drawn) for one in reached}
    if {*became.values()} == {"no snapshot"}:
        sys.exit(f"no clone of any repository of the frame in {given.clones}: no table is changed")
    write(given.folder / "public_sources.tsv", drawn.rows, COLUMNS)
    kept = sorted(frame, key=lambda one: (one.phrase == "libraries", one.phrase, one.repository.lower()))
    rows = [{**vars(one), "outcome": became.get(one.repository, "not reached")} for one in kept]
    write(given.folder / "public_frame.tsv", rows, [*Framed.__annotations__, "outcome"])
    renew(given.folder / "public_code.md", counted(rows, drawn.rows))
    repositories = {row["repository"] for row in drawn.rows}
    print(f"{len(drawn.rows)} of {len(repositories)} repositories; {drawn.copies} copies left out")


if __name__ == "__main__":
    main()
