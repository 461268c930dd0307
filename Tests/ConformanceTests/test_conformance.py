"""Tests of the conformance suite itself: its cases, its codec, its reports. Run by `python3 -m unittest` in this folder."""

import ast
import asyncio
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import types
import unittest
import xml.etree.ElementTree
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SOURCE = ROOT / "Sources/conformance"
sys.path.insert(0, str(SOURCE))
from waymark_conformance.__main__ import main  # noqa: E402
from waymark_conformance.cases import CLASSES, ROLES, Case, covered, load_cases  # noqa: E402
from waymark_conformance.frames import Frame, Reader, type_number  # noqa: E402
from waymark_conformance.judging import Failed, Judging  # noqa: E402
from waymark_conformance.laws import EndpointLaws  # noqa: E402
from waymark_conformance.links import Lateness, Link  # noqa: E402
from waymark_conformance.match import filled, mismatch  # noqa: E402
from waymark_conformance.peers import Peer, Process, free_ports  # noqa: E402
from waymark_conformance.schema import decode, encode, faults, load  # noqa: E402
from waymark_conformance.steps import FRAGMENTS, SCENES, VERBS, Scene  # noqa: E402

import mutants  # noqa: E402

PAGE = ROOT / "Docs/protocol.md"


def run(*arguments):
    """Runs the program; returns its status and what it printed."""
    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(out):
        status = main(list(arguments))
    return status, out.getvalue()


def steps_of(steps):
    """All steps, also those within others."""
    for step in steps:
        yield step
        yield from steps_of(step.get("steps", []))
        if "step" in step:
            yield from steps_of([step["step"]])


def expanded(steps):
    """All steps, also those of scenes."""
    for step in steps_of(steps):
        yield step
        if "do" in step:
            yield from expanded(SCENES[step["do"]]["steps"])


def uses(value):
    """The fragments that a value uses."""
    if isinstance(value, dict):
        if "$use" in value:
            yield value["$use"]
        for each in value.values():
            yield from uses(each)
    elif isinstance(value, list):
        for each in value:
            yield from uses(each)


class Coverage(unittest.TestCase):
    def test_every_requirement_has_a_case_or_a_reason_why_not(self):
        known, reasons = load("requirements.json"), load("unchecked.json")
        self.assertEqual([each for each in known if each not in covered() and each not in reasons], [])
        self.assertEqual([each for each in reasons if each in covered() or each not in known], [])

    def test_cases_name_requirements_that_exist(self):
        known = load("requirements.json")
        self.assertEqual([each for each in covered() if each not in known], [])

    def test_the_page_lists_what_is_not_checked_and_why(self):
        page = (ROOT / "Docs/conformance.md").read_text(encoding="utf-8")
        for identifier, reason in load("unchecked.json").items():
            self.assertIn(f"| [{identifier}](protocol.md#{identifier.lower()}) | {reason} |", page)


class Cases(unittest.TestCase):
    def test_every_case_has_a_class_a_title_and_steps_that_exist(self):
        for role in ROLES:
            for case in load_cases(role):
                self.assertIn(case.of, CLASSES, case.id)
                self.assertTrue(case.title and (case.steps or case.law), case.id)
                self.check_steps(case.id, case.steps)
        for name, scene in SCENES.items():
            self.assertTrue(scene["about"], name)
            self.check_steps(name, scene["steps"])

    def check_steps(self, name, steps):
        for step in steps_of(steps):
            self.assertIn(next(iter(step)), VERBS, name)
            if "do" in step:
                self.assertIn(step["do"], SCENES, name)
            if step.get("type", "publication") != "publication":
                type_number(step["type"])
            for fragment in uses(step):
                self.assertIn(fragment, FRAGMENTS, name)

    def test_a_case_names_the_features_and_slots_that_its_views_need(self):
        content = {
            "MANEUVERS": ("instruction", "maneuvers", "distance"),
            "LANE_GUIDANCE": ("lanes",),
            "ROUTE_SEGMENTS": ("segments", "points"),
            "CURRENT_ROAD_NAME": ("road",),
        }
        for case in load_cases("endpoint"):
            for step in expanded(case.steps):
                view = step.get("view", {})
                for feature, keys in content.items():
                    if any(view.get(key) not in (None, 0, "-") for key in keys):
                        self.assertIn(feature, case.features, f"{case.id}: {step}")
                self.assertLessEqual(view.get("maneuvers", 0), max(case.slots, 1), case.id)

    def test_a_case_names_what_its_observer_must_want(self):
        parts = {"ObservedRecords": "state", "ObservedEvent": "events", "ObservedFrames": "frames"}
        for case in load_cases("observer"):
            sent = {parts[step["type"]] for step in expanded(case.steps) if step.get("type") in parts}
            self.assertEqual(sent, set(case.wants), case.id)

    def test_each_feature_exists(self):
        known = load("protocol.json")["enumerations"]["Feature"]
        for role in ROLES:
            for case in load_cases(role):
                self.assertLessEqual(set(case.features), set(known), case.id)
                self.assertLessEqual(set(case.wants), {"state", "events", "frames"}, case.id)

    def test_deadlines_end_before_the_suite_must(self):
        self.assertEqual([case.id for role in ROLES for case in load_cases(role) if case.deadline > 90], [])


class Lines(unittest.TestCase):
    def told(self, *lines):
        process = Process(Peer("observer", "true"), {})
        for line in lines:
            process.understand(line)
        shutil.rmtree(process.folder)
        return process

    def test_the_records_of_an_observer_are_read_from_text(self):
        process = self.told(
            "full from number 0",
            "vehicle car: cluster, in session 7",
            "client app",
            "session 7: app, active",
            "session 7 retains 0x0101 number 1",
            "vehicle car is gone",
            "holds 0 vehicles, 1 clients, 1 sessions",
            "sees content",
        )
        self.assertEqual(process.views[1], {"vehicles": ["car"], "clients": [], "sessions": [], "complete": False})
        self.assertEqual(process.views[-1], {"vehicles": [], "clients": ["app"], "sessions": [7], "complete": True})
        self.assertEqual(self.told("vehicle car: -", "full from number 9").views[-1]["vehicles"], [])

    def test_the_records_and_entries_of_an_observer_are_read_from_json(self):
        records = {"kind": "records", "vehicles": ["car"], "clients": [], "sessions": [7], "complete": True}
        process = self.told(json.dumps(records), '{"kind": "event", "event": "admitted"}', "{")
        self.assertEqual(process.views, [{key: records[key] for key in ("vehicles", "clients", "sessions", "complete")}])
        self.assertEqual(process.entries, [{"kind": "event", "event": "admitted"}])

    def test_entries_are_read_from_text(self):
        process = self.told(
            "event admitted: other",
            "event session ended code 1: session 7 finished",
            "event 250: car",
            "from app: 0x0108 number 2",
            "to car/cluster: 0x0001",
            "40 entries were dropped",
        )
        self.assertEqual([each.get("event") for each in process.entries[:3]], ["admitted", "session ended", "250"])
        self.assertEqual([each["sequence"] for each in process.entries[3:5]], [2, 0])
        self.assertEqual(process.entries[5], {"kind": "dropped", "count": 40})


class Conditions(unittest.TestCase):
    def applies(self, case, hello):
        scene: Any = types.SimpleNamespace(stage=types.SimpleNamespace(case=Case("x", "endpoint", "x", ["x"], [], **case)))
        try:
            Judging.check_applies(scene, hello)
        except Failed as failure:
            return failure.verdict
        return "OK"

    def test_a_case_is_only_for_those_that_have_what_it_needs(self):
        small = {"vehicle": {"features": ["MANEUVERS"], "limits": {"maneuvers_stored_max": 2}}}
        for case, hello, verdict in (
            ({"features": ["MANEUVERS"]}, small, "OK"),
            ({"features": ["MANEUVERS", "ROUTE_SEGMENTS"]}, small, "UNIMPLEMENTED"),
            ({"slots": 2}, small, "OK"),
            ({"slots": 3}, small, "UNIMPLEMENTED"),
            ({"slots": 3}, {"vehicle": {"features": []}}, "OK"),
            ({"features": ["WAYPOINT_REQUESTS"]}, {"navigation": {"features": ["WAYPOINT_REQUESTS"]}}, "OK"),
        ):
            self.assertEqual(self.applies(case, hello), verdict, (case, hello))

    def test_how_late_the_suite_was_is_known(self):
        async def blocked():
            late, began = Lateness(), asyncio.get_running_loop().time()
            await asyncio.sleep(0.03)
            asyncio.get_running_loop().call_soon(time.sleep, 0.2)
            await asyncio.sleep(0.03)
            late.task.cancel()
            return late.worst(began), late.worst(asyncio.get_running_loop().time() + 1)

        worst, none = asyncio.run(blocked())
        self.assertGreater(worst, 0.15)
        self.assertEqual(none, 0)

    def test_each_part_that_ours_lack_has_a_reason(self):
        for peer in json.loads((HERE / "peers.json").read_text(encoding="utf-8")):
            for why, reason in peer.get("lacks", {}).items():
                self.assertTrue(why and reason.endswith("."), peer["name"])


class Codec(unittest.TestCase):
    def test_the_conversation_of_the_page_is_read_and_written_the_same(self):
        text = PAGE.read_text(encoding="utf-8").split("## A whole conversation")[1]
        blocks = re.findall(r"```hex\n(.*?)```", text, re.S)
        self.assertGreater(len(blocks), 20)
        for block in blocks:
            data = bytes.fromhex("".join(line.split("#")[0] for line in block.splitlines()))
            (frame,) = Reader().feed(data)
            self.assertEqual(frame.pack(), data)
            self.assertEqual(faults(frame.name, frame.body), [])
            self.assertEqual(encode(frame.name, decode(frame.name, frame.body)), frame.body, frame.name)

    def test_faults_of_bodies_are_found(self):
        bodies = {
            "CurrentRoadName": ["0a02c328", "0a03410041", "0aff"],
            "UpdateManeuverState": ["08010801", "1002ff", "0d01000000"],
            "Hello": ["", "0802100218012205" + "0a03613a2f"],
            "Acknowledgement": ["", "0800"],
            "PromptAnswer": ["0a01611002"],
        }
        for name, texts in bodies.items():
            for text in texts:
                self.assertNotEqual(faults(name, bytes.fromhex(text)), [], f"{name} {text}")

    def test_numbers_beyond_their_range_are_found(self):
        self.assertEqual(
            faults(
                "UpdateTripEstimates",
                encode("UpdateTripEstimates", {"travel_estimates": {"distance_remaining_meters": 50_000_000}}),
            ),
            [],
        )
        self.assertNotEqual(
            faults(
                "UpdateTripEstimates",
                encode("UpdateTripEstimates", {"travel_estimates": {"distance_remaining_meters": 50_000_001}}),
            ),
            [],
        )


class Patterns(unittest.TestCase):
    def test_an_absent_field_has_its_default(self):
        self.assertIsNone(mismatch({"sequence": 0}, {}, {}, "", "Acknowledgement"))
        self.assertIsNotNone(mismatch({"sequence": 1}, {}, {}, "", "Acknowledgement"))

    def test_names_are_bound_and_filled(self):
        names: dict[str, int] = {}
        self.assertIsNone(mismatch({"sequence": {"$bind": "last"}}, {"sequence": 7}, names, "", "Acknowledgement"))
        self.assertEqual(filled({"sequence": {"$plus": ["$last", 1]}}, names, {}), {"sequence": 8})

    def test_elements_at_places(self):
        names: dict[str, object] = {}
        pattern = {"$at": {"0": {"id": {"$bind": "first"}}, "-1": {"id": {"$bind": "last"}}}}
        self.assertIsNone(mismatch(pattern, [{"id": "a"}, {"id": "b"}, {"id": "c"}], names, "trips"))
        self.assertEqual(names, {"first": "a", "last": "c"})
        self.assertEqual(mismatch({"$at": {"-1": 4}}, [4, 5], {}, "trips"), "trips[-1] is 5, not 4")
        self.assertEqual(mismatch({"$at": {"2": 4}}, [4, 5], {}, "trips"), "trips has 2 elements, none at 2")

    def test_an_age_is_a_multiple_of_100_within_bounds(self):
        ages = [mismatch({"$hundreds": [300, 900]}, age, {}, "age") for age in (200, 300, 650, 900, 1000, None)]
        self.assertEqual([fault is None for fault in ages], [False, True, False, True, False, False])

    def test_the_time_since_a_mark_is_rounded_up_to_100_ms(self):
        async def since():
            scene = Scene({"number": 1}, None)
            await scene.run([{"mark": "began"}])
            await asyncio.sleep(0.001)
            return scene.fill(["$since_began", "$number"])

        age, number = asyncio.run(since())
        self.assertEqual((age % 100, age >= 100, number), (0, True, 1))

    def test_a_frame_in_pieces_is_not_broken_by_the_answer_to_a_ping(self):
        async def cut():
            incoming = asyncio.StreamReader()
            written: list[bytes] = []
            writer = types.SimpleNamespace(
                write=written.append, drain=lambda: asyncio.sleep(0), transport=types.SimpleNamespace(abort=lambda: 0)
            )
            link = Link("g", incoming, writer, [], EndpointLaws())
            scene = Scene({}, None)
            scene.links["g"] = link
            incoming.feed_data(Frame(type_number("Ping"), encode("Ping", {"nonce": 7})).pack())
            await scene.run([{"send": "g", "type": "SnapshotEnd", "session": 7, "pieces": 1}])
            link.close()
            return b"".join(written)

        reader = Reader()
        self.assertEqual([frame.type for frame in reader.feed(asyncio.run(cut()))], [type_number("SnapshotEnd"), type_number("Pong")])

    def test_a_fragment_is_changed_where_it_is_used(self):
        trip = filled({"$use": "start", "trip": {"id": "other"}, "route": {"segments": None}}, {}, FRAGMENTS)
        self.assertEqual((trip["trip"]["id"], trip["trip"]["route_segments_available"]), ("other", True))
        self.assertNotIn("segments", trip["route"])


class Program(unittest.TestCase):
    def test_it_lists_and_explains(self):
        status, text = run("--list")
        self.assertEqual((status, len(text.splitlines())), (0, sum(len(load_cases(role)) for role in ROLES)))
        status, text = run("--explain", "REQ-RESUME-04")
        self.assertEqual(status, 0)
        self.assertIn("EP-RESUME-01", text)
        self.assertEqual(run("--explain", "EP-RESUME-01")[0], 0)
        self.assertIn("has no case", run("--explain", next(iter(load("unchecked.json"))))[1])

    def test_errors_have_the_status_2(self):
        for arguments in ([], ["--against", "true", "NO-SUCH-CASE"], ["--peer", "/nowhere"], ["--explain", "NOTHING"]):
            self.assertEqual(run(*arguments)[0], 2, arguments)

    def test_an_implementation_that_does_nothing_fails_and_is_reported(self):
        with tempfile.TemporaryDirectory() as folder:
            files = {kind: os.path.join(folder, kind) for kind in ("html", "json", "junit")}
            options = [part for kind, path in files.items() for part in (f"--{kind}", path)]
            status, text = run("--against", "sleep 60", "--slowness", "0.02", *options, "EP-HELLO-01")
            self.assertEqual(status, 1)
            self.assertIn("did not connect in time", text)
            with open(files["json"], encoding="utf-8") as file:
                self.assertEqual(json.load(file)["counts"]["FAILED"], 1)
            self.assertEqual(xml.etree.ElementTree.parse(files["junit"]).getroot().get("failures"), "1")
            html = Path(files["html"]).read_text(encoding="utf-8")
            self.assertIn("REQ-HELLO-06", html)

    def test_a_report_on_a_full_disk_is_named_and_the_others_are_written(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "junit"
            options = ["--slowness", "0.02", "--html", "/dev/full", "--json", "/nowhere/json", "--junit", str(path)]
            status, text = run("--against", "sleep 60", *options, "EP-HELLO-01")
            self.assertEqual(status, 2)
            self.assertIn("waymark-conformance: /dev/full cannot be written: No space left on device\n", text)
            self.assertIn("waymark-conformance: /nowhere/json cannot be written: No such file or directory\n", text)
            self.assertIn("did not connect in time", text)
            self.assertTrue(path.exists())

    def test_output_on_a_full_disk_is_one_line_and_no_traceback(self):
        # What the second prints is written at its end only.
        for arguments in (["--list"], ["--against", "sleep 60", "--driver", "none", "--slowness", "0.02", "EP-HELLO-01"]):
            with open("/dev/full", "w", encoding="utf-8") as full:
                command = [sys.executable, "-m", "waymark_conformance", *arguments]
                ended = subprocess.run(command, cwd=SOURCE, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
            self.assertEqual(ended.returncode, 2, arguments)
            self.assertRegex(ended.stderr, r"^waymark-conformance: .*No space left on device\n$")

    def test_a_program_that_does_not_exist_or_does_not_listen_is_named(self):
        self.assertEqual(
            run("--against", "/no/such/program", "EP-HELLO-01"), (2, "waymark-conformance: there is no program /no/such/program\n")
        )
        status, text = run("--role", "gateway", "--against", "echo no, {port}", "GW-HELLO-01")
        self.assertEqual(status, 2)
        self.assertRegex(text, r"^waymark-conformance: the gateway does not listen: no, \d+$")

    def peer(self, described, *arguments):
        """Runs the program with a peer file."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "peer.json"
            path.write_text(described if isinstance(described, str) else json.dumps(described), encoding="utf-8")
            return run("--peer", str(path), *arguments)

    def test_an_error_in_a_peer_file_names_the_key(self):
        command = "sleep 60"
        for described, words in (
            ("{", "is not JSON"),
            (["sleep"], "is not an object"),
            ({}, "has no key command"),
            ({"against": command}, "has no key against; the keys are role, command"),
            ({"command": ["sleep", "60"]}, "command is a list, not a text"),
            ({"command": ""}, "command is empty"),
            ({"command": "sleep '60"}, "command: No closing quotation"),
            ({"command": command, "role": "car"}, "role is 'car'"),
            ({"command": command, "role": ["endpoint"]}, "role is"),
            ({"command": command, "driver": "state"}, "driver is a text, not a list"),
            ({"command": command, "driver": ["states"]}, "driver has no part states"),
            ({"command": command, "driver": [["state"]]}, "driver has no part"),
            ({"command": command, "setups": "slots"}, "setups is a text, not an object"),
            ({"command": command, "setups": {"slot": {}}}, "setups has no key slot; the keys are slots"),
            ({"command": command, "setups": {"slots": command}}, "setups.slots is a text, not an object"),
            ({"command": command, "setups": {"slots": {"against": command}}}, "setups.slots has no key against"),
            ({"command": command, "setups": {"slots": {"command": 1}}}, "setups.slots.command is a number, not a text"),
            ({"command": command, "times": {"grace": "1"}}, "times.grace is a text, not a number"),
            ({"command": command, "times": {"graces": 1}}, "times has no key graces"),
            ({"command": command, "environment": {"A": None}}, "environment.A is null, not a text"),
        ):
            status, text = self.peer(described, "EP-SLOT", "EP-VIEW-24")
            self.assertEqual((status, len(text.splitlines())), (2, 1), described)
            self.assertIn(words, text)

    def test_the_ports_of_a_gateway_are_different(self):
        self.assertEqual(len(set(free_ports(100))), 100)

    def test_a_start_that_is_cancelled_ends(self):
        async def cancelled(turns):
            process = Process(Peer("endpoint", "sleep 60"), {})
            start = asyncio.create_task(process.start())
            for _ in range(turns):
                await asyncio.sleep(0)
            start.cancel()
            done, _ = await asyncio.wait([start], timeout=60)
            self.assertTrue(done, turns)
            await process.end()
            return process.started.returncode

        for turns in range(1, 8):
            self.assertEqual(asyncio.run(cancelled(turns)), -signal.SIGKILL, turns)

    def test_a_program_that_crashes_is_quoted(self):
        for code, words in (
            ("print('start'); print('TypeError: no road'); print('  at line 3'); print('v20')", "TypeError: no road / v20"),
            ("print('start'); print('end')", "status 3: end"),
            ("print('Error: gone')", "status 3: Error: gone"),
            ("pass", "it printed nothing"),
        ):
            command = f'{sys.executable} -c "{code}; raise SystemExit(3)"'
            status, text = self.peer({"command": command, "driver": []}, "EP-HELLO-01")
            self.assertEqual(status, 1)
            self.assertIn(words, " ".join(text.split()))


class Independence(unittest.TestCase):
    def test_it_needs_the_standard_library_alone(self):
        for file in SOURCE.rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                names += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
                for name in names:
                    self.assertIn(name.split(".")[0], {*sys.stdlib_module_names, "waymark_conformance"}, file.name)

    def test_the_descriptions_are_fresh(self):
        subprocess.run([sys.executable, ROOT / "scripts/generate/conformance.py", "--check"], check=True)


class Mutants(unittest.TestCase):
    def test_at_least_a_hundred_are_known_and_at_most_2_percent_of_them_escape(self):
        record = json.loads(mutants.RECORD.read_text(encoding="utf-8"))
        known = [(role, name) for role, name, _ in mutants.mutants()]
        self.assertGreaterEqual(len(known), 100)
        self.assertEqual(len(known), len(set(known)))
        self.assertEqual([each for each in known if each[1] not in record[each[0]]], [])
        escaped = [each for each in known if record[each[0]][each[1]] is None]
        self.assertLessEqual(len(escaped), mutants.ESCAPED_MAX * len(known), escaped)

    def test_each_changes_a_text_that_is_there_once(self):
        for role, name, change in mutants.mutants():
            if change:
                file, old, new = change
                text = mutants.place_of(file).read_text(encoding="utf-8")
                self.assertEqual(text.count(old), 1, f"{role}: {name}")
                compile(text.replace(old, new), name, "exec")


if __name__ == "__main__":
    unittest.main()
