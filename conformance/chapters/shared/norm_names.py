"""What both norms are called."""

# A norm that does not say which: no other that is known by a name, and none that is put around a layer.
NORM = (
    r"^(?!.*(batch|group|instance|weight|spectral|scale_?norm|add|pre_?norm|post_?norm|sub_?layer|block|residual|init|"
    r"rms|layer)).*norm"
)
