"""What decoder layers and their stacks look like in somebody's file."""

from attnconf.conformance.chapters.shared.appearance import Appearance

COUNT = ("config.num_layers",)
APPEARANCES = {
    "decoder_layer": Appearance("layers", names=((90, r"dec(oder)?_?(layer|block|cell|unit)"),)),
    "decoder": Appearance("layers", names=((140, r"decoder"),), sizes={"layers": COUNT, "decoder_layers": COUNT}),
}
