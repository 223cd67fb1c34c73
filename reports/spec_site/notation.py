"""A formula in the pages' notation, as MathML: A_ij = e^(scores_ij) / Σ_j e^(scores_ij).

The notation is what is read in an editor, on a terminal and on GitHub. What it means:

* ``_`` and ``^`` begin what is below and above: letters and digits, with what follows them without a space, or a group.
* `` / `` between spaces is a fraction: of the factors before it by the factor after it; ``/`` without spaces is a sign.
* A space between factors is a product. A word is a name; a single letter, and each letter below, is a variable.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import escape

FUNCTIONS = frozenset({"sin", "cos", "log", "ln", "exp", "tanh", "max", "min", "floor", "clamp", "softmax", "sigmoid"})
RELATIONS = frozenset("=≤<>≥≠∈")
_TOKEN = re.compile(
    r"(?P<number>\d+(?:\.\d+)?)|(?P<word>[A-Za-z]{2,}(?:-[A-Za-z]{2,})*)|(?P<letter>[A-Za-z\u0391-\u03a2\u03a4-\u03c9∞])"
    r"|(?P<sum>[Σ∑])|(?P<script>[_^])|(?P<small>[₀-₉ᵢⱼ²³ᵀ]+)|(?P<prime>'+)|(?P<accent>[\u0302\u0303\u0304])"
    r"|(?P<open>[(\[{⌊⌈])|(?P<close>[)\]}⌋⌉])|(?P<bar>\|)|(?P<root>√)|(?P<operator>//|[=≤<>≥≠∈+\-−·⊙,;:…/])|(?P<space>\s+)"
)
_CLOSES = dict(zip("([{⌊⌈", ")]}⌋⌉", strict=True))
_PRODUCT = re.compile("[A-Z][a-z]")  # Bx
_INDICES = re.compile("[hijklmnpst]{2,3}")  # ij, and not inf
_THIN, _WIDE = ('<mspace width="0.17em"/>', '<mspace width="0.35em"/>')


class Unreadable(ValueError):
    """It is no formula in this notation."""


@dataclass(frozen=True)
class Token:
    """A sign, a name or a number; ``spaced``: whether a space stands before it."""

    kind: str
    text: str
    spaced: bool


@dataclass(frozen=True)
class Item:
    """A part of a row: an operand or an operator, as MathML."""

    markup: str
    operator: str = ""
    word: bool = False
    spaced: bool = False


def tokens(text: str) -> list[Token]:
    """Return the tokens of a formula. Raises Unreadable at a sign that the notation does not have."""
    found, at, spaced = [], 0, False
    text = unicodedata.normalize("NFD", text) if "\u0302" in unicodedata.normalize("NFD", text) else text
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise Unreadable(f"{text[at]!r} in {text!r}")
        at, kind = match.end(), str(match.lastgroup)
        if kind != "space":
            found.append(Token(kind, match[0], spaced))
        spaced = kind == "space"
    return found


def math(found: list[Token]) -> str:
    """Return the tokens as one <math> element. Raises Unreadable where brackets do not fit together."""
    reader = _Reader(found)
    row = reader.row()
    if reader.left():
        raise Unreadable(f"{reader.peek().text!r} closes nothing")
    return f'<math displaystyle="true">{row}</math>'


class _Reader:
    """Reads tokens from left to right, each once."""

    def __init__(self, found: list[Token]) -> None:
        self.found, self.at = found, 0

    def left(self) -> bool:
        return self.at < len(self.found)

    def peek(self) -> Token:
        return self.found[self.at] if self.left() else Token("end", "", True)

    def take(self) -> Token:
        token = self.peek()
        self.at += 1
        return token

    def tight(self, *kinds: str) -> bool:
        """Return whether a token of one of these kinds follows without a space."""
        return self.peek().kind in kinds and not self.peek().spaced

    def row(self, closing: str = "") -> str:
        """Return what stands before a closing sign, or the end."""
        items: list[Item] = []
        while self.left() and self.peek().kind != "close" and not (closing == "|" and self.peek().kind == "bar"):
            token = self.peek()
            if token.kind == "operator":
                after = self.found[self.at + 1] if self.at + 1 < len(self.found) else token
                self.take()
                if token.text == "/" and token.spaced and after.spaced:
                    items = self.fraction(items)
                else:
                    items.append(_operator(token, items))
            else:
                items.append(self.factor())
        return _joined(items)

    def fraction(self, items: list[Item]) -> list[Item]:
        """Return the items with the last factors over the factor that follows; a sum takes all factors behind it."""
        begin = len(items)
        while begin and (items[begin - 1].operator in ("", "·")) and items[begin - 1].markup != _name("of"):
            begin -= 1
        below = [self.factor()]
        while self.tight("letter", "word", "open"):  # 2π
            below.append(self.factor())
        if "∑" in below[0].markup:
            while self.left() and self.peek().kind not in ("operator", "close", "bar"):
                below.append(self.factor())
        above = items[begin:]
        if not above:
            raise Unreadable("a fraction of nothing")
        return [*items[:begin], Item(f"<mfrac>{_bare(above)}{_bare(below)}</mfrac>", spaced=above[0].spaced)]

    def factor(self) -> Item:
        """Return an operand, with what is below and above it, and its arguments."""
        token = self.take()
        markup = self.scripts(self.atom(token))
        while token.kind in ("word", "letter") and self.calls():
            opening = self.take().text
            group = self.group(opening, _CLOSES.get(opening, opening))
            markup = self.scripts(f"<mrow>{markup}{group}</mrow>")
        return Item(markup, word=token.kind == "word", spaced=token.spaced)

    def calls(self) -> bool:
        """Return whether arguments or indices in brackets follow without a space, as in f(x), W[t] and max|x|."""
        return self.tight("open", "bar") and self.peek().text in "([|" and not self.inside_bars()

    def inside_bars(self) -> bool:
        """Return whether a bar that follows closes one."""
        return self.peek().text == "|" and sum(t.kind == "bar" for t in self.found[: self.at]) % 2 == 1

    def scripts(self, base: str) -> str:
        """Return an operand with what is below and above it."""
        below, above = list[str](), list[str]()
        while self.tight("script", "small", "prime", "accent"):
            script = self.take()
            if script.kind == "accent":
                base = f'<mover accent="true">{base}<mo stretchy="false">^</mo></mover>'
            elif script.kind == "prime":  # raised in itself: fonts without tables for mathematics would lift it twice
                primes = f'<mo lspace="0" rspace="0">{"′" * len(script.text)}</mo>'
                base = f"<mrow>{_scripted(base, below, above)}{primes}</mrow>"
                below, above = [], []
            elif script.kind == "small":
                for sign in script.text:
                    (below if sign in "₀₁₂₃₄₅₆₇₈₉ᵢⱼ" else above).append(_small(sign))
            else:
                (below if script.text == "_" else above).append(self.script())
        return _scripted(base, below, above)

    def atom(self, token: Token) -> str:
        """Return an operand without what is below and above it."""
        readers: dict[str, Callable[[], str]] = {
            "number": lambda: f"<mn>{token.text}</mn>",
            "letter": lambda: f"<mi>{token.text}</mi>",
            "word": lambda: _word(token.text),
            "sum": lambda: "<mo>∑</mo>",
            "root": lambda: f"<msqrt>{_bare([self.factor()])}</msqrt>",
            "open": lambda: self.group(token.text, _CLOSES[token.text]),
            "bar": lambda: self.group("|", "|"),
        }
        if token.kind not in readers:
            raise Unreadable(f"{token.text!r} stands where a factor should")
        return readers[token.kind]()

    def group(self, opening: str, closing: str) -> str:
        """Return a group with its brackets."""
        inside = self.row(closing)
        if self.take().text != closing:
            raise Unreadable(f"{opening!r} without {closing!r}")
        return f"<mrow>{_bracket(opening, 'prefix')}{inside}{_bracket(closing, 'postfix')}</mrow>"

    def script(self) -> str:
        """Return what stands below or above: a group, or all that follows without a space and can be an index."""
        if self.tight("open") and self.peek().text in "({":
            return _without_brackets(self.atom(self.take()))
        items: list[Item] = []
        while self.tight("number", "letter", "word"):
            token = self.take()
            indices = token.kind == "word" and _INDICES.fullmatch(token.text)
            items += [Item(f"<mi>{x}</mi>") for x in token.text] if indices else [Item(self.atom(token))]
            if len(items) == 1 and token.kind == "letter" and self.tight("open") and self.peek().text == "(":
                items.append(Item(self.atom(self.take())))
            after = self.found[self.at + 1] if self.at + 1 < len(self.found) else token
            if self.tight("operator") and self.peek().text in "+-/" and not after.spaced and after is not token:
                items.append(_operator(self.take(), items))
        if not items:
            raise Unreadable("nothing below or above")
        return _joined(items)


def _operator(token: Token, before: list[Item]) -> Item:
    sign = {"-": "−", "//": "//"}.get(token.text, token.text)
    alone = token.text in "+-−" and (not before or before[-1].operator not in ("", "…"))
    attributes = ' form="prefix"' if alone else ' lspace="0.1em" rspace="0.1em"' if sign == "/" else ""
    if sign == ":":
        attributes = ' lspace="0.2em" rspace="0.2em"'
    return Item(f"<mo{attributes}>{escape(sign)}</mo>", operator=token.text)


def _joined(items: list[Item]) -> str:
    parts = []
    for before, item in zip([None, *items], items, strict=False):
        if before and item.spaced and not item.operator and not before.operator:
            parts.append(_WIDE if item.word or before.word else _THIN)
        parts.append(item.markup)
    return "".join(parts)


def _bare(items: list[Item]) -> str:
    """Return the items as one element, without brackets around all of it."""
    if len(items) == 1:
        return f"<mrow>{_without_brackets(items[0].markup)}</mrow>"
    return f"<mrow>{_joined(items)}</mrow>"


def _without_brackets(markup: str) -> str:
    """Return a group without its brackets, and anything else as it is."""
    for opening, closing in ("()", "{}"):
        begin, end = f"<mrow>{_bracket(opening, 'prefix')}", f"{_bracket(closing, 'postfix')}</mrow>"
        if markup.startswith(begin) and markup.endswith(end):
            return f"<mrow>{markup[len(begin) : -len(end)]}</mrow>"
    return markup


def _bracket(sign: str, form: str) -> str:
    return f'<mo form="{form}" stretchy="false">{sign}</mo>'


def _word(text: str) -> str:
    return "".join(f"<mi>{x}</mi>" for x in text) if _PRODUCT.fullmatch(text) else _name(text)


def _name(text: str) -> str:
    return f"<mtext>{text}</mtext>" if "-" in text else f"<mi>{text}</mi>"


def _small(sign: str) -> str:
    plain = unicodedata.normalize("NFKD", sign)
    if plain == "T":
        return '<mi mathvariant="normal">T</mi>'
    return f"<mn>{plain}</mn>" if plain.isdigit() else f"<mi>{plain}</mi>"


def _scripted(base: str, below: list[str], above: list[str]) -> str:
    under, over = (f"<mrow>{''.join(parts)}</mrow>" for parts in (below, above))
    if base == "<mo>∑</mo>":
        return f"<munder>{base}{under}</munder>" if below else base
    if below and above:
        return f"<msubsup>{base}{under}{over}</msubsup>"
    return f"<msub>{base}{under}</msub>" if below else f"<msup>{base}{over}</msup>" if above else base


def pieces(found: list[Token]) -> Iterator[tuple[str, list[Token]]]:
    """Yield the tokens of a line in runs: ("prose", its words) and ("math", a formula)."""
    run: list[Token] = []
    kind, depth = "math", 0
    for at, token in enumerate(found):
        depth += (token.kind == "open") - (token.kind == "close")
        now = "prose" if not depth and _is_prose(found, at) else "math"
        if run and now != kind:
            yield kind, run
            run = []
        kind = now
        run.append(token)
    if run:
        yield kind, run


def _is_prose(found: list[Token], at: int) -> bool:
    """Return whether a word belongs to a sentence: it is no operand of a sign, and no function."""
    token, before = found[at], found[at - 1] if at else None
    after = found[at + 1] if at + 1 < len(found) else None
    if token.text == "a" and before and after:
        return before.kind == after.kind == "word"
    if token.kind != "word" or token.text in FUNCTIONS:
        return False
    if before and (before.kind == "script" or (before.kind == "operator" and before.text not in ",;:")):
        return False
    if after and after.kind == "operator" and after.text not in ",;:…":
        return False
    return not (after and not after.spaced and after.kind in ("open", "script", "prime", "bar"))
