"""Where a gateway listens: tcp:HOST:PORT or unix:/path."""

from __future__ import annotations

import errno
import grp
import os
import re
import stat
from dataclasses import dataclass

_SYSTEM_FOLDER = "/run/waymark"


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a listener."""

    #: Of a Unix stream socket; empty for TCP.
    path: str = ""
    host: str = ""
    port: int = 0

    @classmethod
    def parse(cls, text: str) -> Address:
        """Reads tcp:HOST:PORT, tcp:[::1]:7227 or unix:/path. Raises ValueError."""
        kind, _, rest = text.partition(":")
        if kind == "unix" and rest.startswith("/"):
            return cls(path=rest)
        host, _, port = rest.rpartition(":")
        if host.startswith("[") and host.endswith("]"):
            host = host[1:-1]
        if kind == "tcp" and host and port.isascii() and port.isdigit() and 0 < int(port) < 65_536:
            return cls(host=host, port=int(port))
        raise ValueError(f"{text} is not an address: tcp:HOST:PORT or unix:/path")

    def __str__(self) -> str:
        if self.path:
            return f"unix:{self.path}"
        return f"tcp:[{self.host}]:{self.port}" if ":" in self.host else f"tcp:{self.host}:{self.port}"

    def explain(self, error: OSError) -> str:
        """Why there is no connection, and what to do."""
        words = error.strerror or str(error)
        # For a name with several addresses asyncio raises one error with the text of all.
        codes: set[int | None] = {int(code) for code in re.findall(r"\[Errno (\d+)\]", str(error))} or {error.errno}
        match codes.pop() if len(codes) == 1 else None:
            case errno.ENOENT:
                words = "there is no such socket; is waymarkd running?"
            case errno.ECONNREFUSED:
                words = "nothing listens there; is waymarkd running?"
            case errno.EACCES | errno.EPERM if self.path and (group := _group(self.path)):
                words += f"; users in the group {group} may connect (a new group counts from the next login)"
        return f"cannot connect to {self}: {words}"


def default_address(name: str) -> Address:
    """The socket of this user's waymarkd if it exists, else that of the system's service if it exists, else this user's."""
    folders = [_user_folder(), _SYSTEM_FOLDER]
    found = next((folder for folder in folders if _is_socket(f"{folder}/{name}")), folders[0])
    return Address(path=f"{found}/{name}")


def _user_folder() -> str:
    if runtime := os.environ.get("XDG_RUNTIME_DIR"):
        return f"{runtime}/waymark"
    run = f"/run/user/{os.getuid()}"
    return f"{run}/waymark" if os.path.isdir(run) else f"/tmp/waymark-{os.getuid()}"


def _is_socket(path: str) -> bool:
    try:
        return stat.S_ISSOCK(os.stat(path).st_mode)
    except OSError:
        return False


def _group(path: str) -> str | None:
    """The group that may connect to a socket; None if only its owner may."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    if not status.st_mode & stat.S_IWGRP:
        return None
    try:
        return grp.getgrgid(status.st_gid).gr_name
    except KeyError:
        return str(status.st_gid)
