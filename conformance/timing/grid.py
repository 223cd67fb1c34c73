"""The cases that are timed, as data: on the CPU and on CUDA, a few ("smoke") or all ("grid")."""

from dataclasses import dataclass, replace

import torch

from attnconf.conformance.chapters.contents import timed
from attnconf.conformance.chapters.shared.work import Work

PASSES = ("forward", "backward", "both")


@dataclass(frozen=True)
class TimedCase:
    """A component with sizes: B samples, H heads, L queries, S keys, E features of a head; and the passes to time."""

    name: str
    component: str
    B: int
    H: int
    L: int
    E: int
    S: int = 0  # 0: as many as L
    kv_heads: int = 0  # 0: as many as H
    hidden: int = 0  # of the feed-forward network
    causal: bool = False
    padded: bool = False  # samples of different lengths: the last quarter of every other sample is padding
    passes: str = "forward"
    dtype: str = "float32"
    device: str = "cpu"
    group: str = ""

    @property
    def keys(self) -> int:
        return self.S or self.L

    @property
    def width(self) -> int:
        return self.H * self.E

    @property
    def torch_dtype(self) -> torch.dtype:
        dtype = getattr(torch, self.dtype)
        assert isinstance(dtype, torch.dtype)
        return dtype

    @property
    def work(self) -> Work:
        """Return the least work (FLOPs, bytes) of one call of this case."""
        return timed(self.component).work(self)

    def __str__(self) -> str:
        length = f"L={self.L}" if self.keys == self.L else f"L={self.L} S={self.keys}"
        heads = f"H={self.H}" if self.kv_heads in (0, self.H) else f"H={self.H}/{self.kv_heads}"
        mask = " causal" * self.causal + " padded" * self.padded
        return f"{self.component} {self.passes}: B={self.B} {heads} {length} E={self.E} {self.dtype}{mask}"


# -- CPU: float32, one thread

_CPU = (
    *(TimedCase(f"attention-{length}", "attention", B=2, H=8, L=length, E=64) for length in (128, 256, 512, 1024)),
    TimedCase("attention-causal-512", "attention", B=2, H=8, L=512, E=64, causal=True),
    TimedCase("module-16", "multi_head_attention", B=2, H=4, L=16, E=16),
    TimedCase("module-128", "multi_head_attention", B=4, H=4, L=128, E=64),
    TimedCase("module-512", "multi_head_attention", B=2, H=8, L=512, E=64),
    TimedCase("layer-128", "encoder_layer", B=4, H=4, L=128, E=64, hidden=1024),
    TimedCase("decode", "attention", B=2, H=8, L=1, S=2048, E=64),
    TimedCase("padded", "attention", B=4, H=8, L=256, E=64, padded=True),
    TimedCase("rotary", "rotary", B=2, H=8, L=512, E=64),
    TimedCase("layer-norm", "layer_norm", B=2, H=8, L=512, E=64),
    TimedCase("rms-norm", "rms_norm", B=2, H=8, L=512, E=64),
)
_CPU_SMOKE = (
    ("attention-256", "forward"), ("attention-256", "both"), ("module-128", "forward"), ("layer-128", "forward"),
)  # fmt: skip

# -- CUDA: the grid of FlashAttention's benchmarks, 16k tokens, width 2048

_LENGTHS = (512, 1024, 2048, 4096, 8192, 16384)  # tokens
_CUDA = tuple(
    TimedCase(
        f"attention-{'causal-' * causal}{length}-{width}{'-half' * (dtype == 'float16')}", "attention",
        B=max(1, 16384 // length), H=2048 // width, L=length, E=width, causal=causal, dtype=dtype, device="cuda",
    )
    for dtype in ("bfloat16", "float16") for width in (64, 128, 256) for causal in (False, True) for length in _LENGTHS
    if dtype == "bfloat16" or length == 4096  # the kernels are the same: one length shows it
)  # fmt: skip
_CUDA_OTHERS = tuple(
    replace(case, dtype="bfloat16", device="cuda")
    for case in (
        # the size for which NVIDIA publishes H200 figures of cuDNN: cudnn-frontend, benchmark/sdpa_benchmark_training
        TimedCase("published", "attention", B=1, H=64, kv_heads=8, L=8192, E=128, causal=True),
        TimedCase("decode", "attention", B=32, H=16, L=1, S=8192, E=128),
        TimedCase("padded", "attention", B=8, H=16, L=2048, E=128, padded=True),
        TimedCase("module", "multi_head_attention", B=4, H=16, L=2048, E=128),
        TimedCase("layer", "encoder_layer", B=4, H=16, L=2048, E=128, hidden=8192),
        TimedCase("rotary", "rotary", B=4, H=16, L=4096, E=128),
        TimedCase("layer-norm", "layer_norm", B=4, H=16, L=4096, E=128),
        TimedCase("rms-norm", "rms_norm", B=4, H=16, L=4096, E=128),
    )
)
_CUDA_SMOKE = (
    ("published", "forward"), ("published", "backward"), ("attention-causal-4096-128", "forward"), ("layer", "forward"),
)  # fmt: skip
_FORWARD_ONLY = ("decode", "padded")


def cases(device: str, which: str) -> tuple[TimedCase, ...]:
    """Return the cases of a device ("cpu", "cuda") and a choice ("smoke", "grid"), each in the passes it is timed in.

    Raises ValueError for another device or choice.
    """
    if device not in ("cpu", "cuda") or which not in ("smoke", "grid"):
        raise ValueError(f"no cases for {device!r}, {which!r}: want cpu or cuda, smoke or grid")
    every = _CPU if device == "cpu" else (*_CUDA, *_CUDA_OTHERS)
    if which == "smoke":
        chosen = _CPU_SMOKE if device == "cpu" else _CUDA_SMOKE
        named = {case.name: case for case in reversed(every)}
        return tuple(_in(named[name], passes) for name, passes in chosen)
    return tuple(_in(case, p) for case in every for p in PASSES if p == "forward" or case.name not in _FORWARD_ONLY)


def _in(case: TimedCase, passes: str) -> TimedCase:
    group = case.component.replace("_", "-")
    return replace(case, name=f"{case.name}-{passes}", passes=passes, group=f"{group} {passes}")
