"""What a token embedding, and attention behind one, look like in somebody's file."""

from attnconf.conformance.chapters.shared.appearance import Appearance

APPEARANCES = {
    "token_embedding": Appearance(
        "embedding",
        names=((120, r"embed|vlozhen|plongement|incrust|einbett|osadz|qian_?ru"),),
        unnamed=3,
        sizes={
            "vocab": ("config.vocab_size",),
            "embed": ("config.dim",),
            "padding": ("config.padding_id",),
            "max_len": ("64",),
            "dropout": ("0.1",),  # in evaluation, where it changes nothing
            "device": ('weights["table.weight"].device',),
            "dtype": ('weights["table.weight"].dtype',),
            "vectors": ('weights["table.weight"]',),  # that were learnt elsewhere
            "config": (),
        },
        words={
            "vectors": r"(pre_?trained_?)?((word|token)_?)?"
            r"(embeddings|(emb(edding)?s?_?)?(matrix|table|weights?|vectors))|pre_?trained(_?emb\w*)?|glove\w*|word2vec\w*|fasttext\w*",
        },
    ),
    "token_attention": Appearance(
        "layers",
        sizes={
            "embed": ("config.dim",),
            "heads": ("config.num_heads",),
            "vocab": ("config.vocab_size",),
            "head_dim": ("config.dim // config.num_heads",),
            "max_len": ("config.max_len",),
            "bias": ("config.bias",),
            "dropout": ("0.0",),
            "causal": ("config.causal",),
            "padding": ("-1", "None"),
            "config": (),
        },
    ),
}
