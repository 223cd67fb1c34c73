"""The whole site as texts by file name: made of the pages, the checks, the mutants, and what the repository keeps."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from markupsafe import Markup

from attnconf.conformance.engine import catalogue
from attnconf.reports import record
from attnconf.reports.comparison.page import Pages
from attnconf.reports.comparison.page import page as comparison
from attnconf.reports.comparison.rendering import template
from attnconf.reports.spec_site import markdown, passages
from attnconf.reports.spec_site.beside import Beside, Kill, beside, gallery, kills
from attnconf.reports.spec_site.code import coloured
from attnconf.spec import profiles, registry

TEMPLATES = Path(__file__).parent / "templates"
TOP = registry.PAGES.parent  # of a checkout, or of the installed package
KILLS, GALLERY = "reports/kill-matrix.jsonl", "reports/gallery/cpu.json.xz"
STUDY = "reports/studies/public_code.md"
MARK = "attnconf report --spec"  # in each page, so that a folder is known as one of ours
EXTRA = {  # pages beside the chapters
    "spec/README.md": "how-to-read.html",
    "spec/choices.md": "choices.html",
    "spec/glossary.md": "glossary.html",
    "spec/limits.md": "limits.html",
    "spec/references.md": "references.html",
    "spec/renamed.md": "renamed.html",
    "conformance/chapters/equivalent_mutants.md": "equivalent-mutants.html",
    STUDY: "public-code.html",
    "reports/families.md": "families.html",
}
CHAPTERS = {f"spec/{chapter}.md": f"{chapter}.html" for chapter in registry.CHAPTERS.values()}
PAGES = {**CHAPTERS, **EXTRA}
ELSEWHERE = {"reports/kill-matrix.md": "kill-matrix.html", "reports/gallery/cpu.html": "gallery.html"}
ALIASES = {"how-to-read.html": "How to read a page", "kill-matrix.html": "Kill matrix"}
PICTURE = re.compile(r"!\[[^\]]*\]\(([^)\s]+)\)")


@dataclass(frozen=True)
class Shown:
    """A page of Markdown in the site."""

    file: str  # in the site
    title: str
    words: str  # the title without what stands behind its colon
    body: str
    headings: list[tuple[int, str, str]]


class Site:
    """The site for a folder. ``root``: the way from there to the repository, or None where it does not lie in it."""

    def __init__(self, root: str | None) -> None:
        self.root = root
        self.anchors = {name: f"{r.chapter}.html#{name.lower()}" for name, r in registry.requirements().items()}

    def files(self) -> dict[str, str | bytes]:
        """Return the content of every file by its name."""
        shown = [self._page(source, file) for source, file in PAGES.items()]
        made: dict[str, str | bytes] = {page.file: self._framed(page, "page.html", shown) for page in shown}
        made["index.html"] = self._framed(_INDEX, "index.html", shown, **self._overview(shown))
        made["kill-matrix.html"] = self._framed(_KILLS, "kills.html", shown, **self._kill_matrix())
        made["gallery.html"] = self._gallery_page()
        made["site.css"] = template("site.css", TEMPLATES).render()
        made["site.js"] = (TEMPLATES / "site.js").read_text(encoding="utf-8")
        entries = json.dumps(list(self._found(shown)), ensure_ascii=False, separators=(",", ":"))
        made["search.js"] = f"const entries = {entries};\n"
        return made | {name: path.read_bytes() for name, path in self.pictures.items()}

    @cached_property
    def pictures(self) -> dict[str, Path]:
        """The pictures that the pages show, by their names in the site."""
        found = [TOP / "reports/kill-matrix.svg"]
        for source in PAGES:
            links = PICTURE.findall((TOP / source).read_text(encoding="utf-8"))
            found += [(TOP / source).parent / link for link in links]
        return {path.name: path.resolve() for path in found}

    @cached_property
    def addresses(self) -> dict[str, str]:
        """Where in the site a file of the repository is shown."""
        pictures = {path.relative_to(TOP.resolve()).as_posix(): name for name, path in self.pictures.items()}
        return {**PAGES, **ELSEWHERE, **pictures}

    @cached_property
    def titles(self) -> dict[str, str]:
        """What each page is called in few words."""
        first = {file: _first_line(TOP / source) for source, file in PAGES.items()}
        return {file: line.lstrip("# ").partition(":")[0] for file, line in first.items()} | ALIASES

    @cached_property
    def _results(self) -> record.Record:
        return record.read(TOP / GALLERY)

    @cached_property
    def _kills(self) -> list[Kill]:
        return kills(TOP / KILLS)

    @cached_property
    def beside(self) -> dict[str, Beside]:
        """What stands beside each requirement."""
        return beside(self._kills, gallery(self._results, "gallery.html"))

    def _page(self, source: str, file: str) -> Shown:
        text = (TOP / source).read_text(encoding="utf-8")
        folder = Path(source).parent.as_posix()
        page = markdown.Page(text, folder, self.addresses, self.anchors, self.root, self.titles)
        body = page.html((lambda name: self.around(self.beside[name])) if source in CHAPTERS else None)
        title = next((words for level, _, words in page.headings if level == 1), file)
        return Shown(file, title, self.titles[file], body, [h for h in page.headings if h[0] == 2])

    def around(self, it: Beside) -> tuple[str, str]:
        """Return the head of a requirement, and what stands below its notes."""
        parts = template("requirement.html", TEMPLATES).module
        words = markdown.inline(it.requirement.sentence)
        sentence = Markup(re.sub(r"\b(MUST NOT|MUST|SHOULD NOT|SHOULD|MAY)\b", r"<em>\1</em>", words))
        checked = f"conformance/chapters/{it.check.chapter}/{it.check.module}.py"
        below = parts.below(it, self.anchors, self.root, checked, lambda text: Markup(coloured(text)), _told)
        return str(parts.head(it.requirement, sentence, self.anchors)), str(below)

    def _framed(self, page: Shown, name: str, shown: list[Shown], **content: Any) -> str:
        chapters = [p for p in shown if p.file in CHAPTERS.values()]
        others = [p for p in shown if p.file not in CHAPTERS.values()]
        return str(
            template(name, TEMPLATES).render(
                content, page=page, body=Markup(page.body), chapters=chapters, others=others, mark=MARK, told=_told,
                requirements=[r for r in registry.requirements().values() if f"{r.chapter}.html" == page.file],
            )
        )  # fmt: skip

    def _overview(self, shown: list[Shown]) -> dict[str, Any]:
        rows = []
        for prefix, chapter in registry.CHAPTERS.items():
            mine = [b for b in self.beside.values() if b.requirement.chapter == chapter]
            musts = sum(b.requirement.strength == "MUST" for b in mine)
            known = sum(m.chapter == chapter for m in catalogue.mutant_texts().values())
            title = next(p.title for p in shown if p.file == f"{chapter}.html")
            rows.append((f"{chapter}.html", title, prefix, musts, len(mine) - musts, known))
        asked = [
            (p.name, p.title, len({e.component for e in p.entries}), sum(not e.optional for e in p.entries),
             sum(e.optional for e in p.entries))
            for p in map(profiles.load, profiles.names())
        ]  # fmt: skip
        return {"rows": rows, "profiles": asked, "default": profiles.DEFAULT,
                "total": (len(self.beside), len(self._kills))}  # fmt: skip

    def _kill_matrix(self) -> dict[str, Any]:
        by_chapter: dict[str, list[Kill]] = {}
        for kill in self._kills:
            by_chapter.setdefault(kill.mutant.chapter, []).append(kill)
        return {
            "by_chapter": by_chapter, "anchors": self.anchors, "root": self.root,
            "totals": (len(self._kills), sum(bool(kill.roots) for kill in self._kills)),
        }  # fmt: skip

    def _gallery_page(self) -> str:
        """Return the report on the gallery; what it says of the specification leads into the site."""
        moved = [{**r, "spec": self.anchors.get(r["requirement"], r["spec"])} for r in self._results["results"]]
        about = Pages(passages.passages(None), passages.choices(None), "")
        return comparison([(Path(GALLERY).name, {**self._results, "results": moved})], about)

    def _found(self, shown: list[Shown]) -> Iterator[tuple[str, str, str, str]]:
        """Yield what can be searched for: kind, name, text and address."""
        for name, it in self.beside.items():
            yield "requirement", name, it.requirement.sentence.replace("`", ""), self.anchors[name]
        for page in shown:
            yield "page", page.title, "", page.file
            yield from (("section", words, page.title, f"{page.file}#{anchor}") for _, anchor, words in page.headings)
        for name, said, section in passages.rows():
            yield "choice", name, said.replace("`", ""), f"choices.html#{markdown.slug(section)}"
        for i in self._results["implementations"]:
            yield "implementation", i["name"], f"judged in the gallery: {', '.join(i['components'])}", "gallery.html"
        yield "page", _KILLS.title, "", _KILLS.file
        for kill in self._kills:
            yield "mutant", kill.mutant.id, kill.mutant.story, f"{_KILLS.file}#{kill.mutant.id}"


_INDEX = Shown("index.html", "The specification of attention", "Contents", "", [])
_KILLS = Shown("kill-matrix.html", "Kill matrix", "Kill matrix", "", [])


def _told(text: str) -> Markup:
    return Markup(markdown.lowered(text))


def _first_line(path: Path) -> str:
    with path.open(encoding="utf-8") as file:
        return file.readline().strip()


def write(folder: Path, files: Mapping[str, str | bytes]) -> None:
    """Write the files of a site into a folder. Raises OSError."""
    for name in ("index.html", *files):  # the first says whose folder it is, should the rest fail
        content = files[name]
        record.write_bytes(folder / name, content if isinstance(content, bytes) else content.encode("utf-8"))


def unlike(folder: Path) -> str:
    """Return why a site must not be written there, or nothing. Raises OSError where it cannot be read."""
    if folder.is_dir():
        index = folder / "index.html"
        ours = index.is_file() and MARK in index.read_text(encoding="utf-8", errors="replace")[:2000]
        return "" if ours or not any(folder.iterdir()) else "holds other files"
    return "is a file" if folder.exists() else ""
