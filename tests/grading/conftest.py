"""The test of Ray is collected where Ray is installed: .ci/all installs it, and fails if that test did not run."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("ray") else ["test_ray.py"]
