"""From the reference's conventions into declared ones: a function for each component, from a build to another build."""

from collections.abc import Callable

Choice = Callable[[str], str]  # what is chosen for a convention
