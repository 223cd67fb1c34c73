"""Make an Implementation of what an adapter offers, or say what is wrong with it."""

from collections.abc import Mapping

from attnconf.adapters.contract import Build
from attnconf.conformance.engine.request import GUESS, Apart, Binding, Implementation, Unjudgeable
from attnconf.conformance.worker.survey import Offer


def implementation_of(
    name: str, source: str, offer: Offer, functions: Mapping[str, Build], apart: Apart | None = None
) -> Implementation | Unjudgeable:
    """Return the implementation of an adapter's functions; ``source``: its file."""
    if offer.problem:
        return Unjudgeable(name, source, offer.problem)
    binding, notes = None, tuple[str, ...]()
    if offer.inferred:
        binding = Binding(source, established=offer.established)
        notes = () if binding.established else (f"binding      {GUESS}",)
    components = {component: functions[component] for component in offer.components}
    return Implementation(
        name, components, dict(offer.declares), offer.profile, source, offer.version, notes, binding, apart
    )
