"""What Fourier features look like in somebody's file."""

from attnconf.conformance.chapters.shared.appearance import POSITIONS, Appearance

# What a bank of frequencies may be given as.
OF_EVEN = {"frequencies": ("evenly(config.frequencies)",), "max_frequency": ("twice_the_last(config.frequencies)",)}
BANKS = ("octaves(config.frequencies)", "list(config.frequencies)", "torch.tensor(config.frequencies)")
APPEARANCES = {
    "fourier": Appearance(
        "coordinates",
        kind=POSITIONS,
        called=r"fourier|coord|freq|nerf|octave|turn_?enc|embedder|input_?mapping|features",
        sizes={
            "frequencies": BANKS,
            "in_dim": ("config.in_dim",),
            "device": ("config.device",),
            "config": (),
            "any": ("frequencies", "in_dim"),
        },
        words={
            "in_dim": r"in_?dim|n_?in|in_?ch|coordinates|n_?dims?|input_?dim|d_?in|n_?coords?|coord_?dim|in_?features|"
            r"in_?dims|input_?dims?|in_?channels|num_?input_?channels|"
            r"dim|d|n_?input_?dims?|coords?|dims",
            "max_frequency": r"(max|top)_?(freq(uency)?|resolution)|nyquist(_?freq(uency)?)?|resolution",
            "frequencies": r"n_?levels|n_?octaves|n_?bands|num_?levels|freq_?bands|fourier_?freqs|num_?freqs?|"
            r"n_?freqs?|num_?frequencies|n_?frequencies|frequencies|freqs|num_?bands|bands|l|levels|"
            r"num_?octaves|n_?bands|num_?levels|l_?embed|multires|k|octaves|num_?encoding_?functions|"
            r"n_?frequency_?bands",
        },
    ),
    "random_fourier": Appearance(
        "coordinates",
        kind=POSITIONS,
        called=r"random|gauss|rff",
        sizes={
            "in_dim": ("config.in_dim",),
            "num_features": ("config.num_features", "2 * config.num_features"),
            "frequencies": ("config.num_features",),
            "deviation": ("1.0",),
            "device": ('weights["projection"].device',),
            "config": (),
            "any": ("in_dim", "num_features"),
        },
        words={
            "num_features": r"num_?features|n_?features|mapping_?size|embed(ding)?_?(size|dim)|features|m|"
            r"num_?frequencies|n_?freqs|(n|num)_?feats?",
            "deviation": r"sigma|scale|std(_?dev)?|stddev|gaussian_?scale|bandwidth",
        },
    ),
}
