"""What is judged by an adapter alone: how its calls are made cannot be found out by experiment."""

from attnconf.conformance.inference.trials.binding import Bound, Place, Refusal


def bind(place: Place) -> Bound | Refusal:
    """Return why a class or function is not bound."""
    return Refusal(f"{place.component} is judged by an adapter: adapters/README.md says how to write one")
