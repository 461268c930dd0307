"""Recordings: PyPI's mcap reads what `waymark record` writes, and `waymark recording` reads what mcap writes."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import pytest
from mcap.reader import McapReader, make_reader
from mcap.records import Channel, Message, Schema
from mcap.stream_reader import StreamReader
from mcap.writer import CompressionType, Writer

from conftest import PROGRAMS, ROOT, Gateway

WAYMARK = str(PROGRAMS / "waymark")
ROUTE = ROOT / "Sources/WaymarkCommandLine/Resources/routes/vaduz-balzers.json"


def jsonl(path: Path) -> list[str]:
    """The lines of `waymark recording export --jsonl`; none while there is nothing to read."""
    command = [WAYMARK, "recording", "export", "--jsonl", str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()


def told(lines: list[str]) -> list[dict[str, object]]:
    """Events and frames, without what differs between two observers."""
    objects = [json.loads(line) for line in lines]
    kept = [line for line in objects if line["kind"] in ("event", "frame")]
    return [{key: value for key, value in line.items() if key not in ("time", "number")} for line in kept]


def is_over(lines: list[str]) -> bool:
    return sum('"departed"' in line for line in lines) == 2


def reader(file: IO[bytes]) -> McapReader:
    """A reader from the beginning of the file on; it checks every sum."""
    file.seek(0)
    return make_reader(file, validate_crcs=True)


def messages(file: IO[bytes]) -> Iterator[tuple[Schema | None, Channel, Message]]:
    """All messages in the order of the file."""
    return reader(file).iter_messages(log_time_order=False)


@pytest.fixture(scope="module")
def drive(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A drive that was recorded, and what `waymark watch --json` printed of it."""
    folder = tmp_path_factory.mktemp("recording")
    gateway = Gateway(str(folder))
    gateway.start()
    with open(folder / "watch", "w", encoding="utf-8") as output:
        watch = subprocess.Popen([WAYMARK, "watch", "--json", "--connect", gateway.observer], stdout=output, text=True)
        record = [WAYMARK, "record", "--connect", gateway.observer, "--to", str(folder)]
        recorder = subprocess.Popen(record, stdout=subprocess.PIPE, text=True)
        assert recorder.stdout is not None
        path = Path(recorder.stdout.readline().removeprefix("recording to ").strip())
        deadline = time.monotonic() + 60

        def wait(is_told: Callable[[list[str]], bool]) -> None:
            while not (is_told((folder / "watch").read_text(encoding="utf-8").splitlines()) and is_told(jsonl(path))):
                assert time.monotonic() < deadline
                time.sleep(0.05)

        wait(lambda lines: any('"synchronized"' in line for line in lines))
        vehicle = [WAYMARK, "cluster", "--connect", gateway.vehicle, "--id", "car", "--accept-prompts", "yes", "--until", "finished"]
        cluster = subprocess.Popen(vehicle, stdout=subprocess.DEVNULL)
        client = [WAYMARK, "navigate", "--connect", gateway.navigation, "--vehicle", "car", "--route", str(ROUTE), "--speed", "1000"]
        subprocess.run(client, stdout=subprocess.DEVNULL, check=True, timeout=60)
        assert cluster.wait(60) == 0
        wait(is_over)
        for observer in (watch, recorder):
            observer.send_signal(signal.SIGINT)
            assert observer.wait(60) == 0
        recorder.stdout.close()
    assert gateway.stop() == 0
    return path, (folder / "watch").read_text(encoding="utf-8").splitlines()


def test_the_export_is_what_watch_printed(drive: tuple[Path, list[str]]) -> None:
    path, watched = drive
    lines = jsonl(path)
    assert told(lines) == told(watched)
    assert len(told(lines)) > 100


def test_mcap_reads_every_message_with_its_sums(drive: tuple[Path, list[str]]) -> None:
    path, watched = drive
    with path.open("rb") as file:
        read = list(messages(file))
        summary = reader(file).get_summary()
        metadata = {record.name: record.metadata for record in reader(file).iter_metadata()}
    assert summary is not None
    assert summary.statistics is not None
    assert summary.statistics.message_count == len(read)
    assert dict(summary.statistics.channel_message_counts) == Counter(channel.id for _, channel, _ in read)
    assert metadata["waymark"]["visibility"] == "all"
    assert {channel.metadata.get("peer") for _, channel, _ in read if channel.topic.startswith("/connection/")} == {
        "car/cluster",
        "waymark-navigate",
    }
    crossed = sum(len(line.get("to", [0])) for line in map(json.loads, watched) if line["kind"] == "frame")
    frames = [(channel, message) for _, channel, message in read if channel.topic.startswith("/connection/")]
    assert len(frames) == crossed
    for channel, message in frames:
        assert channel.message_encoding == "x-waymark-frame"
        assert message.data[:3] == b"WM\x01"
        assert len(message.data) == 24 + int.from_bytes(message.data[8:12], "big")
    for _, channel, message in read:
        if channel.topic == "/events":
            assert json.loads(message.data)["kind"] in ("event", "synchronized")
    with path.open("rb") as file:
        assert len(list(StreamReader(file, validate_crcs=True, emit_chunks=True).records)) > 10


def test_mcap_finds_messages_by_time_and_topic(drive: tuple[Path, list[str]]) -> None:
    path, _ = drive
    with path.open("rb") as file:
        everything = [message for _, channel, message in messages(file) if channel.topic == "/events"]
        begin, end = everything[2].log_time, everything[-2].log_time
        found = [message for _, _, message in reader(file).iter_messages(topics=["/events"], starting_at=begin, ending_before=end)]
    assert sorted(message.log_time for message in found) == sorted(
        message.log_time for message in everything if begin <= message.log_time < end
    )


def test_what_mcap_writes_is_read(drive: tuple[Path, list[str]], tmp_path: Path) -> None:
    path, _ = drive
    copy = tmp_path / "copy.mcap"
    with path.open("rb") as file, copy.open("wb") as output:
        writer = Writer(output, chunk_size=5_000, compression=CompressionType.NONE)
        writer.start(library="test")
        channels: dict[int, int] = {}
        schemas: dict[int, int] = {0: 0}
        for schema, channel, message in messages(file):
            if schema is not None and schema.id not in schemas:
                schemas[schema.id] = writer.register_schema(schema.name, schema.encoding, schema.data)
            if channel.topic.startswith("/state"):
                continue  # Marks name places in the file.
            if channel.id not in channels:
                known = schemas[channel.schema_id]
                channels[channel.id] = writer.register_channel(channel.topic, channel.message_encoding, known, channel.metadata)
            writer.add_message(channels[channel.id], message.log_time, message.data, message.publish_time, message.sequence)
        writer.finish()  # type: ignore[no-untyped-call]
    assert jsonl(copy) == jsonl(path)


def test_compressed_files_are_refused_with_the_reason(drive: tuple[Path, list[str]], tmp_path: Path) -> None:
    copy = tmp_path / "copy.mcap"
    with copy.open("wb") as output:
        writer = Writer(output, compression=CompressionType.ZSTD)
        writer.start()
        channel = writer.register_channel("/events", "json", 0)
        writer.add_message(channel, 1, b"{}" * 1_000, 1)
        writer.finish()  # type: ignore[no-untyped-call]
    result = subprocess.run([WAYMARK, "recording", "show", str(copy)], capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert result.stderr == (f"Error: {copy} cannot be read: its chunks are compressed with zstd, which this program does not read\n")


def test_the_decoded_export_has_the_bodies_and_their_schemas(drive: tuple[Path, list[str]], tmp_path: Path) -> None:
    path, _ = drive
    decoded = tmp_path / "decoded.mcap"
    subprocess.run([WAYMARK, "recording", "export", "--decoded", str(decoded), str(path)], check=True)
    with path.open("rb") as file:
        bodies = [message.data[24:] for _, channel, message in messages(file) if channel.topic.startswith("/connection/")]
    with decoded.open("rb") as file:
        read = list(messages(file))
    assert [message.data for _, channel, message in read if channel.message_encoding == "protobuf"] == bodies
    for schema, channel, _ in read:
        if channel.message_encoding == "protobuf":
            assert schema is not None
            name = channel.topic.split("/")[-1]
            assert schema.name == f"waymark.v1.{name}"
            # The name field of a DescriptorProto in the FileDescriptorSet.
            assert b"\x0a" + bytes([len(name)]) + name.encode() in schema.data
    headers = [json.loads(message.data) for _, channel, message in read if channel.topic.endswith("/header")]
    assert {header["message"] for header in headers} >= {"hello", "welcome", "startGuidance", "updateTripEstimates"}


def test_a_repaired_file_is_read(drive: tuple[Path, list[str]], tmp_path: Path) -> None:
    path, _ = drive
    cut = tmp_path / "cut.mcap"
    content = path.read_bytes()
    cut.write_bytes(content[: len(content) * 2 // 3])
    before = jsonl(cut)
    subprocess.run([WAYMARK, "recording", "repair", str(cut)], check=True, stdout=subprocess.DEVNULL)
    assert jsonl(cut) == before
    with cut.open("rb") as file:
        read = list(messages(file))
    assert read
    with path.open("rb") as file:
        assert [message for _, _, message in messages(file)][: len(read)] == [message for _, _, message in read]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The recording of a run with faults."""
    folder = tmp_path_factory.mktemp("run")
    command = [WAYMARK, "test", "@gallery/gateway-dies", "--recordings", str(folder)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return folder / "gateway-dies" / "seed-1.mcap"


def test_mcap_reads_the_recording_of_a_run(run: Path) -> None:
    with open(run, "rb") as file:
        summary = reader(file).get_summary()
        assert summary is not None and summary.statistics is not None
        channels = {channel.topic: channel for channel in summary.channels.values()}
        count = 0
        for _, channel, message in messages(file):
            count += 1
            if channel.topic.startswith("/connection/"):
                assert message.publish_time <= message.log_time
        assert count == summary.statistics.message_count > 100
        assert {"/events", "/records", "/state", "/state/mark"} <= set(channels)
        names = {channel.metadata.get("peer") for channel in summary.channels.values()}
        assert {"client", "dut/cluster"} <= names
        metadata = next(record for record in reader(file).iter_metadata() if record.name == "waymark")
        assert metadata.metadata["scenario"] == "@gallery/gateway-dies.scenario.yaml"
        assert (metadata.metadata["verdict"], metadata.metadata["clock"], metadata.metadata["seed"]) == ("passed", "virtual", "1")
        lines = [json.loads(message.data) for _, channel, message in messages(file) if channel.topic == "/events"]
        assert {"event", "fault", "mark", "verdict", "connection", "end"} <= {line["kind"] for line in lines}


def test_mcap_reads_the_attachments_of_a_run(run: Path, tmp_path: Path) -> None:
    resources = ROOT / "Sources/WaymarkCommandLine/Resources"
    with open(run, "rb") as file:
        attached = {attachment.name: attachment for attachment in reader(file).iter_attachments()}
        summary = reader(file).get_summary()
    assert summary is not None and summary.statistics is not None
    assert summary.statistics.attachment_count == len(summary.attachment_indexes) == len(attached)
    scenario = attached["gateway-dies.scenario.yaml"]
    assert scenario.media_type == "application/yaml"
    assert scenario.data == (resources / "scenarios/gateway-dies.scenario.yaml").read_bytes()
    routes = [name for name in attached if name.endswith(".json")]
    assert routes
    for name in routes:
        shipped = list(resources.glob(f"*/{name}"))
        assert attached[name].data == shipped[0].read_bytes()
    command = [WAYMARK, "recording", "export", "--attachments", str(tmp_path / "files"), str(run)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    assert sorted(Path(path).name for path in printed) == sorted(attached)
    for path in printed:
        assert Path(path).read_bytes() == attached[Path(path).name].data


def test_attachments_that_mcap_writes_are_read_and_repair_keeps_them(tmp_path: Path) -> None:
    path = tmp_path / "other.mcap"
    with open(path, "wb") as file:
        writer = Writer(file, compression=CompressionType.NONE)
        writer.start()
        channel = writer.register_channel("/events", "json", 0)
        writer.add_message(channel, 1, b"{}", 1)
        writer.add_attachment(1, 1, "notes/a.txt", "text/plain", b"some notes")
        writer.finish()  # type: ignore[no-untyped-call]
    for length in (path.stat().st_size, path.stat().st_size - 30):
        cut = tmp_path / f"cut-{length}.mcap"
        cut.write_bytes(path.read_bytes()[:length])
        subprocess.run([WAYMARK, "recording", "repair", str(cut)], check=True, stdout=subprocess.DEVNULL)
        with open(cut, "rb") as file:
            assert [attachment.data for attachment in reader(file).iter_attachments()] == [b"some notes"]
        folder = tmp_path / f"files-{length}"
        subprocess.run([WAYMARK, "recording", "export", "--attachments", str(folder), str(cut)], check=True)
        assert (folder / "notes/a.txt").read_bytes() == b"some notes"
