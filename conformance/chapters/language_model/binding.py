"""What a language model looks like in somebody's file."""

from attnconf.conformance.chapters.shared.appearance import Appearance

APPEARANCES = {
    "language_model": Appearance(
        "layers",
        names=((158, r"gpt|llama|language_?model|causal_?lm|^lm|lm$|lm_?head_?model"),),
        sizes={
            "layers": ("config.num_layers",),
            "vocab": ("config.vocab_size",),
            "max_len": ("config.max_len",),
            "padding": ("-1", "None"),
        },
    ),
}
