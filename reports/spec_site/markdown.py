"""Pages in Markdown as HTML: formulas, coloured code, anchors, links within the site, requirements in their place."""

import posixpath
import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from markupsafe import escape

from attnconf.reports.comparison.visible import named
from attnconf.reports.spec_site import formulas
from attnconf.reports.spec_site.code import coloured

ID = re.compile(r"\b[A-Z]+-[A-Z0-9]+-\d+\b")
_COMMENT = re.compile(r"^<!--.*?-->\n", re.M)
_INDEXED = re.compile(r"(?<![\w.])([A-Za-z\u0391-\u03c9](?:&#39;)?)_([A-Za-z0-9]{1,3})(?![A-Za-z0-9_(])")
_ELSEWHERE = re.compile(r"(?:https?:)?//|mailto:")
Around = Callable[[str], tuple[str, str]]  # id of a requirement -> HTML of its head, and of what stands below its notes


class Page:
    """One page of a folder of the repository, to be shown in the site.

    ``folder``     where the page stands, for its links: "spec"
    ``addresses``  where in the site a file of the repository is shown: {"spec/masks.md": "masks.html"}
    ``titles``     what such a page is called, for links that name the file: {"masks.html": "Masks"}
    ``anchors``    the address of each requirement: {"ATT-SCALE-1": "attention.html#att-scale-1"}
    ``root``       the way from the site to the repository, for links to its other files; None: there is none
    """

    def __init__(
        self, text: str, folder: str, addresses: Mapping[str, str], anchors: Mapping[str, str],
        root: str | None = None, titles: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        self.folder, self.addresses, self.anchors, self.root = folder, addresses, anchors, root
        self.titles = titles or {}
        self.tokens = _reader().parse(named(_COMMENT.sub("", text)))
        self.headings: list[tuple[int, str, str]] = []  # level, anchor, words

    def html(self, around: Around | None = None) -> str:
        """Return the page. A heading that is a requirement's id is replaced, with the sentence under it."""
        shown, at, end = list[Any](), 0, ""
        while at < len(self.tokens):
            token = self.tokens[at]
            if token.type == "heading_open":
                shown += [_raw(end)] if end else []
                end, name = "", self.tokens[at + 1].content
                if around and token.tag == "h4" and ID.fullmatch(name):
                    head, below = around(name)
                    end = f"{below}</section>\n"
                    shown.append(_raw(f'<section class="requirement" id="{name.lower()}">\n{head}'))
                    at += 6  # the heading's three tokens, and the sentence's
                    continue
                self._anchored(token, name)
            shown.append(token)
            at += 1
        shown += [_raw(end)] if end else []
        return str(_reader().renderer.render(shown, _reader().options, {"page": self})).strip()

    def _anchored(self, token: Any, name: str) -> None:
        anchor = slug(name)
        token.attrSet("id", anchor)
        self.headings.append((int(token.tag[1]), anchor, re.sub(r"[`*]|\]\([^)]*\)|\[", "", name)))

    def address(self, link: str) -> str | None:
        """Return where a link of the page leads in the site; None where it leads to nothing that is there."""
        if _ELSEWHERE.match(link) or link.startswith("#"):
            return link
        place, _, anchor = link.partition("#")
        file = posixpath.normpath(posixpath.join(self.folder, place))
        behind = f"#{anchor}" if anchor else ""
        if file in self.addresses:
            return f"{self.addresses[file]}{behind}"
        return None if self.root is None else f"{self.root}{file}{behind}"

    def with_ids(self, text: str) -> str:
        """Return a text as HTML in which every id of a requirement is a link to it, and what is below a letter is."""
        return ID.sub(lambda found: self._linked(found[0]), lowered(text))

    def _linked(self, name: str) -> str:
        return f'<a href="{self.anchors[name]}">{name}</a>' if name in self.anchors else name


def slug(heading: str) -> str:
    """Return the anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def inline(text: str) -> str:
    """Return one line of Markdown as HTML, without links."""
    page = Page(text, "", {}, {})
    return str(_reader().renderer.render(page.tokens[1:2], _reader().options, {"page": page}))


def _raw(html: str) -> Any:
    from markdown_it.token import Token

    return Token("html_block", "", 0, content=html)


@cache
def _reader() -> Any:
    """Return the reader of Markdown: tables, no HTML of the page's own, and what is shown otherwise."""
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    rules = {
        "code_block": _block, "fence": _fence, "text": _text, "link_open": _link_open, "link_close": _link_close,
        "image": _image, "table_open": _table_open, "table_close": _table_close,
    }  # fmt: skip
    for name, rule in rules.items():
        reader.add_render_rule(name, rule)
    return reader


def _block(self: Any, tokens: Any, at: int, options: Any, env: Any) -> str:
    return formulas.block(tokens[at].content) or coloured(tokens[at].content, "text")


def _fence(self: Any, tokens: Any, at: int, options: Any, env: Any) -> str:
    code, language = tokens[at].content, tokens[at].info.strip()
    return coloured(code, "pycon" if language == "python" and code.startswith(">>> ") else language)


def _text(self: Any, tokens: Any, at: int, options: Any, env: Any) -> str:
    page, text = env["page"], tokens[at].content
    opened = [token for token in tokens[:at] if token.type in ("link_open", "link_close")]
    if not opened or opened[-1].type == "link_close":
        return str(page.with_ids(text))
    if text.endswith(".md"):  # the name of the file: on GitHub it is what is seen, here a page has a title
        text = page.titles.get(page.address(opened[-1].attrs["href"]), text)
    return lowered(text)


def lowered(text: str) -> str:
    """Return a text as HTML, with the index of M_ij below its letter."""
    return _INDEXED.sub(r"<var>\1<sub>\2</sub></var>", str(escape(named(text))))


def _link_open(self: Any, tokens: Any, at: int, options: Any, env: Any) -> str:
    address = env["page"].address(tokens[at].attrs["href"])
    return "<span>" if address is None else f'<a href="{escape(address)}">'


def _link_close(self: Any, tokens: Any, at: int, options: Any, env: Any) -> str:
    opening = next(t for t in reversed(tokens[:at]) if t.type == "link_open")
    return "</span>" if env["page"].address(opening.attrs["href"]) is None else "</a>"


def _image(self: Any, tokens: Any, at: int, options: Any, env: Any) -> str:
    address, words = env["page"].address(tokens[at].attrs["src"]), escape(tokens[at].content)
    return f'<img src="{escape(address)}" alt="{words}" loading="lazy">' if address else f"<em>{words}</em>"


def _table_open(self: Any, tokens: Any, at: int, options: Any, env: Any) -> str:
    return '<div class="scroll" tabindex="0" role="group" aria-label="table"><table>\n'


def _table_close(self: Any, tokens: Any, at: int, options: Any, env: Any) -> str:
    return "</table></div>\n"
