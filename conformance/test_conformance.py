"""One pytest item for each implementation and requirement; the plugin makes them, the session judges them."""


def test_conformance(planned, judge):
    judge(planned)
