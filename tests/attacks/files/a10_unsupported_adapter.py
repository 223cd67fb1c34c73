"""A-10: is an adapter, and says of each call that it is not supported.

Must: earns nothing.
"""

profile = "core"


def multi_head_attention(config, weights):
    def forward(query, key, value, **options):
        raise NotImplementedError("not supported by this implementation")

    return forward
