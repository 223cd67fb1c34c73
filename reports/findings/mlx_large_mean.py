"""mlx.nn.LayerNorm on the CPU: of features about 10⁴ the mean is wrong, as it is a plain sum in float32.

Requirement: LN-OFFSET-1
Project: mlx 0.32.4
On it: https://github.com/ml-explore/mlx/blob/main/mlx/fast.cpp subtracts mx.mean; nothing was found that says so.
On it: https://github.com/pytorch/pytorch/issues/51102 is the same kind of input in PyTorch, where it was a bug of high
    priority; closed.
This is: a bug: added one by one, numbers of 10⁴ lose their fractions where there are some thousand of them. Of a
    thousand the mean is off by some thousandths here; how much it is depends on how many the processor adds at once.

Prints:

    mlx: the mean of the output is off by more than 0.1
    torch: the mean of the output is 0
"""

import mlx.core as mx
import numpy as np
import torch
from mlx import nn

mx.set_default_device(mx.cpu)
x = np.tile(np.array([10_001.25, 9_999.25], dtype=np.float32), 2**16)[None]
outs = {"mlx": np.array(nn.LayerNorm(2**17, affine=False)(mx.array(x)))}
outs["torch"] = torch.nn.functional.layer_norm(torch.from_numpy(x), (2**17,)).numpy()
for name, out in outs.items():
    error = abs(out.mean(dtype=np.float64))
    print(f"{name}: the mean of the output is {'off by more than 0.1' if error > 0.1 else '0'}")
