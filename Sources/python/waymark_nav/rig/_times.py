"""Times. Those of the history are whole nanoseconds since the rig began."""

from __future__ import annotations

import math
import re

from waymark_nav.rig._errors import RigError
from waymark_nav.rig._fields import number

NANOSECONDS = 1_000_000_000
_UNITS = {"ms": 1_000_000, "s": NANOSECONDS, "min": 60 * NANOSECONDS, "h": 3_600 * NANOSECONDS}

#: Seconds as a number, or a text as in scenarios: "300ms", "2s", "5min", "1h".
Time = float | str


def nanoseconds(time: Time) -> int:
    """How many nanoseconds a time is."""
    if isinstance(time, str):
        match = re.fullmatch(r"(\d+(?:\.\d+)?)(ms|s|min|h)", time)
        if match is None:
            raise RigError(f"{time} is not a time; write seconds as a number, or 300ms, 2s, 5min, 1h")
        value = float(match[1]) * _UNITS[match[2]]
    else:
        value = time * NANOSECONDS
    if not math.isfinite(value) or value <= 0:
        raise RigError(f"{time} is not a time above 0")
    return round(value)


def seconds(duration: int) -> str:
    """`0.95 s`."""
    return f"{number(duration / NANOSECONDS)} s"


def clock(instant: int) -> str:
    """`12.050`."""
    return f"{instant / NANOSECONDS:.3f}"
