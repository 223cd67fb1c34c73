"""torch.nn with its fast path switched off: the same layers, as they compute where gradients are wanted."""

import torch

from attnconf.adapters import torch_nn

__version__ = torch.__version__
declares = torch_nn.declares


def without_fast_path(make):
    def component(config, weights):
        forward = make(config, weights)

        def call(*inputs, **options):
            before = torch.backends.mha.get_fastpath_enabled()
            torch.backends.mha.set_fastpath_enabled(False)
            try:
                return forward(*inputs, **options)
            finally:
                torch.backends.mha.set_fastpath_enabled(before)

        return call

    return component


multi_head_attention = without_fast_path(torch_nn.multi_head_attention)
encoder_layer = without_fast_path(torch_nn.encoder_layer)
