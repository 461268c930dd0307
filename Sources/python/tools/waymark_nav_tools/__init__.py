"""The programs waymarkd and waymark. Both are one executable, which chooses by the name that it is started with."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NoReturn

#: The executable; it finds its routes, profiles and scenarios beside itself.
EXECUTABLE = Path(__file__).resolve().parent / "bin" / "waymark"


def waymark() -> NoReturn:
    """Becomes waymark."""
    _become("waymark")


def waymarkd() -> NoReturn:
    """Becomes waymarkd."""
    _become("waymarkd")


def _become(name: str) -> NoReturn:
    try:
        os.execv(EXECUTABLE, [name, *sys.argv[1:]])
    except FileNotFoundError as error:
        # The kernel also says so if the loader of the executable is missing.
        reason = "this system has no glibc" if EXECUTABLE.exists() else error.strerror
    except OSError as error:
        reason = error.strerror
    sys.exit(f"{name}: {EXECUTABLE} cannot be run: {reason}")
