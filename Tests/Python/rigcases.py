"""The table Tests/RigCases/words.json, judged by the rig of the package: each case drives a real machine of an endpoint with its bytes."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from waymark_nav import messages as m
from waymark_nav.core import Endpoint, EndpointSettings
from waymark_nav.frames import HEADER, Splitter
from waymark_nav.rig._history import History, ShownAfter
from waymark_nav.rig._judge import Judge, Judged
from waymark_nav.rig._times import NANOSECONDS
from waymark_nav.rig._vehicle import Words, event
from waymark_nav.rig._words import Anchor

from conftest import ROOT

CASES: list[dict[str, Any]] = json.loads((ROOT / "Tests/RigCases/words.json").read_text(encoding="utf-8"))
DUT = "dut/cluster"


def is_about_the_client(case: dict[str, Any]) -> bool:
    """What a vehicle's history cannot show: what a client sent, and what became of it."""
    text = json.dumps(case.get("expect", [step.get("expect") for step in case.get("steps", [])]))
    return "ended" in case or any(word in text for word in ('"of": "client"', "holds-what-was-published", '"missed"'))


class Case(Words):
    """One case: plays its frames, and judges its first expectation."""

    def __init__(self, case: dict[str, Any], late: int = 0) -> None:
        """late: the judge hears of the expectation so many entries after its anchor, as when they arrive in one read."""
        self.case = case
        self._late = late
        self._waiting: list[tuple[Judged, Anchor]] = []
        self.history = History()
        self.judge = Judge(self.history)
        self.judged: Judged | None = None
        self.machine = Endpoint(EndpointSettings(vehicle="dut", prompts=True, destinations=True))
        self.machine.is_traced = True
        self.now = 0
        requests = [decoded(entry) for entry in case["frames"] if entry.get("hex", "")[8:12] == "0200"]
        self.request_id = requests[0].request_id if requests else "none"

    def _measure(self) -> None:
        """The table has the reports."""

    def _add(self, judged: Judged) -> Any:
        self.judged = judged
        self._waiting.append((judged, Anchor(len(self.history.entries) - 1, self.now)))
        self._begin()
        return judged

    def _begin(self, is_end: bool = False) -> None:
        """Tells the judge of what waits long enough."""
        for judged, anchor in list(self._waiting):
            if is_end or len(self.history.entries) > anchor.index + self._late:
                self._waiting.remove((judged, anchor))
                self.judge.begin(judged, anchor)

    def play(self) -> Judged | None:
        """None: the step that expects it is not reached."""
        steps = self.case.get("steps", [])
        if "expect" in self.case:
            self.expect_as_written(self.case["expect"])
        self.machine.next_event()
        for entry in self.case["frames"]:
            self.now = round(entry["at"] * NANOSECONDS)
            if "step" in entry:
                if "expect" in steps[entry["step"]]:
                    self.expect_as_written(steps[entry["step"]]["expect"])
            elif entry["peer"] == DUT:
                self._connection(entry["connection"]) if "connection" in entry else self._frame(entry)
            else:
                self._delays(entry)
            while (event := self.machine.next_event()) is not None:
                self.judge.see(self.history.append(event, self.now))
                self._begin()
        self._begin(is_end=True)
        self.now = round(self.case["end"] * NANOSECONDS)
        self.judge.end(self.now)
        return self.judged

    def _connection(self, what: str) -> None:
        if what == "ended":
            self.machine.lost(self.now / NANOSECONDS)

    def _frame(self, entry: dict[str, Any]) -> None:
        data, now = bytes.fromhex(entry["hex"]), self.now / NANOSECONDS
        kind = HEADER.unpack_from(data)[3]
        if entry["way"] == "to":
            if entry.get("delivery") != "dropped":
                self.machine.receive(data, now)
        elif kind == m.MessageType.HELLO:
            self.machine.opened(now)
            self.machine.take_output(now)
        elif kind == m.MessageType.WAYPOINT_REQUEST:
            self.machine.request(decoded(entry))
            self.machine.take_output(now)

    def _delays(self, entry: dict[str, Any]) -> None:
        """The rig reads the delays of displays, and nothing else that crosses a client's connection."""
        splitter = Splitter()
        splitter.feed(bytes.fromhex(entry.get("hex", "")))
        for frame in splitter.frames():
            if frame.type == m.MessageType.RECEIPT_REPORT and isinstance(report := frame.decode(), m.ReceiptReport):
                for receipt in report.endpoints:
                    if f"{receipt.vehicle_id}/{receipt.endpoint}" == DUT and receipt.shown_delay_microseconds is not None:
                        self.judge.see(self.history.append(ShownAfter(receipt.shown_delay_microseconds), self.now))
                        self._begin()

    def expect_as_written(self, expect: dict[str, Any]) -> None:
        """Says what a scenario says in the words of a test."""
        words: Words = self
        expect = dict(expect)
        if (when := expect.pop("when", None)) is not None:
            words = self.when(*happening(when), count=when.get("count"))
        within, lasting = expect.pop("within", None), expect.pop("for", None)
        (word, value), *others = ((key, value) for key, value in expect.items() if key != "where")
        assert not others, expect
        said: dict[str, Callable[[], object]] = {
            "message": lambda: words.expect(value, expect.get("where"), within=within),
            "eventually": lambda: words.eventually(value, within=within),
            "always": lambda: words.always(value, lasting=lasting),
            "never": lambda: words.never(*happening(value), lasting=lasting),
            "sometimes": lambda: words.sometimes(*happening(value)),
            "gap": lambda: words.gap(value["message"]).below(value["below"], lasting=lasting),
            "exactly": lambda: words.exactly(value["count"], value["message"], lasting=lasting),
            "shown-within": lambda: words.shown_within(value, lasting=lasting),
            "unchanged": lambda: words.unchanged(*value, lasting=lasting),
            "in-order": lambda: words.in_order(*map(ordered, value), within=within),
            "ended": lambda: words.ended(value, within=within),
            "rate": lambda: self._rate(words, value, lasting),
            "outcome": lambda: words._outcome(self.request_id, value, within),
        }
        said[word]()

    def _rate(self, words: Words, value: dict[str, Any], lasting: str | None) -> None:
        rate = words.rate(value.get("message"))
        if "at-least" in value:
            rate.at_least(value["at-least"], per=value["per"], lasting=lasting)
        if "at-most" in value:
            rate.at_most(value["at-most"], per=value["per"], lasting=lasting)


def decoded(entry: dict[str, Any]) -> m.WaypointRequest:
    splitter = Splitter()
    splitter.feed(bytes.fromhex(entry["hex"]))
    message = next(splitter.frames()).decode()
    assert isinstance(message, m.WaypointRequest)
    return message


def happening(value: Any) -> tuple[Any, Any]:
    """A message with its fields, or a state."""
    if isinstance(value, str):
        return value, None
    if "message" in value:
        return value["message"], value.get("where")
    return value.get("state", value), None


def ordered(value: Any) -> Any:
    return event(*happening(value), count=value.get("count") if isinstance(value, dict) else None)
