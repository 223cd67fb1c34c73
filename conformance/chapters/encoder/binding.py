"""What encoder layers and their stacks look like in somebody's file."""

from attnconf.conformance.chapters.shared.appearance import Appearance

APPEARANCES = {
    "encoder_layer": Appearance(
        "layers",
        names=(
            (
                100,
                r"(enc(oder)?|transformer|attention|residual|gpt|vit|self_?attn)_?(layer|block|cell|unit)|^block|"
                r"^layer$|block$",
            ),
        ),
    ),
    "encoder": Appearance(
        "layers", names=((130, r"encoder|encode|bert|vit|stack|gpt"),), sizes={"layers": ("config.num_layers",)}
    ),
}
