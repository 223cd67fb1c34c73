"""Small numbers that a constructor takes: ε of norms, or what factors begin with, as the 1e-5 of LayerScale."""

import re
from dataclasses import replace
from typing import Any

from torch import nn

from attnconf.conformance.inference.building.building import Construction
from attnconf.conformance.inference.building.construction import build
from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.trials.probing import Failed
from attnconf.conformance.inference.words.vocabulary import meanings

ODD = 0.00731  # an ε that no parameter has by chance


def without_initial(place: Place, made: Construction, config: Any) -> Construction:
    """Return the construction without what is given an ε and is the value that a parameter begins with."""
    given = re.findall(r"\b(\w+)=config\.eps\b", made.text)
    unnamed = [name for name in given if "eps" not in meanings(name)]
    if not unnamed or not _begins(place, made, replace(config, eps=ODD)):
        return made
    text = re.sub(rf"(, )?\b({'|'.join(unnamed)})=config\.eps\b", "", made.text).replace("(, ", "(")
    return replace(made, text=text, given=made.given if len(unnamed) < len(given) else made.given - {"eps"})


def _begins(place: Place, made: Construction, config: Any) -> bool:
    """Return whether a parameter holds nothing but the ε of a configuration in the place of its own values."""
    try:
        module = build(place, made, config)
    except Failed:
        return False
    if not isinstance(module, nn.Module):
        return False
    own = [p for p in module.parameters() if not isinstance(p, nn.parameter.UninitializedParameter)]
    return any(bool(((p - config.eps).abs() < 1e-6).all()) for p in own)
