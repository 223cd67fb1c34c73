"""Measurements as data of a results file: no NaN, no infinity; seconds and bytes.

    {case, text, group, component, pass, dtype, device, sizes {B, H, L, E, S, kv_heads, hidden, causal, padded},
     work {flops, flops_published, bytes, tokens}, status "timed" | "not-run", reason,

     and where it was timed:
     contenders [{name, status "timed" | "not-timed" | "unsupported", reason, flags [{code, text, suspect}],
                  accuracy {error, bound}, peak_bytes,
                  samples_s, median_s, wall_s, mhz, outliers {mild, severe}, tflops, gbs, tokens_s,
                  fractions {datasheet, measured, anchor, bound_by}, ratio, lo, hi, verdict, inner}],
     anchor {name, samples_s, …, fractions}, aa {ratio, lo, hi, void},
     clock, rounds, looked_at, stopped, seconds, seed, sets, disturbed, rules}

A contender has the entries from ``samples_s`` on if it is "timed"; ``accuracy`` and ``peak_bytes`` also if it was
right but not timed. An unknown value is None. ``samples_s[i]`` and the anchor's ``samples_s[i]`` are of one round.
"""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from attnconf.conformance.chapters.shared.work import roof
from attnconf.conformance.timing import intervals
from attnconf.conformance.timing.clock import Sample
from attnconf.conformance.timing.grid import TimedCase
from attnconf.conformance.timing.integrity import Flag
from attnconf.conformance.timing.intervals import Interval

# Factor on the peaks: a measured peak is too low if neighbours computed meanwhile.
IMPOSSIBLE = {"flops": 1.1, "gemm": 3.0}
THROTTLED = 0.9  # fraction of the device's usual clock


def of_case(case: TimedCase) -> dict[str, Any]:
    """Return the part of a case's entry that is known before it is timed."""
    names = ("B", "H", "L", "E", "hidden", "causal", "padded")
    sizes = {name: getattr(case, name) for name in names} | {"S": case.keys, "kv_heads": case.kv_heads or case.H}
    return {
        "case": case.name, "text": str(case), "group": case.group, "component": case.component, "pass": case.passes,
        "dtype": case.dtype, "device": case.device, "sizes": sizes, "work": asdict(case.work),
    }  # fmt: skip


def of_samples(case: TimedCase, samples: Sequence[Sample], peaks: Mapping[str, float]) -> dict[str, Any]:
    """Return a contender's samples in the order of the rounds, and the figures derived from their median."""
    work = case.work
    seconds = [s.seconds for s in samples]
    median = statistics.median(seconds)
    walls = [s.wall for s in samples if not math.isnan(s.wall)]
    rates = [s.mhz for s in samples if not math.isnan(s.mhz)]
    return {
        "samples_s": seconds, "median_s": median, "wall_s": statistics.median(walls) if walls else None,
        "outliers": intervals.outliers(seconds), "mhz": statistics.median(rates) if rates else None,
        "tflops": work.flops_published / median / 1e12 if work.flops else None,
        "gbs": work.bytes / median / 1e9, "tokens_s": work.tokens / median,
        "fractions": fractions(case, median, peaks),
    }  # fmt: skip


def fractions(case: TimedCase, seconds: float, peaks: Mapping[str, float]) -> dict[str, Any]:
    """Return the least possible time divided by a time, with the peaks of the datasheet and with measured ones.

    A fraction is None if its peak is unknown. "bound_by": "flops" or "bytes", by the last peaks that are known.
    """
    found: dict[str, Any] = {"datasheet": None, "measured": None, "anchor": None, "bound_by": None}
    for name, flops, traffic in (("datasheet", "flops", "bytes"), ("measured", "gemm", "copy")):
        if flops in peaks and traffic in peaks:
            limit = roof(case.work, peaks[flops], peaks[traffic])
            found[name], found["bound_by"] = limit.seconds / seconds, limit.bound_by
    return found


def of_ratio(ratio: Interval, verdict: str, flags: Sequence[Flag]) -> dict[str, Any]:
    """Return a contender's ratio to the anchor and its verdict, SUSPECT if a flag is."""
    suspect = any(flag.suspect for flag in flags)
    return {
        "ratio": ratio.ratio, "lo": ratio.lo, "hi": ratio.hi, "verdict": "SUSPECT" if suspect else verdict,
        "flags": [asdict(flag) for flag in flags],
    }  # fmt: skip


def impossible(case: TimedCase, seconds: float, peaks: Mapping[str, float]) -> list[Flag]:
    """Return a flag if a contender did more operations a second than the hardware can.

    Bytes are not compared, as small inputs are in a cache; nor is the published count of a causal case.
    """
    name = "flops" if "flops" in peaks else "gemm"
    rate = case.work.flops / seconds
    if name not in peaks or rate <= IMPOSSIBLE[name] * peaks[name]:
        return []
    return [Flag("impossible", f"{rate / 1e12:.3g} TFLOP/s, where the hardware does {peaks[name] / 1e12:.3g}")]


def throttled(samples: Sequence[Sample]) -> list[Flag]:
    """Return a flag if the device's clock fell in more than a tenth of the samples."""
    rates = [s.mhz for s in samples if not math.isnan(s.mhz)]
    if not rates:
        return []
    usual = statistics.median(rates)
    slow = sum(rate < THROTTLED * usual for rate in rates)
    words = f"in {slow} of {len(rates)} samples the clock was below {THROTTLED:.0%} of {usual:.0f} MHz"
    return [Flag("throttled", words, suspect=False)] if slow > len(rates) / 10 else []
