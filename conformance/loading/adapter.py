"""Make an Implementation of what an adapter offers, or say what is wrong with it."""

from collections.abc import Mapping, Sequence

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
    if source.endswith(".onnx"):
        notes = of_graph(str(offer.version), offer.components)
    components = {component: functions[component] for component in offer.components}
    return Implementation(
        name, components, dict(offer.declares), offer.profile, source, offer.version, notes, binding, apart
    )


def of_graph(version: str, components: Sequence[str]) -> tuple[str, ...]:
    """Return the lines of the header on a file of ONNX. ``version``: of its operator and of the runtime."""
    lines = [f"graph        {version}, on the CPU with one thread"]
    if "(float32)" in version:
        lines.append(
            "numbers      float64 is rounded to float32, in which the file computes; other dtypes are unsupported"
        )
    if "feed_forward" in components:
        lines.append("around it    linear layers of PyTorch: an activation is no component by itself")
    return tuple(lines)
