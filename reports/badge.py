"""A badge: the verdict in a word or two, as JSON for the endpoint of shields, and as a picture."""

import json
from html import escape

from attnconf.reports.comparison.overview import entries, totals
from attnconf.reports.merging import Named, judged

LABEL = "attention"
COLOURS = {  # of shields, and the same in numbers: white on them can be read
    "conformant": ("green", "#1b7f3b"), "incomplete": ("orange", "#9a5b00"), "unrecognised": ("orange", "#9a5b00"),
    "nonconformant": ("red", "#b3261e"), "not-gradable": ("lightgrey", "#5f6368"),
}  # fmt: skip
LOUDEST_FIRST = ("nonconformant", "unrecognised", "incomplete", "not-gradable", "conformant")
LETTER = 6.6  # pixels of a letter, about
PADDING = 12


def words(records: Named) -> tuple[str, str]:
    """Return the words of the badge, and the verdict that gives it its colour."""
    found = entries(judged(records))
    numbers = totals(found)
    worst = next(verdict for verdict in LOUDEST_FIRST if verdict in numbers)
    if len(found) == 1:
        return worst, worst
    incomplete = ", incomplete" if any(entry.cut_short for entry in found) else ""
    return f"{numbers.get('conformant', 0)} of {len(found)} conformant{incomplete}", worst


def endpoint(records: Named) -> str:
    """Return what https://shields.io/badges/endpoint-badge reads."""
    message, verdict = words(records)
    content = {"schemaVersion": 1, "label": LABEL, "message": message, "color": COLOURS[verdict][0]}
    return json.dumps(content, indent=1) + "\n"


def svg(records: Named) -> str:
    """Return the picture."""
    message, verdict = words(records)
    left, right = (round(len(text) * LETTER) + PADDING for text in (LABEL, message))
    title = escape(f"{LABEL}: {message}")
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" aria-label="{title}">',
        f"<title>{title}</title>",
        f'<rect width="{left + right}" height="20" rx="3" fill="#444"/>',
        f'<path d="M{left} 0h{right - 3}a3 3 0 0 1 3 3v14a3 3 0 0 1-3 3h-{right - 3}z" fill="{COLOURS[verdict][1]}"/>',
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">',
        f'<text x="{left / 2:g}" y="14">{LABEL}</text><text x="{left + right / 2:g}" y="14">{escape(message)}</text>',
        "</g>", "</svg>", "",
    ])  # fmt: skip
