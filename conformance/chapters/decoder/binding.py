"""What decoder layers and their stacks look like in somebody's file."""

from attnconf.conformance.chapters.shared.appearance import Appearance

COUNT = ("config.num_layers",)
APPEARANCES = {
    "decoder_layer": Appearance(
        "layers",
        names=(
            (
                90,
                r"dec(oder)?_?(layer|block|cell|unit)|(couche|capa|camada|strato|warstwa|blok|sloy)_?(de)?_?(dec|dek)od|"
                r"(dekod(er|ier)|jie_?ma)\w*?_?(schicht|ceng)",
            ),
        ),
    ),
    "decoder": Appearance(
        "layers", names=((140, r"decod|dekod|jie_?ma"),), sizes={"layers": COUNT, "decoder_layers": COUNT}
    ),
}
