"""timm: rotary positions along one axis, in both pairings, and sinusoidal positions on a grid."""

import timm
from timm.layers import RotaryEmbedding, apply_rot_embed
from timm.layers.pos_embed_sincos import build_sincos2d_pos_embed

__version__ = timm.__version__


def make_rotary(half):
    def rotary(config, weights):
        if config.rotary_dim != config.head_dim:
            raise NotImplementedError("features that do not turn")
        if config.scaling is not None:
            raise NotImplementedError("scaled frequencies")
        # its dim is that of two axes
        embedding = RotaryEmbedding(2 * config.head_dim, temperature=config.base, in_pixels=False, rotate_half=half)
        embedding.to(config.device, config.dtype)

        def forward(x, *, positions=None):
            if positions is not None:
                raise NotImplementedError("explicit positions")
            return apply_rot_embed(x, *embedding.get_embed([x.shape[-2]]), half=half)

        return forward

    return rotary


def sinusoidal_2d(config, weights):
    def forward(height, width):
        table = build_sincos2d_pos_embed(
            [height, width], config.dim, config.base, interleave_sin_cos=True, device=config.device, dtype=config.dtype
        )
        return table.unflatten(0, (height, width))

    return forward


variants = {
    "interleaved": {
        "rotary": make_rotary(False),
        "sinusoidal_2d": sinusoidal_2d,
        "declares": {"rope-pairing": "interleaved", "grid-axes": "height-first", "grid-layout": "halves"},
    },
    "half": {"rotary": make_rotary(True), "declares": {"rope-pairing": "half"}},
}
