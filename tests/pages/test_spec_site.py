"""`attnconf report --spec`: the specification as pages that open from disk."""

import re
import unicodedata
from dataclasses import replace
from html.parser import HTMLParser
from urllib.parse import unquote

import pytest
from hostile_texts import TEXTS
from markdown_it import MarkdownIt

from attnconf import cli
from attnconf.conformance.engine import catalogue
from attnconf.reports.spec_site import formulas, notation
from attnconf.reports.spec_site.beside import Group
from attnconf.reports.spec_site.markdown import Page
from attnconf.reports.spec_site.site import Site
from attnconf.spec import registry

VOID = {"meta", "link", "input", "img", "br", "hr", "mspace"}
DRAWN = re.compile("[^\\S\n]|[_^/(){}\n]|\u0302")  # in a formula: what is drawn, and not written


class Read(HTMLParser):
    """What a page has: ids, links, the text outside of code, and all elements; those that are open must be closed."""

    def __init__(self, page):
        super().__init__()
        self.ids, self.links, self.names, self.open, self.text, self.formulas = [], [], set(), [], "", []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.names.add(tag)
        self.ids += [given["id"]] if "id" in given else []
        self.links += [given[name] for name in ("href", "src") if given.get(name)]
        assert not [name for name in given if name.startswith("on") or name == "style"], given
        if given.get("class") == "formula":
            self.formulas.append("")
        if tag not in VOID:
            self.open.append((tag, given.get("class")))
        if tag == "msqrt":
            self.handle_data("√")

    def handle_endtag(self, tag):
        while tag not in VOID and self.open and self.open.pop()[0] != tag:  # li, td and the like may stay open
            pass

    def handle_data(self, text):
        if not {tag for tag, _ in self.open} & {"code", "pre", "script", "style"}:
            self.text += text
        if ("div", "formula") in self.open:
            self.formulas[-1] += text


@pytest.fixture(scope="module")
def pages(spec_site):
    """Return what is on the pages, by name; the gallery is a page of `attnconf report`, which has tests of its own."""
    files = {file.name: file.read_text(encoding="utf-8") for file in spec_site.glob("*.html")}
    return {name: Read(text) for name, text in files.items() if name != "gallery.html"}


def test_every_link_leads_somewhere(spec_site, pages):
    gallery = (spec_site / "gallery.html").read_text(encoding="utf-8")
    wrong = []
    for name, page in pages.items():
        for link in set(page.links):
            file, _, anchor = link.partition("#")
            if file == "gallery.html" and anchor:
                requirement, label = anchor.split("/")
                there = f'"{requirement}"' in gallery and f'"{unquote(label)}"' in gallery
            elif not file or file in pages:
                there = not anchor or anchor in pages[file or name].ids
            else:
                there = link.startswith("https://") or (spec_site / file).is_file()
            wrong += [] if there else [f"{name}: {link}"]
    assert wrong == []


def test_the_gallery_leads_back_to_the_sentences(spec_site, pages):
    links = set(re.findall(r'"([\w-]+\.html)#([\w-]+)"', (spec_site / "gallery.html").read_text(encoding="utf-8")))
    assert len(links) > 500
    assert [(file, anchor) for file, anchor in links if anchor not in pages[file].ids] == []


def test_no_id_stands_twice(pages):
    assert [name for name, page in pages.items() if len(page.ids) != len(set(page.ids))] == []


def test_nothing_is_asked_of_a_network(spec_site):
    for file in spec_site.glob("*.*"):
        if file.suffix in (".html", ".css", ".js"):
            text = file.read_text(encoding="utf-8")
            assert not re.search(r"""(?:src|href)=["'](?:https?:)?//[^"']*\.(?:js|css|woff)|@import|url\(http""", text)


def test_every_requirement_has_its_check_and_its_mistakes_beside_it(spec_site):
    missing = []
    for name, requirement in registry.requirements().items():
        page = (spec_site / f"{requirement.chapter}.html").read_text(encoding="utf-8")
        section = page.partition(f'<section class="requirement" id="{name.lower()}">')[2].partition("</section>")[0]
        check = catalogue.check_texts(requirement.chapter)[name]
        text = re.sub("<[^>]+>", "", section)
        wanted = (f"def {check.function}(", f"checks.py:{check.line}" if "/" not in check.module else f":{check.line}")
        caught = re.search(r"that it has caught: (\d+)", text)
        if not all(word in text for word in wanted) or not caught or not int(caught[1]):
            missing.append(name)
    assert missing == []


def test_a_requirement_says_who_of_the_gallery_fulfils_it(spec_site):
    page = (spec_site / "masks.html").read_text(encoding="utf-8")
    section = page.partition('id="mask-nan-1"')[2].partition("</section>")[0]
    assert 'href="gallery.html#MASK-NAN-1/torch_nn"' in section
    assert '<span class="chip k-p">✓ passes: ' in section


def blocks(chapter):
    """Return the blocks of a page that are set off by four spaces."""
    parsed = MarkdownIt().parse((registry.PAGES / f"{chapter}.md").read_text(encoding="utf-8"))
    return [token.content for token in parsed if token.type == "code_block"]


def signs(text):
    """Return the signs of a formula that are written, in their order."""
    plain = unicodedata.normalize("NFKD", text.replace("-", "−").replace("'", "′").replace("Σ", "∑"))
    return DRAWN.sub("", plain)


@pytest.mark.parametrize("chapter", registry.CHAPTERS.values())
def test_every_formula_is_set_and_says_the_same(pages, chapter):
    written = [] if chapter == "tokenizer" else blocks(chapter)  # which has words in pieces, and no formulas
    assert [signs(shown) for shown in pages[f"{chapter}.html"].formulas] == [signs(text) for text in written]
    assert not re.search(r"(?<![\w.])[A-Za-zω]_[a-z0-9]{1,2}\b|\\[a-z]+\{|\$\$?\\", pages[f"{chapter}.html"].text)


@pytest.mark.parametrize(
    ("text", "markup"),
    [
        ("a / √b", "<mfrac><mrow><mi>a</mi></mrow><mrow><msqrt><mrow><mi>b</mi></mrow></msqrt></mrow></mfrac>"),
        ("x_2i+1", "<msub><mi>x</mi><mrow><mn>2</mn><mi>i</mi><mo>+</mo><mn>1</mn></mrow></msub>"),
        ("A_ij", "<msub><mi>A</mi><mrow><mi>i</mi><mi>j</mi></mrow></msub>"),
        ("E_inf", "<msub><mi>E</mi><mrow><mi>inf</mi></mrow></msub>"),
        ("Kᵀ", '<msup><mi>K</mi><mrow><mi mathvariant="normal">T</mi></mrow></msup>'),
        ("a < b", "<mi>a</mi><mo>&lt;</mo><mi>b</mi>"),
    ],
)
def test_the_notation(text, markup):
    assert notation.math(notation.tokens(text)) == f'<math displaystyle="true">{markup}</math>'


@pytest.mark.parametrize("text", ["a = (b", "a = b)", "a_ = b", "a = / b", "a = |b", "a = #", '{"a": "b = c"}', "a b"])
def test_what_is_no_formula_stays_as_it_is(text):
    assert formulas.block(text) is None


@pytest.mark.parametrize("text", TEXTS)
def test_hostile_texts_stay_texts(text):
    whole = (
        f"# {text}\n\n{text}\n\n    {text}\n\n    a = {text}\n\n```python\n{text}\n```\n\n| a |\n|---|\n| {text} |\n"
    )
    shown = Page(whole, "spec", {}, {}).html()
    page = Read(shown)
    assert not page.names & {"script", "style", "iframe", "object"}
    assert [link for link in page.links if not re.match(r"https?://|#", link)] == []
    assert "\u202e" not in shown


def test_what_stands_beside_a_requirement_is_text():
    hostile = "<script>document.title='taken'</script>\"><img src=x onerror=alert(1)>\u202e"
    it = Site(None).beside["ATT-SCALE-1"]
    mutants = (replace(it.mutants[0], story=hostile, hint=hostile),)
    reference = (replace(it.reference[0], name=hostile, summary=hostile, source=hostile),)
    groups = (Group(it.gallery[0].kind, ((hostile, "gallery.html#a"),)),)
    beside = replace(
        it, mutants=mutants, reference=reference, gallery=groups, judged_on={hostile: (hostile,)},
        requirement=replace(it.requirement, sentence=f"It MUST {hostile}", needs=frozenset({hostile})),
    )  # fmt: skip
    shown = "".join(Site(None).around(beside))
    assert not Read(shown).names & {"script", "img"}
    assert "\u202e" not in shown


def test_links_to_other_files_lead_into_the_checkout_or_nowhere():
    text = "[contract](../adapters/contract.py) and [masks](masks.md#mask-bool-1), [out](https://arxiv.org/abs/1)"
    addresses = {"spec/masks.md": "masks.html"}
    assert Read(Page(text, "spec", addresses, {}).html()).links == [
        "masks.html#mask-bool-1", "https://arxiv.org/abs/1",
    ]  # fmt: skip
    assert "../adapters/contract.py" in Read(Page(text, "spec", addresses, {}, "../").html()).links


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--spec"], "where to? -o site/"),
        (["--spec", "mine.json", "-o", "site"], "reads no results: mine.json"),
        (["--spec", "-o", "file"], "file is a file: want a folder"),
        (["--spec", "-o", "full"], "full holds other files: want a folder"),
        (["--spec", "-o", "file/site"], "cannot write 'file/site': Not a directory"),
        (["--spec", "-o", "/proc/site"], "cannot write '/proc/site'"),
        ([], "which results? want files written by `attnconf run --results`, or --spec"),
    ],
)
def test_bad_input_is_said_in_one_line(words, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "index.html").write_text("mine", encoding="utf-8")
    assert cli.main(["report", *words]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("ERROR: ")
    assert said in line
    assert (tmp_path / "file").read_text(encoding="utf-8") == "mine"
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["index.html"]
