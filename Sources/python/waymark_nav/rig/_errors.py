"""What the rig raises."""

from __future__ import annotations


class RigError(Exception):
    """The test cannot be run: a key that does not exist, a program that does not start. No verdict."""


class RigFailure(AssertionError):
    """An expectation failed. Its text explains why."""


# In tracebacks, the names that a test imports.
RigError.__module__ = RigFailure.__module__ = "waymark_nav.rig"
