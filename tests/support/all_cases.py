"""The scored cases of all chapters, found by their places."""

import importlib

from attnconf.conformance.engine.case import Case
from attnconf.spec import registry

FAMILIES = {
    (chapter, name): value
    for chapter in registry.CHAPTERS.values()
    for name, value in vars(importlib.import_module(f"attnconf.conformance.chapters.{chapter}.stimuli")).items()
    if isinstance(value, tuple) and value and all(isinstance(case, Case) for case in value)
}
