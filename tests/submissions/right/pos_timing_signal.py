"""The oldest code there is for it has all sines before all cosines, and exponents that run to 1."""
import torch


def timing_signal(n_steps, n_channels, shortest=1.0, base=10000.0):
    scales = n_channels // 2
    exponent = torch.arange(scales, dtype=torch.float64) / max(scales - 1, 1)
    rate = (base / shortest) ** -exponent / shortest
    angle = torch.arange(n_steps, dtype=torch.float64).outer(rate)
    signal = torch.zeros(1, n_steps, n_channels, dtype=torch.float64)
    signal[0, :, :scales] = angle.sin()
    signal[0, :, scales : 2 * scales] = angle.cos()
    return signal
