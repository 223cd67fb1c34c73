"""How much of the error budget is used, against the length of the sequence: a picture, points of each implementation.

Drawn by hand, as matplotlib is not there for everyone, and takes a second for a class of 200.
"""

import math
from collections.abc import Sequence
from html import escape

from attnconf.reports.comparison.accuracy import Share
from attnconf.reports.comparison.visible import visible

Points = Sequence[tuple[str, dict[int, Share]]]  # for each implementation, its largest share at each length

WIDTH, HEIGHT = 760, 340
LEFT, RIGHT, TOP, BOTTOM = 66, 750, 12, 300  # of what is drawn
LEAST = -6  # the lowest decade: what uses less of its bound is drawn there
MOST = 1000  # points, the largest
STYLE = (  # of the picture in a file of its own
    "text{font:11px 'DejaVu Sans',Verdana,sans-serif;fill:#444}.grid{stroke:#8886;stroke-width:.5}"
    ".bound{stroke:#444;stroke-dasharray:5 4}.within{fill:#2e7d32;fill-opacity:.5}.beyond{fill:#b3261e}"
    "@media(prefers-color-scheme:dark){text{fill:#ccc}.bound{stroke:#ccc}.within{fill:#81c784}.beyond{fill:#ff8a80}}"
)
UPWARDS = "share of the bound"
CAPTION = "The largest share of an error bound that is used, by the length of the sequence, in float32 and float64"


def svg(found: Points) -> str:
    """Return the picture; nothing if there are no two lengths to compare."""
    points = [(label, length, share) for label, shares in found for length, share in shares.items()]
    lengths = {length for _, length, _ in points}
    if len(lengths) < 2:
        return ""
    highest = max(1, math.ceil(max(decade(share.share) for _, _, share in points)))
    longest = math.ceil(math.log2(max(lengths)))
    worst = sorted(points, key=lambda point: point[2].share)[-MOST:]  # the largest are drawn last, on top
    rest = f" (the {MOST} largest of {len(points)})" if len(points) > MOST else ""
    return "\n".join([
        f'<svg class="lengths" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{CAPTION}">',
        *(_tick_down(decade, highest) for decade in range(LEAST, highest + 1, 2)),
        *(_tick_across(power, longest) for power in range(0, longest + 1, 2)),
        f'<text x="{(LEFT + RIGHT) / 2:g}" y="{HEIGHT - 4}" text-anchor="middle">length (tokens){rest}</text>',
        f'<text transform="translate(12 {(TOP + BOTTOM) / 2:g}) rotate(-90)" text-anchor="middle">{UPWARDS}</text>',
        *(_point(*point, longest, highest) for point in worst), "</svg>",
    ])  # fmt: skip


def alone(found: Points) -> str:
    """Return the picture as a file of its own. Raises ValueError if there are no two lengths to compare."""
    if not (drawn := svg(found)):
        raise ValueError("there are no two lengths to compare in these results")
    first, rest = drawn.split("\n", 1)
    sizes = f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}"'
    return f"{first.replace('<svg', sizes)}\n<title>{CAPTION}</title>\n<style>{STYLE}</style>\n{rest}\n"


def decade(share: float) -> float:
    return max(LEAST, math.log10(share)) if share > 0 else LEAST


def _across(power: float, longest: int) -> float:
    return LEFT + (RIGHT - LEFT) * power / max(longest, 1)


def _down(decade: float, highest: int) -> float:
    return BOTTOM - (BOTTOM - TOP) * (decade - LEAST) / (highest - LEAST)


def _tick_down(decade: int, highest: int) -> str:
    y, name = _down(decade, highest), "the bound" if decade == 0 else f"1e{decade}"
    kind = "bound" if decade == 0 else "grid"
    text = f'<text x="{LEFT - 5}" y="{y + 4:.1f}" text-anchor="end">{name}</text>'
    return f'<path class="{kind}" d="M{LEFT} {y:.1f}H{RIGHT}"/>{text}'


def _tick_across(power: int, longest: int) -> str:
    x = _across(power, longest)
    text = f'<text x="{x:.1f}" y="{BOTTOM + 15}" text-anchor="middle">{2**power}</text>'
    return f'<path class="grid" d="M{x:.1f} {TOP}V{BOTTOM}"/>{text}'


def _point(label: str, length: int, share: Share, longest: int, highest: int) -> str:
    """Return a point that says what it is; in red if it is beyond the bound."""
    x, y = _across(math.log2(length), longest), _down(decade(share.share), highest)
    told = f"{escape(visible(label))}, {length}: {share.share:.2g} {share.requirement}"
    kind = "beyond" if share.share > 1 else "within"
    return f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="3"><title>{told}</title></circle>'
