"""What multi-head attention looks like in somebody's file."""

from attnconf.conformance.chapters.shared.appearance import HEADS, Appearance

APPEARANCES = {
    HEADS: Appearance(
        "attention",
        names=((110, r"att(entio)?n|att$|mha|head|msa$|mhsa|causal"),),
        unnamed=1,
        sizes={
            "embed": ("config.embed_dim",),
            "out": ("config.out_dim",),
            "heads": ("config.num_heads",),
            "head_dim": ("config.head_dim", "config.num_heads", "config.embed_dim"),
            "key_dim": ("config.key_dim",),
            "value_dim": ("config.value_dim",),
            "max_len": ("256",),
            "dropout": ("config.dropout",),
            "bias": ("config.bias",),
            "causal": ("config.causal",),
            "device": ('weights["q.weight"].device',),
            "dtype": ('weights["q.weight"].dtype',),
            "config": (),
        },
    )
}
