import torch
from math import log


def frame_positions(n_frames: int, n_state: int, longest: float = 10_000.0) -> torch.Tensor:
    """Fixed positions for spectrogram frames, (n_frames, n_state): sines left, cosines right.

    The slowest wave is exactly `longest` times slower than the fastest one.
    """
    if n_state % 2 or n_state < 4:
        raise ValueError(f"n_state={n_state} does not split into sines and cosines")
    k = n_state // 2
    rate = torch.linspace(0, -log(longest), k, dtype=torch.float64).exp()
    phase = rate * torch.arange(n_frames, dtype=torch.float64).view(-1, 1)
    return torch.hstack([phase.sin(), phase.cos()]).float()
