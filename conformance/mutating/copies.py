"""A changed file among the neighbours of the original, so that its imports find what they did."""

import os
from pathlib import Path


def beside(path: Path, text: str, folder: Path) -> Path:
    """Write a text under a file's name, in a folder of the original's name that has all its neighbours.

    A notebook becomes a .py file.
    """
    home = path.absolute().parent
    made = folder / (home.name or "folder")
    made.mkdir()
    name = path.with_suffix(".py").name
    for neighbour in os.scandir(home):
        if neighbour.name not in (name, path.name, "__pycache__"):
            (made / neighbour.name).symlink_to(neighbour.path)
    changed = made / name
    changed.write_text(text, encoding="utf-8")
    return changed
