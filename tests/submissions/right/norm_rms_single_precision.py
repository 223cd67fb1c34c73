import numpy as np


def rms_norm(signal, gain, eps=1e-5):
    """Rows of ``signal`` over their root mean square, times ``gain``. Computed and returned in float32, as the device does."""
    signal = np.asarray(signal, dtype=np.float32)
    power = np.einsum("...i,...i->...", signal, signal) / signal.shape[-1]
    return (signal / np.sqrt(power + np.float32(eps))[..., None] * gain).astype(np.float32)
