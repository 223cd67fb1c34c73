"""jax.nn.dot_product_attention on the CPU: in float16 it works uncompiled, and is an error under jit.

Requirement: ATT-HALF-1, ATT-RANGE-1, MASK-HALF-1
Project: jax 0.10.2
On it: https://github.com/keras-team/keras-hub/pull/2354 works around it: float32 on JAX's CPU.
On it: https://github.com/jax-ml/jax/issues/24047 is why a precision is asked for.
This is: a bug: a precision that a platform lacks is caught, to go on without, which under jit comes too late.

Prints:

    called: float16
    compiled: ValueError: The precision 'F16_F16_F32' is not supported by dot_general on CPU
"""

import jax
import jax.numpy as jnp

x = jnp.ones((1, 3, 1, 4), jnp.float16)
print("called:", jax.nn.dot_product_attention(x, x, x).dtype)
try:
    print("compiled:", jax.jit(jax.nn.dot_product_attention)(x, x, x).dtype)
except ValueError as error:
    print(f"compiled: ValueError: {str(error).splitlines()[0]}")
