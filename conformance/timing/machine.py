"""The machine of a run: processor, GPU, versions, settings, load, and its peaks of computing and memory.

Facts that cannot be read are left out. nvidia-ml-py is used if it is installed, and never needed.
"""

import math
import os
import platform
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch

from attnconf.conformance.timing.clock import Clock, Job, ProcessClock, cuda_clock

# Dense bf16 and fp16 operations a second, and bytes of memory a second, by what the device's name contains: the first
# that fits. Source: FlashAttention, benchmarks/benchmark_attn.py.
DATASHEETS = (
    ("B200", 2250e12, 8.0e12),
    ("H200", 989e12, 4.8e12),
    ("H100 PCIe", 756e12, 2.0e12),
    ("H100 NVL", 835e12, 3.35e12),
    ("H100", 989e12, 3.35e12),
    ("A100", 312e12, 2.0e12),
)
# What NVIDIA publishes for cuDNN on an H200, in TFLOP/s: cudnn-frontend, benchmark/sdpa_benchmark_training.
PUBLISHED = {("H200", "published-forward"): 644.0, ("H200", "published-backward"): 541.0}
NEAR = 0.08  # a run further off is on a degraded machine, or measures wrongly
IDLE = 5  # per cent of the time that a GPU without work may be in use
DEGRADED = 0.6  # fraction of the datasheet's operations; a machine below it is degraded


def facts(device: str) -> dict[str, Any]:
    """Return the facts on the machine that are recorded with every run."""
    found = {
        "python": platform.python_version(), "torch": str(torch.__version__), "system": platform.platform(),
        "cpu": cpu_model(), "cores": os.cpu_count(), "affinity": affinity(), "governor": governor(),
        "threads": torch.get_num_threads(), "load": load_average(), "steal": steal(),
        "environment": {name: os.environ.get(name) for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS")},
        "float32_precision": torch.get_float32_matmul_precision(),
        "deterministic": torch.are_deterministic_algorithms_enabled(),
    }  # fmt: skip
    return found | (gpu() if device == "cuda" else {})


def cpu_model() -> str:
    """Return the processor's name."""
    for line in _read("/proc/cpuinfo").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor()


def affinity() -> list[int]:
    """Return the cores that this process may use, where the system says so."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


def governor() -> str:
    return _read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor").strip()


def load_average() -> float | None:
    """Return how many processes wanted to run in the last minute."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def steal() -> int | None:
    """Return the ticks since the start in which other virtual machines had this one's cores."""
    fields = _read("/proc/stat").partition("\n")[0].split()
    return int(fields[8]) if len(fields) > 8 else None


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError:
        return ""


# -- GPU


def gpu() -> dict[str, Any]:
    """Return the facts on the current GPU from torch, and from NVML where it is installed."""
    properties = torch.cuda.get_device_properties(torch.cuda.current_device())
    return {
        "gpu": properties.name, "multiprocessors": properties.multi_processor_count,
        "memory_bytes": properties.total_memory, "cache_bytes": cache_bytes(),
        "cuda": torch.version.cuda, "cudnn": torch.backends.cudnn.version(),
        "tf32": torch.backends.cuda.matmul.allow_tf32,
        "bf16_reduction": torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction,
        **nvml(),
    }  # fmt: skip


def cache_bytes() -> int:
    """Return the bytes of the GPU's L2 cache; 64 MiB where torch does not tell."""
    properties = torch.cuda.get_device_properties(torch.cuda.current_device())
    return int(getattr(properties, "L2_cache_size", 0)) or 64 * 2**20


def nvml() -> dict[str, Any]:
    """Return driver, limits, clocks and neighbours of the GPU; {} without nvidia-ml-py."""
    library, handle = _nvml_handle()
    if library is None:
        return {}
    asked: dict[str, Callable[[], Any]] = {
        "driver": library.nvmlSystemGetDriverVersion,
        "power_limit_w": lambda: library.nvmlDeviceGetPowerManagementLimit(handle) / 1000,
        "power_w": lambda: library.nvmlDeviceGetPowerUsage(handle) / 1000,
        "mhz": lambda: library.nvmlDeviceGetClockInfo(handle, library.NVML_CLOCK_SM),
        "max_mhz": lambda: library.nvmlDeviceGetMaxClockInfo(handle, library.NVML_CLOCK_SM),
        "celsius": lambda: library.nvmlDeviceGetTemperature(handle, library.NVML_TEMPERATURE_GPU),
        "throttle_reasons": lambda: library.nvmlDeviceGetCurrentClocksThrottleReasons(handle),
        "ecc": lambda: library.nvmlDeviceGetEccMode(handle)[0],
        "mig": lambda: library.nvmlDeviceGetMigMode(handle)[0],
        "processes": lambda: len(library.nvmlDeviceGetComputeRunningProcesses(handle)),
        "utilization": lambda: library.nvmlDeviceGetUtilizationRates(handle).gpu,
    }
    return {name: value for name, ask in asked.items() if (value := _answer(library, ask)) is not None}


def _nvml_handle() -> tuple[Any, Any]:
    try:
        import pynvml
    except ImportError:
        return None, None
    try:
        pynvml.nvmlInit()
        uuid = str(torch.cuda.get_device_properties(torch.cuda.current_device()).uuid)
        return pynvml, pynvml.nvmlDeviceGetHandleByUUID(uuid if uuid.startswith("GPU-") else f"GPU-{uuid}")
    except (pynvml.NVMLError, AttributeError):
        return None, None


def _answer(library: Any, ask: Callable[[], Any]) -> Any:
    try:
        return ask()
    except (library.NVMLError, AttributeError):
        return None


def clock_rate() -> Callable[[], float] | None:
    """Return a function that reads the GPU's clock in MHz, or None without NVML."""
    library, handle = _nvml_handle()
    if library is None:
        return None

    def mhz() -> float:
        found = _answer(library, lambda: library.nvmlDeviceGetClockInfo(handle, library.NVML_CLOCK_SM))
        return math.nan if found is None else float(found)

    return mhz


def busy() -> str:
    """Return words on why the GPU is not idle before a run; "" if it is idle or cannot be asked."""
    library, handle = _nvml_handle()
    if library is None:
        return ""
    running = _answer(library, lambda: library.nvmlDeviceGetComputeRunningProcesses(handle)) or []
    others = [process for process in running if process.pid != os.getpid()]
    if others:
        return f"{len(others)} other processes are on the GPU"
    used = _answer(library, lambda: library.nvmlDeviceGetUtilizationRates(handle).gpu) or 0
    return f"{used} % of the GPU's time is in use" if used > IDLE else ""


def clock_of(device: str) -> Clock:
    """Return the clock of "cpu" or "cuda"."""
    return ProcessClock() if device == "cpu" else cuda_clock(cache_bytes(), clock_rate())


# -- peaks


def peaks(device: str, clock: Clock | None = None) -> dict[str, float]:
    """Return operations and bytes a second: of the datasheet ("flops", "bytes"), and measured here ("gemm", "copy").

    On the CPU they are those of one thread.
    """
    clock, threads = clock or clock_of(device), torch.get_num_threads()
    name = torch.cuda.get_device_name() if device == "cuda" else ""
    sheet = next(({"flops": f, "bytes": b} for part, f, b in DATASHEETS if name and part in name), {})
    torch.set_num_threads(1)
    try:
        return {**sheet, "gemm": _gemm(device, clock), "copy": _copy(device, clock)}
    finally:
        torch.set_num_threads(threads)


def degraded(found: dict[str, float]) -> bool:
    """Return whether matrix products are so slow that absolute numbers mean nothing."""
    return "flops" in found and found["gemm"] < DEGRADED * found["flops"]


def _gemm(device: str, clock: Clock) -> float:
    n, dtype = (8192, torch.bfloat16) if device == "cuda" else (512, torch.float32)
    a, b = (torch.randn(n, n, device=device, dtype=dtype) for _ in "ab")
    return 2.0 * n**3 / _fastest(lambda _: a @ b, clock)


def _copy(device: str, clock: Clock) -> float:
    source = torch.randn((2**28 if device == "cuda" else 2**23), device=device)  # float32: 1 GiB, 32 MiB
    target = torch.empty_like(source)
    return 2.0 * source.nbytes / _fastest(lambda _: target.copy_(source), clock)


def _fastest(run: Callable[[int], Any], clock: Clock) -> float:
    """Return the shortest of 20 samples: a peak is reached when nothing disturbs."""
    for i in range(3):
        run(i)
    return min(clock.sample(Job(run)).seconds for _ in range(20))


def as_published(gpu_name: str, record: Mapping[str, Any]) -> bool | None:
    """Return whether the anchor of a case is as fast as published; None without a published figure."""
    for (part, case), tflops in PUBLISHED.items():
        if part in gpu_name and record["case"] == case and record["status"] == "timed":
            return bool(abs(record["anchor"]["tflops"] / tflops - 1) <= NEAR)
    return None
