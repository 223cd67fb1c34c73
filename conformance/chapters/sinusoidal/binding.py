"""What sinusoidal positions look like in somebody's file."""

from attnconf.conformance.chapters.shared.appearance import POSITIONS, Appearance

GRID = r"2d|grid|patch|image|plane|two_?d"  # in the name of what is known to be made of sines
SIZES = {
    "embed": ("config.dim",),
    "max_len": ("config.max_len",),
    "dropout": ("config.dropout",),
    "base": ("config.base",),
    "base_n": ("config.base",),
    "device": ("config.device",),
    "dtype": ("config.dtype",),
    "config": (),
    "padding": ("1",),
    "any": ("embed", "max_len"),
}
APPEARANCES = {
    "sinusoidal": Appearance(
        "positions",
        kind=POSITIONS,
        called=r"posi|(^|_)pe($|_)|^pos|_pos|wpe|place|time_?(signal|step|emb)|sinus|sincos|sin_?(table|emb|enc|pos)",
        arrays=True,
        sizes=SIZES,
        words={
            "base": r"base|theta|rope_?theta|rope_?base|max_?timescale|freq_?base|base_?freq|omega|max_?period|"
            r"max_?wavelength|rotary_?base|temperature|wavelength|constant",
            "base_n": r"n",  # of sines alone: elsewhere it counts
        },
    ),
    "sinusoidal_2d": Appearance("positions", kind=POSITIONS, arrays=True, sizes=SIZES),
}
