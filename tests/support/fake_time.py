"""Time that passes only where a test says so, the same in every run."""

import math
import random

from attnconf.conformance.timing.clock import Job, ProcessClock, Sample


class FakeTime:
    """Seconds that contenders spend: each of their samples is off by ``noise``, and bursts slow whole stretches."""

    def __init__(self, noise=0.0, seed=0, bursts=0.0, slower=1.5):
        self.seconds = 0.0
        self.noise, self.bursts, self.slower = noise, bursts, slower
        self.chance = random.Random(seed)
        self.until = 0.0

    def now(self):
        return self.seconds

    def spend(self, seconds):
        if self.seconds > self.until and self.chance.random() < self.bursts:
            self.until = self.seconds + self.chance.expovariate(1 / 0.02)
        factor = self.slower if self.seconds < self.until else 1.0
        self.seconds += seconds * factor * math.exp(self.chance.gauss(0.0, self.noise))

    def clock(self):
        return ProcessClock("fake", self.now, self.now, lambda: 0, self.sleep, self.now, lambda: 0)

    def sleep(self, seconds):
        """Nothing is computed meanwhile."""


class FixedClock:
    """Runs what it is given and says that a call took what ``FakeTime`` was told, else a millisecond."""

    name = "fixed"

    def __init__(self, time=None):
        self.time = time or FakeTime()
        self.now = self.time.now

    def sample(self, job: Job) -> Sample:
        if job.before:
            job.before()
        start = self.time.seconds
        returned = job()
        if self.time.seconds == start:
            self.time.spend(1e-3 * job.total)
        seconds = (self.time.seconds - start) / job.total
        if job.after:
            job.after(returned)
        return Sample(seconds, seconds)

    def idle(self, seconds):
        return 0.0
