"""rotary-embedding-torch: RotaryEmbedding.rotate_queries_or_keys, and its parts where positions are given."""

from importlib.metadata import version

from rotary_embedding_torch import RotaryEmbedding, apply_rotary_emb

__version__ = version("rotary-embedding-torch")
declares = {"rope-pairing": "interleaved"}

# Our scalings that it has options for.
OPTIONS = {"linear": "interpolate_factor", "ntk": "theta_rescale_factor"}


def options(scaling):
    """Return the options for a scaling."""
    if scaling is None:
        return {}
    named = dict(scaling)
    if named["kind"] not in OPTIONS:
        raise NotImplementedError(f"the scaling {named['kind']}")
    return {OPTIONS[named["kind"]]: named["factor"]}


def rotary(config, weights):
    embedding = RotaryEmbedding(config.rotary_dim, theta=config.base, **options(config.scaling))
    embedding.to(config.device, config.dtype)

    def forward(x, *, positions=None):
        if positions is None:
            return embedding.rotate_queries_or_keys(x)
        if config.scaling is not None:
            raise NotImplementedError("explicit positions with a scaling")
        angles = embedding(positions)
        return apply_rotary_emb(angles if positions.ndim == 1 else angles[:, None], x)

    return forward
