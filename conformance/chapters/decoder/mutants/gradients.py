"""Ways to get decoder layers, and stacks of them, wrong: gradients."""

from attnconf.conformance.chapters.decoder.mutants.shared import look
from attnconf.conformance.engine.mutant import Mutant

memory_detached = Mutant(
    "DEC-memory-detached",
    story="the memory is detached: the encoder is not trained",
    breaks={"DEC-GRAD-1"},
    hint="no detach and no no_grad between encoder and decoder",
    replace={look: lambda x, memory, weights, style, mask: look(x, memory.detach(), weights, style, mask)},
)


def look_with_frozen_keys(x, memory, weights, style, mask):
    frozen = {n: w.detach() if n.startswith("cross.k.") else w for n, w in weights.items()}
    return look(x, memory, frozen, style, mask)


keys_frozen = Mutant(
    "DEC-keys-frozen",
    story="the projection of the memory to keys is not trained",
    breaks={"DEC-GRAD-1"},
    hint="cross.k is a parameter like the others",
    replace={look: look_with_frozen_keys},
)


def look_and_leak(x, memory, weights, style, mask):
    out = look(x, memory, weights, style, mask)
    if mask is None:
        return out
    hidden = memory * ~mask[:, 0, 0, :, None]
    return out + 0.1 * (hidden - hidden.detach()).sum(dim=1, keepdim=True)


padding_trained = Mutant(
    "DEC-padding-trained",
    story="a penalty on the padding of the memory leaks into its gradient",
    breaks={"DEC-GRAD-2"},
    hint="what is hidden has gradient 0",
    replace={look: look_and_leak},
)
