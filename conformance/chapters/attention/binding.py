"""What attention looks like in somebody's file."""

from attnconf.conformance.chapters.shared.appearance import HEADS, Appearance

APPEARANCES = {
    "attention": Appearance(
        "attention_function",
        function=True,
        kind=HEADS,
        sizes={
            "embed": ("query.shape[-1]",),
            "heads": ("query.shape[1]",),
            "head_dim": ("query.shape[-1]",),
            "max_len": ("256",),
            "dropout": ("config.dropout",),
            "causal": ("config.causal",),
            "device": ("query.device",),
            "base": ("query.shape[-1] ** 0.5",),  # temperature
            "config": (),
        },
    )
}
