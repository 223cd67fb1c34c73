"""A class graded on a cluster of two nodes, one of which is killed in the middle: the records are those of the pool."""

import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from ray.cluster_utils import Cluster

from attnconf.conformance.grading.rubric_text import SHIPPED

RIGHT = Path(__file__).parents[1] / "miniatures" / "self_attention.py"
NODES, SUBMISSIONS = 2, 20
RUBRIC = """\
title = "Scale"
components = ["multi_head_attention"]
[[item]]
name = "Scale"
points = 4
requirements = ["ATT-SCALE-1"]
[[item]]
name = "Our own"
points = 1
chapter = "hw"
"""


@pytest.fixture
def cluster():
    """Yield a cluster of this machine: a head that takes no work, and two nodes with one processor each."""
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    try:
        made.nodes = [made.add_node(num_cpus=1) for _ in range(NODES)]
        made.wait_for_nodes()
        yield made
    finally:
        made.shutdown()


@pytest.fixture
def handed_in(tmp_path):
    """Return a folder of submissions, with a rubric beside it; each differs in a name."""
    folder = tmp_path / "submissions"
    folder.mkdir()
    for n in range(SUBMISSIONS):
        (folder / f"student-{n:02}.py").write_text(RIGHT.read_text().replace("SelfAttention", f"Attention{n}"))
    (tmp_path / "hw.toml").write_text(RUBRIC)
    shutil.copytree(SHIPPED.with_name("course"), tmp_path / "course")
    return folder


def command(handed_in, out, *more):
    rubric, course = str(handed_in.parent / "hw.toml"), str(handed_in.parent / "course")
    words = ["grade", str(handed_in), "--rubric", rubric, "--with", course, "--out", str(out), "--seed", "5", *more]
    return [sys.executable, "-m", "attnconf", *words]


def records(out):
    return {path.name: path.read_bytes() for path in sorted((out / "records").glob("*.json"))}


def test_a_node_that_is_killed_loses_nothing(cluster, handed_in):
    out = handed_in.parent / "ray"
    words = command(handed_in, out, "--engine", "ray", "--address", cluster.address)
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    until = time.monotonic() + 300
    while len(records(out)) < 1 and process.poll() is None and time.monotonic() < until:
        time.sleep(0.1)
    assert 0 < len(records(out)) < SUBMISSIONS, "it is in the middle"
    cluster.remove_node(cluster.nodes[1], allow_graceful=False)
    printed, _ = process.communicate(timeout=600)
    assert process.returncode == 0, printed
    there = records(out)
    assert len(there) == SUBMISSIONS
    alone = handed_in.parent / "pool"
    shutil.rmtree(alone, ignore_errors=True)
    subprocess.run(command(handed_in, alone), check=True, timeout=600)
    assert there == records(alone), "byte for byte"


def test_an_address_where_nobody_is_is_told_in_a_line(handed_in):
    words = command(handed_in, handed_in.parent / "none", "--engine", "ray", "--address", "127.0.0.1:1")
    got = subprocess.run(words, capture_output=True, text=True, timeout=300)
    assert got.returncode == 2
    assert "no Ray cluster at 127.0.0.1:1" in got.stderr
