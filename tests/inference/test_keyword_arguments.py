"""What ``**kwargs`` may name is read from the code of a constructor."""

from dataclasses import dataclass

import pytest

from attnconf.conformance.inference.words.keyword_arguments import constructor_parameters

DEFAULTS = {"width": 32, "heads": 4}


@dataclass
class Options:
    width: int
    heads: int = 4


class OverDefaults:
    def __init__(self, **kwargs):
        self.width = {**DEFAULTS, **kwargs}["width"]
        merged = DEFAULTS | kwargs
        self.heads = merged["heads"]


class Read:
    def __init__(self, **kwargs):
        self.width = kwargs["width"]
        self.heads = kwargs.get("heads", 4)


class HandedOn:
    def __init__(self, **kwargs):
        self.inner = Read(**kwargs)


class Inherited(Read):
    def __init__(self, *, depth, **kwargs):
        super().__init__(**kwargs)
        self.depth = depth


class FromOptions:
    def __init__(self, **kwargs):
        self.options = Options(**kwargs)


class OptionsOrKeywords:
    def __init__(self, options: Options | None = None, **kwargs):
        self.options = options or Options(**kwargs)


class Unread:
    def __init__(self, width, **kwargs):
        self.width = width


@pytest.mark.parametrize(
    ("thing", "names"),
    [
        (OverDefaults, ["width", "heads"]),
        (Read, ["width", "heads"]),
        (HandedOn, ["width", "heads"]),
        (Inherited, ["depth", "width", "heads"]),
        (FromOptions, ["width", "heads"]),
        (OptionsOrKeywords, ["options", "kwargs"]),
        (Unread, ["width", "kwargs"]),
    ],
)
def test_keyword_arguments_are_named_as_the_code_reads_them(thing, names):
    assert sorted(p.name for p in constructor_parameters(thing)) == sorted(names)


@pytest.mark.parametrize(("thing", "default"), [(OverDefaults, 4), (Read, 4), (FromOptions, 4)])
def test_their_defaults_are_those_of_the_code(thing, default):
    assert {p.name: p.default for p in constructor_parameters(thing)}["heads"] == default
