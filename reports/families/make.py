"""Compare every family under every backend, and write reports/families.json and reports/families.md.

``python -m attnconf.reports.families.make``. With ``--page`` the page alone is made, of the numbers that are there.
"""

import json
import logging
from argparse import ArgumentParser
from importlib.metadata import version
from pathlib import Path
from typing import Any

from attnconf.reports.families import table
from attnconf.reports.record import write_text

REPORTS = Path(__file__).resolve().parents[1]
KEPT, PAGE = REPORTS / "families.json", REPORTS / "families.md"


def main() -> None:
    """Carry out the command line."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--page", action="store_true", help="make the page alone, of the numbers that are there")
    if not parser.parse_args().page:
        write_text(KEPT, json.dumps(compared(), indent=1, ensure_ascii=False) + "\n")
    write_text(PAGE, table.page(json.loads(KEPT.read_text(encoding="utf-8"))))


def compared() -> dict[str, Any]:
    """Return the record of all families."""
    from attnconf.reports.families.cells import cells
    from attnconf.reports.families.families import FAMILIES

    logging.getLogger("transformers").setLevel(logging.ERROR)  # token ids beyond the small vocabularies
    found = []
    for cell in cells():
        print(cell.family, cell.backend, cell.what, cell.status, "" if cell.share is None else f"{cell.share:.1%}")
        found.append(kept(vars(cell)))
    return {
        "transformers": version("transformers"),
        "torch": version("torch"),
        "families": {name: family.has for name, family in FAMILIES.items()},
        "cells": found,
    }


def kept(cell: dict[str, Any]) -> dict[str, Any]:
    """Return a cell with numbers of two digits, and null for those that are none."""
    return {
        name: (float(f"{value:.2g}") if value == value else None) if isinstance(value, float) else value
        for name, value in cell.items()
    }


if __name__ == "__main__":
    main()
