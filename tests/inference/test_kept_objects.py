"""Objects that tokens are kept in: of the class that an annotation names, wherever it and its kind are defined."""

from types import ModuleType

from attnconf.conformance.inference.building.kept_objects import kept_objects


class Cache:
    """What an annotation names, and nobody can make: it is of another module than the file."""

    def __init__(self, layers):
        self.layers = [layer() for layer in layers]

    def update(self, key, value):
        return key, value


class GrowingCache(Cache):
    def __init__(self):
        super().__init__(())


def test_the_kind_that_a_file_imports_is_tried():
    file = ModuleType("a_file")
    file.Cache, file.GrowingCache = Cache, GrowingCache
    assert [type(new()) for new in kept_objects(Cache | None, file)] == [GrowingCache]


def test_what_a_file_imports_is_not_tried_where_nothing_is_named():
    file = ModuleType("a_file")
    file.GrowingCache = GrowingCache
    assert list(kept_objects(None, file)) == []
