"""What T5's bias, and attention with it, look like in somebody's file."""

from attnconf.conformance.chapters.shared.appearance import POSITIONS, Appearance

APPEARANCES = {
    "relative_bias": Appearance(
        "biases",
        kind=POSITIONS,
        called=r"rel(ative)?_?(pos|bias|att|dist)|t5(?!\w*norm)|bucket",
        arrays=True,
        sizes={
            "heads": ("config.num_heads",),
            "buckets": ("config.num_buckets",),
            "distance": ("config.max_distance",),
            "bidirectional": ("config.bidirectional",),
            "causal": ("not config.bidirectional",),
            "max_len": ("320",),
            "table": ('weights["table.weight"]', 'weights["table.weight"].T'),
            "device": ('weights["table.weight"].device',),
            "config": (),
            "any": ("heads", "buckets", "distance"),
        },
        words={
            "table": r"((rel(ative)?_?)?(pos(ition)?_?)?bias_?)?table|(bias_?)?(weights?|embeddings?)",
            "buckets": r"num_?buckets|n_?buckets|(anzahl_?)?eimer|buckets|relative_?attention_?num_?buckets|"
            r"n(b|um)?_?(classes|klassen|clases|classi)",
            "distance": r"max_?distance|max(imaler)?_?abstand|max_?dist|relative_?attention_?max_?distance",
            "bidirectional": r"(is_?)?bidirection(al|nel)(le)?|bidirec?cional|bidirektional|bidirezionale|beidseitig",
        },
    ),
    "relative_bias_attention": Appearance(
        "placed_attention",
        kind=POSITIONS,
        sizes={
            "heads": ("config.num_heads",),
            "head_dim": ("config.head_dim",),
            "buckets": ("config.num_buckets",),
            "embed": ("config.head_dim", "config.head_dim * config.num_heads"),
            "distance": ("config.max_distance",),
            "causal": ("config.causal",),
            "bidirectional": ("not config.causal",),
            "config": (),
            "any": ("heads", "buckets", "distance"),
        },
    ),
}
