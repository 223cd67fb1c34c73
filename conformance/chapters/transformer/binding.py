"""What a Transformer looks like in somebody's file, with its embeddings and without."""

from attnconf.conformance.chapters.shared.appearance import Appearance

COUNTS = {"layers": ("config.num_encoder_layers",), "decoder_layers": ("config.num_decoder_layers",)}
APPEARANCES = {
    "encoder_decoder": Appearance("layers", names=((150, r"encoder_?decoder|seq_?(2|to)_?seq"),), sizes=COUNTS),
    "transformer": Appearance(
        "layers",
        names=((160, r"transformer|translat|seq_?(2|to)_?seq|encoder_?decoder"),),
        sizes={
            **COUNTS,
            "vocab": ("config.vocab_size",),
            "max_len": ("config.max_len", "256"),
            "padding": ("-1", "None"),
        },
    ),
}
