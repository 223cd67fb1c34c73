"""mlx.nn.SinusoidalPositionalEncoding: what comes out is float32, whatever dtype the module and its input have.

Requirement: CALL-DTYPE-2
Project: mlx 0.32.4
On it: https://ml-explore.github.io/mlx/build/html/python/nn/_autosummary/mlx.nn.SinusoidalPositionalEncoding.html says
    nothing of dtypes; the frequencies are kept out of the parameters, so that set_dtype does not reach them.
This is: an ambiguity: angles in float32 are right, but added to tokens of bfloat16 they make float32 of all that
    follows.

Prints:

    encoding: mlx.core.float32
    tokens with it: mlx.core.float32
"""

import mlx.core as mx
from mlx import nn

encoding = nn.SinusoidalPositionalEncoding(4)
encoding.set_dtype(mx.bfloat16)
tokens = nn.Embedding(10, 4)
tokens.set_dtype(mx.bfloat16)
places = encoding(mx.arange(3).astype(mx.bfloat16))
print("encoding:", places.dtype)
print("tokens with it:", (tokens(mx.arange(3)) + places).dtype)
