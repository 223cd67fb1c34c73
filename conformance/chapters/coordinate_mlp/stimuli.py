"""The cases of the chapter spec/coordinate_mlp.md."""

from attnconf.conformance.engine.case import Case

# -- the cases

_ENCODED = "x({L}, {E}), {S} frequencies"
_NETWORK = _ENCODED + ", layers of {H}, {B}, {out_dim}"
_DEEP = _ENCODED + ", 11 layers of {H}, then {out_dim}"

USUAL = (
    Case("coordinate-1", B=7, H=9, L=6, S=4, E=2, F=8, out_dim=3, reads=_NETWORK),
    Case("coordinate-two-2", B=5, H=4, L=9, S=2, E=3, F=8, out_dim=1, reads=_NETWORK),
)
DEEP = (Case("coordinate-deep-1", B=7, H=5, L=6, S=4, E=2, F=8, out_dim=3, reads=_DEEP),)
