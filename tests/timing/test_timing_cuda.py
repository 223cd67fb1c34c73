"""What runs on CUDA alone, on objects that stand for it: the order of events, other streams, graphs, NVML."""

import json
import math
import sys
import types

import pytest
import torch

from attnconf.conformance.timing import graphs, machine
from attnconf.conformance.timing.clock import CudaClock, Job, ProcessClock


class Device:
    """A device with two streams: what is launched on either takes its time, while the host goes on."""

    def __init__(self):
        self.host = 0.0
        self.own = self.other = 0.0  # when each stream is through
        self.log = []

    def launch(self, seconds, aside=False):
        if aside:
            self.other = max(self.other, self.host) + seconds
        else:
            self.own = max(self.own, self.host) + seconds

    def event(self, enable_timing):
        assert enable_timing
        return Event(self)

    def synchronize(self):
        self.log.append("synchronize")
        self.host = max(self.host, self.own, self.other)

    def flush(self):
        self.log.append("flush")
        self.launch(1e-4)

    def clock(self, **options):
        return CudaClock(self.flush, event=self.event, synchronize=self.synchronize, now=lambda: self.host, **options)


class Event:
    def __init__(self, device):
        self.device = device

    def record(self):
        self.device.log.append("record")
        self.at = max(self.device.own, self.device.host)

    def synchronize(self):
        self.device.host = max(self.device.host, self.at)

    def elapsed_time(self, end):
        return (end.at - self.at) * 1e3  # milliseconds


def test_a_sample_is_flushed_before_and_waited_for():
    device = Device()
    ran = []

    def run(i):
        device.log.append("run")
        ran.append(i)
        device.launch(1e-3)

    clock = device.clock(checked=2)
    clock.taken = 1
    sample = clock.sample(Job(run, inner=2, first=5, before=lambda: device.log.append("before"),
                              after=lambda returned: device.log.append("after")))  # fmt: skip
    assert device.log == ["before", "flush", "record", "run", "run", "record", "synchronize", "after"]
    assert ran == [5, 6]
    assert (sample.seconds, sample.late) == (pytest.approx(1e-3), 0)
    assert math.isnan(sample.wall)


def test_work_on_another_stream_is_late_and_in_nobody_elses_sample():
    device = Device()
    clock = device.clock(checked=1000)
    clock.taken = 1
    cheat = clock.sample(Job(lambda i: device.launch(5e-3, aside=True)))
    assert cheat.seconds == pytest.approx(0)
    assert cheat.late == pytest.approx(5e-3, rel=0.1)
    honest = clock.sample(Job(lambda i: device.launch(1e-3)))
    assert (honest.seconds, honest.late) == (pytest.approx(1e-3), 0)


def test_the_host_looks_at_some_samples():
    device = Device()
    clock = device.clock(checked=2)
    walls = [clock.sample(Job(lambda i: device.launch(1e-3), inner=2)).wall for _ in range(4)]
    assert [math.isnan(w) for w in walls] == [False, True, False, True]
    assert walls[0] == pytest.approx(1e-3)


class Cuda:
    """What graphs.py needs of torch.cuda. Where it is ``strict``, nothing can be captured."""

    def __init__(self, strict=False):
        self.strict, self.replays = strict, 0

    def Stream(self):  # torch's name
        return types.SimpleNamespace(wait_stream=lambda other: None)

    current_stream = Stream

    def stream(self, stream):
        return torch.no_grad()

    def CUDAGraph(self):  # torch's name
        def replay():
            self.replays += 1

        return types.SimpleNamespace(replay=replay)

    def graph(self, graph):
        if self.strict:
            raise RuntimeError("operation not permitted when stream is capturing")
        return torch.no_grad()


def test_short_calls_are_recorded_and_replayed():
    cuda, ran = Cuda(), []
    replay = graphs.recorded(lambda i: ran.append(i) or i, 4, cuda)
    assert ran == [0, 1, 2, 3, 0, 1, 2, 3]
    assert (replay(2), cuda.replays, len(ran)) == (2, 1, 8)


def test_what_cannot_be_captured_is_not_recorded():
    assert graphs.recorded(lambda i: i, 4, Cuda(strict=True)) is None


@pytest.mark.parametrize(
    ("name", "flops"),
    [("NVIDIA H200", 989e12), ("NVIDIA H100 80GB HBM3", 989e12), ("NVIDIA H100 PCIe", 756e12), ("Tesla T4", None)],
)
def test_datasheets_are_found_by_name(name, flops, monkeypatch):
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: name)
    monkeypatch.setattr(machine, "_gemm", lambda device, clock: 5e14)
    monkeypatch.setattr(machine, "_copy", lambda device, clock: 3e12)
    found = machine.peaks("cuda", ProcessClock())
    assert found.get("flops") == flops
    assert machine.degraded(found) == (flops == 989e12)


def test_nvml_is_asked_where_it_is_installed(monkeypatch):
    class NVMLError(Exception):
        pass

    def refuse(*args):
        raise NVMLError

    library = types.SimpleNamespace(
        NVMLError=NVMLError,
        NVML_CLOCK_SM=1,
        NVML_TEMPERATURE_GPU=0,
        nvmlInit=lambda: None,
        nvmlDeviceGetHandleByUUID=lambda uuid: uuid,
        nvmlSystemGetDriverVersion=lambda: "570.1",
        nvmlDeviceGetClockInfo=lambda handle, kind: 1980,
        nvmlDeviceGetComputeRunningProcesses=lambda handle: [types.SimpleNamespace(pid=-1)],
        nvmlDeviceGetEccMode=refuse,
    )
    monkeypatch.setitem(sys.modules, "pynvml", library)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda i: types.SimpleNamespace(uuid="abc"))
    assert machine.nvml() == {"driver": "570.1", "mhz": 1980, "processes": 1}  # what it lacks or refuses is left out
    assert machine.clock_rate()() == 1980.0
    assert machine.busy() == "1 other processes are on the GPU"


def test_without_nvml_nothing_is_asked(monkeypatch):
    monkeypatch.setitem(sys.modules, "pynvml", None)
    assert machine.nvml() == {}
    assert machine.clock_rate() is None
    assert machine.busy() == ""


@pytest.mark.parametrize(("tflops", "near"), [(644, True), (600, True), (580, False)])
def test_what_is_published_is_compared(tflops, near):
    record = {"case": "published-forward", "status": "timed", "anchor": {"tflops": tflops}}
    assert machine.as_published("NVIDIA H200", record) is near
    assert machine.as_published("Tesla T4", record) is None


def test_facts_of_this_machine_can_be_written():
    found = machine.facts("cpu")
    json.dumps(found, allow_nan=False)
    assert found["cores"]
    assert found["torch"] == torch.__version__
