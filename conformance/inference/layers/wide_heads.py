"""Heads whose width is a constructor's own argument: they may be wider than their share of the model.

What is asked of a layer has no such width, so that it is compared here with the same layer of wider heads.
"""

import re
from dataclasses import replace

from torch import Tensor

from attnconf.conformance.engine.evidence import Failure
from attnconf.conformance.engine.request import Request
from attnconf.conformance.inference.texts.layer_requests import plain_requests
from attnconf.conformance.inference.texts.layer_text import HEAD, LayerText
from attnconf.conformance.inference.trials.binding import Place
from attnconf.conformance.inference.trials.calling import Form
from attnconf.conformance.inference.trials.trial import Certificate, drawn
from attnconf.conformance.inference.words.angle_names import ROLE
from attnconf.conformance.inference.words.vocabulary import meanings

TIMES = 2  # as wide
PROJECTION = r"(.*\.)?(attn|self|cross)\.(q|k|v|out|q_norm|k_norm)\.(weight|bias)"


def of_wide_heads(place: Place, text: LayerText) -> tuple[str, ...]:
    """Return a word on what is wrong with heads wider than their share; nothing where all is right, or not asked."""
    written = "\n".join((*text.made.before, text.made.text))
    name = next((n for n in re.findall(rf"""\b(\w+)["']?(?:=|: ){re.escape(HEAD)}""", written) if _of_a_head(n)), "")
    if not name:
        return ()
    one = _widened(text)
    certificate = Certificate(text.component, [_wide(asked) for asked in plain_requests(text)])
    given = certificate.replies(one.implementation(place))
    if any(isinstance(each, Failure) for each in given) or certificate.agrees(given, one.conventions()):
        return ()
    mistake = certificate.mistake(given, one.conventions())
    story = f": {mistake.story}" if mistake else f" it is not {text.component}"
    return (f"with `{name}` other than the width of the model over the number of heads{story}",)


def _of_a_head(name: str) -> bool:
    return "head_dim" in meanings(name) and "scalar" not in name


def _widened(text: LayerText) -> LayerText:
    """Return the text with heads that are wider."""
    wide = f"{TIMES} * ({HEAD})"
    before = tuple(line.replace(HEAD, wide) for line in text.made.before)
    made = replace(text.made, text=text.made.text.replace(HEAD, wide), before=before)
    slots = (
        replace(s, role=re.sub(r"\bE\b", f"({TIMES} * E)", s.role.replace(HEAD, wide)))
        if s.role.startswith(ROLE)
        else s
        for s in text.form.slots
    )
    return text.but(made=made, form=Form(tuple(slots)))


def _wide(asked: Request) -> Request:
    """Return a call with weights for heads that are wider."""
    return replace(asked, weights={name: _wider(name, x) for name, x in asked.weights.items()})


def _wider(name: str, x: Tensor) -> Tensor:
    found = re.fullmatch(PROJECTION, name)
    if found is None or (found[3] == "out" and found[4] == "bias"):
        return x
    axis = 1 if found[3] == "out" else 0
    shape = [size * TIMES if i == axis else size for i, size in enumerate(x.shape)]
    return drawn(f"wide {name}", *shape).to(x) * x.square().mean().sqrt()
