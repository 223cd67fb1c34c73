"""What rotary positions, and attention with them, look like in somebody's file."""

from attnconf.conformance.chapters.shared.appearance import POSITIONS, Appearance

APPEARANCES = {
    "rotary": Appearance(
        "rotary",
        kind=POSITIONS,
        called=r"rope|rotary|rotat",
        sizes={
            "rotary_dim": ("config.rotary_dim",),
            "fraction": ("config.rotary_dim / config.head_dim",),
            "embed": ("config.head_dim",),
            "head_dim": ("config.head_dim",),
            "in_dim": ("config.head_dim",),
            "max_len": ("config.max_len",),
            "base": ("config.base",),
            "device": ("config.device",),
            "dtype": ("torch.float32",),
            "config": (),
            "any": ("embed", "max_len"),
        },
        words={
            "rotary_dim": r"rot|rotary(_?dims?)?|rot_?dims?|dim_?rot(ary)?|rotary_?n?dims|n_?rot|"
            r"(rope|rotary)_?(dim|width|size)|d_?(rot|rope)",
            "fraction": r"fraction|(rotary|rope)_?(pct|percentage|percent|fraction)|partial_?(rotary|rope)(_?factor)?|"
            r"(rot|rope)_?(frac|share|ratio|pct)|"
            r"partial(_?factor)?|pct",
        },
    ),
    "rotary_attention": Appearance(
        "placed_attention",
        kind=POSITIONS,
        sizes={
            "head_dim": ("config.head_dim",),
            "embed": ("config.head_dim", "config.head_dim * config.num_heads"),
            "heads": ("config.num_heads",),
            "max_len": ("config.max_len",),
            "base": ("config.base",),
            "causal": ("config.causal",),
            "device": ("config.device",),
            "config": (),
            "any": ("head_dim", "heads"),
        },
    ),
}
