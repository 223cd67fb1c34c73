"""Which ε stands in the code of a layer's norms: read where it counts, on rows whose variance is as small.

On rows of the usual size an ε of 1e-5 and none at all differ by less than what a root in float32 is off by.
"""

import re
from collections.abc import Mapping
from dataclasses import replace

import torch
from torch import Tensor

from attnconf.adapters.contract import COMPONENTS, CONVENTIONS
from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.engine.request import Reply, Request
from attnconf.conformance.engine.translate import in_conventions
from attnconf.conformance.inference.binding import Place
from attnconf.conformance.inference.layer_requests import FIRST, request
from attnconf.conformance.inference.layer_text import LayerText
from attnconf.conformance.inference.trial import gap, reply, textbook

NONE, LEAST = "0", CONVENTIONS["eps"][-1]
SMALL = (3e-3, 1e-5)  # what tokens are multiplied by: variances at which 1e-5, and at which 1e-12, are seen
OUTPUTS = r"(.*\.)?(attn|self|cross)\.out\.(weight|bias)"


def eps_of(place: Place, text: LayerText) -> str:
    """Return the ε that explains best what comes out of small rows: the declared one, another, or NONE."""
    declares = text.declares
    if "eps" not in declares or COMPONENTS[place.component].reads_ids:  # ids give no small rows
        return declares.get("eps", "")
    implementation = text.implementation(place)
    given = reply(implementation, _small(text, declares["eps"]))
    if isinstance(given, Failure):
        return declares["eps"]
    every = dict.fromkeys((declares["eps"], *CONVENTIONS["eps"][1:], NONE))
    return min(every, key=lambda eps: gap(given, _textbook(text, eps)))


def said(eps: str) -> tuple[str, ...]:
    """Return a word where there is less than the least ε that can be declared."""
    return (f"ε: less than {LEAST}, or none; it is read as {LEAST}",) if eps == NONE else ()


def other_eps(declares: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return that another ε than the one in the code is not there."""
    if "eps" not in declares:
        return []
    eps = float(declares["eps"])
    return [(f"config.eps != {eps}", f"another ε than {eps}, which is in its code")]


def _textbook(text: LayerText, eps: str) -> Reply | Failure:
    return reply(in_conventions(textbook(), {**text.declares, "eps": eps}), _small(text, eps))


def _small(text: LayerText, eps: str) -> Request:
    """Return a call on small rows, to which attention adds nothing: nothing large stands before the next norm."""
    causal = text.declares.get("causality") == "always"
    short = FIRST.but(L=1) if text.decodes and not text.causal_always else FIRST
    asked = request(text.component, {**text.declares, "eps": LEAST}, short, (2, 2), causal=causal)
    weights = {n: torch.zeros_like(w) if re.fullmatch(OUTPUTS, n) else w for n, w in asked.weights.items()}
    inputs = {name: _shrunk(x) for name, x in asked.inputs.items()}
    return replace(asked, config=replace(asked.config, eps=float(eps)), weights=weights, inputs=inputs)


def _shrunk(x: Tensor) -> Tensor:
    """Return vectors of tokens, each sample's in another size."""
    factors = torch.tensor([SMALL[i % len(SMALL)] for i in range(x.shape[0])], dtype=x.dtype)
    return x * factors[:, None, None] if x.is_floating_point() and x.ndim > 2 else x
