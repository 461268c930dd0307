"""Recordings of tests: `waymark record` writes what crosses a test's gateway to files, which are kept if the test fails."""

from __future__ import annotations

import asyncio
import itertools
import json
import re
import shutil
import signal
import subprocess
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from waymark_nav import sync
from waymark_nav._wire import Message
from waymark_nav.core import frames_in
from waymark_nav.errors import WaymarkError
from waymark_nav.frames import Frame
from waymark_nav.rig._errors import RigError
from waymark_nav.rig._fields import message_type
from waymark_nav.rig._patterns import MessageName
from waymark_nav.rig._programs import Gateway, program

#: For the recorder to connect, also to a gateway that comes back, to write, and to end; in seconds.
_PATIENCE = 30.0
#: The recorder writes its first state when it has all of it.
_SYNCHRONIZED = b'"synchronized"'
#: A client that connects and leaves: what crossed before it is recorded once it is.
_MARK = "waymark-rig-mark-"
#: The recorder writes at least once a second.
_MARK_PATIENCE = 3.0
_PART_BYTES_MAX = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedFrame:
    """A frame that crossed a connection of the gateway."""

    #: When the gateway saw it, in seconds since 1970.
    time: float
    #: The peer at the other end: VEHICLE/ENDPOINT, or the id of a client.
    peer: str
    to_gateway: bool
    #: The gateway rejected it.
    rejected: bool
    frame: Frame
    #: None for a message that this version cannot read.
    message: Message | None


class Recording:
    """What crosses the gateway of a test, in files below `folder`."""

    def __init__(self, gateway: Gateway, folder: Path, root: Path, test: str) -> None:
        """root: below it, the files are kept if they are to be; test: its id."""
        self.folder = folder
        self.is_kept = False
        self._gateway = gateway
        self._root = root / ".waymark"
        self._kept = kept_folder(self._root, test)
        self._process: subprocess.Popen[bytes] | None = None
        self._log = gateway.folder / "record.log"
        self._marks = itertools.count(1)

    @property
    def paths(self) -> list[Path]:
        """The files in their order. There is a further one after each restart of the gateway."""
        return sorted(self.folder.glob("*.mcap"))

    async def frames(self, message: MessageName | None = None, *, peer: str | None = None) -> list[RecordedFrame]:
        """What has crossed so far: all of it, one kind of message, or what one peer sent and got. Needs the package mcap."""
        wanted = None if message is None else message_type(message)
        return [
            frame
            for frame in await asyncio.to_thread(lambda: list(self._read_frames()))
            if (wanted is None or frame.frame.type == wanted) and peer in (None, frame.peer)
        ]

    async def events(self) -> list[dict[str, Any]]:
        """What has happened so far: the lines `event` of `waymark watch --json`. Needs the package mcap."""
        return await asyncio.to_thread(lambda: list(self._read_events()))

    # What the fixture calls.

    def start(self) -> None:
        """Starts the recorder; returns when everything that follows is recorded."""
        self.folder.mkdir(parents=True)
        command = ["waymark", "record", "--connect", self._gateway.observer, "--to", str(self.folder), "--name", "gateway"]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                command, executable=program("waymark"), stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
            )
        self._has_recorded(_SYNCHRONIZED, {}, time.monotonic() + _PATIENCE)

    def end(self) -> None:
        """Ends the recorder. The files are moved if they are to be kept, or the gateway has died, and removed otherwise."""
        process = self._process
        if process is None:
            return
        self.is_kept |= self._gateway.has_died
        try:
            if self.is_kept:
                self._catch_up()
        except (RigError, WaymarkError):
            pass  # The gateway is gone, so nothing more comes; what was recorded is worth keeping.
        finally:
            self._process = None
            _stop(process)
        if self.is_kept and self.paths:
            shutil.rmtree(self._kept, ignore_errors=True)
            self._kept.parent.mkdir(parents=True, exist_ok=True)
            # As `waymark test` does: recordings belong in no version control.
            (self._root / ".gitignore").write_text("*\n")
            shutil.move(self.folder, self._kept)
            self.folder = self._kept
        else:
            shutil.rmtree(self.folder, ignore_errors=True)

    def keep(self) -> list[Path]:
        """Keeps the files at the end; returns where they will be."""
        self.is_kept = True
        return [self._kept / path.name for path in self.paths]

    # Reading

    def _catch_up(self) -> None:
        """Waits until all that has crossed so far is recorded."""
        if self._process is None:
            return
        began = {path: path.stat().st_size for path in self.paths}
        end = time.monotonic() + _PATIENCE
        while True:
            mark = f"{_MARK}{next(self._marks)}-"
            with sync.Client(mark, self._gateway.navigation):
                pass
            # Why more than one: after a restart of the gateway, the recorder may be connected later than the first.
            if self._has_recorded(mark.encode(), began, time.monotonic() + _MARK_PATIENCE, is_last=time.monotonic() > end):
                return

    def _has_recorded(self, text: bytes, began: dict[Path, int], end: float, *, is_last: bool = True) -> bool:
        """Waits until the files contain a text, beyond the sizes that they had. Raises RigError if they never will."""
        assert self._process is not None
        while not any(_contains(path, text, began.get(path, 0)) for path in self.paths):
            is_late = time.monotonic() > end
            if self._process.poll() is not None or (is_late and is_last):
                said = self._log.read_text(encoding="utf-8", errors="replace")
                raise RigError(f"waymark record does not record:\n{said}")
            if is_late:
                return False
            time.sleep(0.02)
        return True

    def _messages(self) -> Iterator[tuple[Any, Any]]:
        """The channels and messages of all files, as far as they are written."""
        try:
            from mcap.exceptions import EndOfFile
            from mcap.records import Channel, Message as Recorded
            from mcap.stream_reader import StreamReader
        except ImportError:
            raise RigError('recordings are read by the package mcap: pip install "waymark-nav[rig]" installs it') from None
        self._catch_up()
        for path in self.paths:
            channels: dict[int, Channel] = {}
            with path.open("rb") as file:
                try:
                    for record in StreamReader(file, validate_crcs=True).records:
                        if isinstance(record, Channel):
                            channels[record.id] = record
                        elif isinstance(record, Recorded):
                            yield channels[record.channel_id], record
                except EndOfFile:
                    continue  # The recorder still writes it.

    def _read_frames(self) -> Iterator[RecordedFrame]:
        for channel, recorded in self._messages():
            peer = channel.metadata.get("peer", "")
            if channel.message_encoding != "x-waymark-frame" or not channel.topic.startswith("/connection/") or peer.startswith(_MARK):
                continue
            for frame, message in frames_in(recorded.data):
                yield RecordedFrame(
                    time=recorded.log_time / 1e9,
                    peer=peer,
                    to_gateway=channel.topic.endswith("/in"),
                    rejected="rejected" in channel.metadata,
                    frame=frame,
                    message=message,
                )

    def _read_events(self) -> Iterator[dict[str, Any]]:
        for channel, recorded in self._messages():
            if channel.topic == "/events":
                event: dict[str, Any] = json.loads(recorded.data)
                if event.get("kind") == "event" and not str(event.get("peer", "")).startswith(_MARK):
                    yield event


def kept_folder(root: Path, test: str) -> Path:
    """Where the recording of a failed test is kept: FILE/TEST below a folder."""
    file, *names = test.split("::")
    return root.joinpath(*map(_file_name, [*file.split("/"), *names]))


def _file_name(part: str) -> str:
    """A part of a test's id as the name of a file; different parts have different names."""
    name = re.sub(r"[^\w.,=+\[\]-]", "-", part)[:_PART_BYTES_MAX]
    return name if name == part and part not in (".", "..") and part.isascii() else f"{name.strip('.')}-{zlib.crc32(part.encode()):08x}"


def _contains(path: Path, text: bytes, start: int) -> bool:
    with path.open("rb") as file:
        file.seek(max(0, start - len(text)))
        return text in file.read()


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Ends the recorder as a user does, so that it ends its file."""
    process.send_signal(signal.SIGINT)
    try:
        process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
