"""What ALiBi, and attention with it, look like in somebody's file."""

from attnconf.conformance.chapters.shared.appearance import POSITIONS, Appearance

APPEARANCES = {
    "alibi": Appearance(
        "biases",
        kind=POSITIONS,
        called=r"alibi|slopes?$|^slopes?|linear_?bias",
        arrays=True,
        sizes={
            "heads": ("config.num_heads",),
            "max_len": ("320",),
            "causal": ("config.causal",),
            "device": ("config.device",),
            "dtype": ("config.dtype",),
            "config": (),
            "any": ("heads", "max_len"),
        },
    ),
    "alibi_attention": Appearance(
        "placed_attention",
        kind=POSITIONS,
        sizes={
            "heads": ("config.num_heads",),
            "head_dim": ("config.head_dim",),
            "max_len": ("320",),
            "embed": ("config.head_dim", "config.head_dim * config.num_heads"),
            "causal": ("config.causal",),
            "device": ("config.device",),
            "config": (),
            "any": ("heads", "head_dim"),
        },
    ),
}
