"""What a position-wise feed-forward network looks like in somebody's file."""

from attnconf.conformance.chapters.shared.appearance import Appearance

APPEARANCES = {
    "feed_forward": Appearance(
        "feed_forward",
        names=(
            (
                80,
                r"feed_?forward|ffn|(^|_)ff(_|$)|mlp|glu|pointwise|position_?wise|vorw(ae|ä)rts|qian_?kui|ileri_?besle|"
                r"(red|rete|rede|reseau|réseau)_?(pos|dens|diret|feed|avan)",
            ),
        ),
        unnamed=2,
        function=True,
        sizes={
            "embed": ("config.embed_dim",),
            "out": ("config.embed_dim",),
            "hidden": ("config.hidden_dim", "(3 * config.hidden_dim + 1) // 2"),  # two thirds of it, with a gate
            "ratio": (
                "config.hidden_dim / config.embed_dim + 1e-9",
                "config.hidden_dim // config.embed_dim",
                "1.5 * config.hidden_dim / config.embed_dim + 1e-9",  # of which two thirds are used, with a gate
            ),
            "multiple": ("1",),
            "hidden_layers": ("1",),
            "dropout": ("config.dropout",),
            "bias": ("config.bias",),
            "eps": ("1e-5",),
            "device": ('weights["up.weight"].device',),
            "dtype": ('weights["up.weight"].dtype',),
            "config": (),
        },
        words={"multiple": r"multiple_?of", "hidden_layers": r"depth|(num|n)_?(hidden_?)?layers"},
    )
}
