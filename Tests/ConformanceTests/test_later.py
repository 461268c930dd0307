"""Tests of the later version that the conformance suite invents. Run by `python3 -m unittest` in this folder."""

import io
import sys
import unittest
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "Sources/conformance"))
from waymark_conformance.__main__ import main  # noqa: E402
from waymark_conformance.cases import ROLES, load_cases  # noqa: E402
from waymark_conformance.frames import FLAGS, Frame, type_number  # noqa: E402
from waymark_conformance.later import FIELD_NUMBERS, NEW_TYPES, LaterVersion  # noqa: E402
from waymark_conformance.schema import MESSAGES, TYPES, decode, encode, faults  # noqa: E402


class LaterVersions(unittest.TestCase):
    def test_a_frame_gets_fields_and_flags_without_a_name_and_one_of_another_type_before_it(self):
        maneuver = {"id": 1, "instruction_variants": ["Turn"]}
        body = {"generation": 1, "maneuvers": [maneuver]}
        frame = Frame(type_number("AddManeuvers"), encode("AddManeuvers", body), FLAGS["SKIPPABLE"], session=7, sequence=3)
        new, changed = LaterVersion().frames(frame)
        self.assertTrue(new.name.startswith("0x") and not new.is_publication and new.flags & FLAGS["SKIPPABLE"])
        self.assertEqual((changed.session, changed.sequence, changed.flags), (7, 3, 0b1100_0001))
        unknown = {"unknown": list(FIELD_NUMBERS)}
        self.assertEqual(decode("AddManeuvers", changed.body), {"generation": 1, "maneuvers": [{**maneuver, **unknown}], **unknown})
        self.assertEqual(faults("AddManeuvers", changed.body), [])

    def test_no_frame_comes_before_a_hello_or_behind_a_goodbye(self):
        for name in ("Hello", "Welcome", "Goodbye"):
            self.assertEqual([each.name for each in LaterVersion().frames(Frame(type_number(name)))], [name])

    def test_a_body_that_is_no_message_stays_as_it_is(self):
        self.assertEqual(LaterVersion().frames(Frame(type_number("Ping"), b"\x08"))[1].body, b"\x08")

    def test_what_is_added_has_no_meaning_yet(self):
        numbers = {field["number"] for message in MESSAGES.values() for field in message["fields"].values()}
        self.assertFalse(numbers & set(FIELD_NUMBERS))
        self.assertFalse(set(TYPES) & set(NEW_TYPES))

    def test_each_role_has_cases_of_a_later_version(self):
        for role in ROLES:
            self.assertGreater(sum(case.later for case in load_cases(role)), 2, role)


class Programs(unittest.TestCase):
    def test_the_examples_are_the_same_programs_at_a_gateway_of_a_later_version(self):
        for role, program, driver, cases in (
            ("endpoint", "cluster.py", "state,commands,screen", ["EP-VIEW", "EP-ASK", "EP-SIZE"]),
            ("client", "navigate.py", "commands", ["CL-ASK", "CL-END", "CL-OPEN", "CL-NUM"]),
        ):
            command = f"{sys.executable} {ROOT}/Docs/examples/{program} tcp:127.0.0.1:{{port}} {{vehicle}}"
            out = io.StringIO()
            with redirect_stdout(out):
                arguments = ["--later", "--slowness", "3", "--role", role, "--driver", driver, "--against", command]
                self.assertEqual(main([*arguments, *cases]), 0, out.getvalue())

    def test_a_gateway_has_cases_of_its_own_for_it(self):
        out = io.StringIO()
        with redirect_stderr(out):
            self.assertEqual(main(["--later", "--role", "gateway", "--against", sys.executable]), 2)
        self.assertIn("--later is for endpoints", out.getvalue())
