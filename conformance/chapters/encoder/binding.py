"""What encoder layers and their stacks look like in somebody's file."""

from attnconf.conformance.chapters.shared.appearance import Appearance

APPEARANCES = {
    "encoder_layer": Appearance(
        "layers",
        names=(
            (
                100,
                r"(enc(oder)?|transformer|attention|residual|gpt|vit|self_?attn)_?(layer|block|cell|unit)|^block|"
                r"^layer$|block$|(couche|capa|camada|strato|warstwa|blok|sloy)_?(de)?_?([ck]od|encod|enkod)|"
                r"([ck]od(er|ier)|enkod|bian_?ma)\w*?_?(schicht|ceng)|^(couche|capa|camada|strato|warstwa|sloy|schicht)$",
            ),
        ),
    ),
    "encoder": Appearance(
        "layers",
        names=((130, r"encoder|encode|codific|enkod|kodier|codeur|bian_?ma|bert|vi_?t(?![a-z])|stack|gpt"),),
        sizes={
            "layers": ("config.num_layers",),
            "image": ("32",),
            "patch": ("8",),
            "colours": ("3",),
            "flat": ("6",),
            "mels": ("5",),
            "classes": ("7",),
        },
        words={
            "image": r"(img|image|input|picture)_?(size|res(olution)?|side|height|width|h|w)|resolution",
            "patch": r"patch(_?(size|side|height|width|h|w))?",
            "colours": r"((in|img|image|n|num|c)_?)?(chans?|channels?|colou?rs)|c_?in",
            "flat": r"(flat_?)?patch_?(dim|features|vector|pixels)|(d|dim)_?patch",
            "mels": r"((n|num|in)_?)?mels?(_?(bins|channels|bands|dim))?|n_?mfccs?|(n|num)_?(freqs?|bins)",
            "classes": r"(n|num|nb)_?(class(es)?|labels?|outputs?)|classes",
        },
    ),
}
