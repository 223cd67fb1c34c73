"""torch.compile of the reference: what a compiler makes of the formulas as they are written.

Compiling takes seconds and a conformance run has hundreds of shapes, so inputs below ``WORTH`` numbers are computed as
written. What is compiled is compared with the reference before it is timed.
"""

import torch

from attnconf.adapters import reference
from attnconf.adapters.kit.compiled import WORTH, demand_compiler

__version__ = torch.__version__
declares = reference.declares


def compiled(make):
    def component(config, weights):
        forward, made = make(config, weights), []

        def call(*inputs, **options):
            if max(x.numel() for x in inputs) < WORTH:
                return forward(*inputs, **options)
            if not made:
                demand_compiler(inputs[0].device)
                made.append(torch.compile(forward, dynamic=False))
            return made[0](*inputs, **options)

        return call

    return component


attention = compiled(reference.attention)
multi_head_attention = compiled(reference.multi_head_attention)
encoder_layer = compiled(reference.encoder_layer)
rotary = compiled(reference.rotary)
layer_norm = compiled(reference.layer_norm)
rms_norm = compiled(reference.rms_norm)
