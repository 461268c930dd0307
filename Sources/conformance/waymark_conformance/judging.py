"""The steps of a case that judge what has come so far."""

import abc
from typing import Any

from .links import Lateness, Link, clock


def shortened(ids):
    """A list in a sentence."""
    return str(ids) if len(ids) < 20 else f"{len(ids)} ids, from {ids[0]} to {ids[-1]}"


class Failed(Exception):
    """The implementation did not do what the case demands."""

    def __init__(self, text, verdict=""):
        super().__init__(text)
        self.verdict = verdict


class Judging(abc.ABC):
    """What a scene can say of its log and its connections."""

    log: list[tuple[float, str, str, Any]]
    links: dict[str, Link]
    late: Lateness
    stage: Any

    @abc.abstractmethod
    def fill(self, value): ...

    @abc.abstractmethod
    def link(self, name): ...

    @abc.abstractmethod
    def fits(self, frame, step): ...

    @staticmethod
    @abc.abstractmethod
    def words(frame): ...

    async def held(self, target, step):
        """What an endpoint holds that applied all frames of a list so far: their ids in the order in which they were added last."""
        name, slots = step["list"], step.get("slots", 0)
        ids: list[int | str] = []
        adding = {"maneuvers": "AddManeuvers", "lane_guidances": "AddLaneGuidances", "segments": "AddRouteSegments"}[name]
        for _, who, what, frame in self.log:
            if who != target or what != "received":
                continue
            if frame.name in ("StartGuidance", "SnapshotBegin") or (frame.name == "ResumeGuidance" and "route" in frame.decoded):
                ids = [] if frame.decoded.get("kind") != "MISSED" else ids
            elements = frame.decoded.get("route", {}).get(name, []) if frame.name in ("StartGuidance", "ResumeGuidance") else []
            for each in frame.decoded.get(name, []) if frame.name == adding else elements:
                ids = [known for known in ids if known != each["id"]] + [each["id"]]
                ids = ids[-slots:] if slots else ids
        if ids != self.fill(step["ids"]):
            raise Failed(f"{target}: holds {shortened(ids)}, not {shortened(self.fill(step['ids']))}")

    def check_applies(self, hello):
        """A case that needs features, or slots for maneuvers, is only for implementations whose Hello has them."""
        case = self.stage.case
        known = hello.get("navigation", hello.get("vehicle", {}))
        missing = [feature for feature in case.features if feature not in known.get("features", [])]
        if missing:
            raise Failed(f"its Hello lacks {', '.join(missing)}", "UNIMPLEMENTED")
        slots = known.get("limits", {}).get("maneuvers_stored_max", 0)
        if 0 < slots < case.slots:
            raise Failed(f"it has slots for {slots} maneuvers, and the case needs {case.slots}", "UNIMPLEMENTED")

    def check_wanted(self, observe):
        """A case that needs the state, events or frames is only for observers that want them."""
        missing = [part for part in self.stage.case.wants if not observe.get(part)]
        if missing:
            raise Failed(f"it does not want {', '.join(missing)}", "UNIMPLEMENTED")

    async def takes(self, size, _):
        """The endpoint's Hello allows frames of this size; otherwise the case does not apply."""
        link = next(iter(self.links.values()))
        most = link.hello.get("receive_frame_bytes_max", 0)
        if 0 < most < size:
            raise Failed(f"it takes frames of at most {most} bytes", "UNIMPLEMENTED")

    async def come(self, target, step):
        """The first frame of a type that came fits a pattern."""
        frame = next(frame for _, frame in self.came(target, step["type"]))
        if fault := self.fits(frame, step):
            raise Failed(f"{target}: {step['type']}: {fault}")

    async def told(self, target, step):
        """Some frame of a type that came fits a pattern; with `times`, so many do."""
        number = sum(self.fits(frame, step) is None for _, frame in self.came(target, step["type"]))
        if number == 0:
            raise Failed(f"{target}: no {step['type']} has {step['body']}")
        if number != step.get("times", number):
            raise Failed(f"{target}: {number} frames {step['type']}, not {step['times']}, have {step['body']}")

    async def untold(self, target, step):
        """No frame of a type that came fits a pattern."""
        if any(self.fits(frame, step) is None for _, frame in self.came(target, step["type"])):
            raise Failed(f"{target}: a {step['type']} has {self.fill(step['body'])}")

    async def differ(self, values, _):
        """Two values differ."""
        if values[0] == values[1]:
            raise Failed(f"{values[0]} is used twice")

    def came(self, target, name):
        """The positions in the log of the frames of a type that a connection has received."""
        return [
            (index, frame)
            for index, (_, who, what, frame) in enumerate(self.log)
            if who == target and what == "received" and frame.name == name
        ]

    async def count(self, target, step):
        """How many frames of a type came so far lies within bounds."""
        number = len(self.came(target, step["type"]))
        if not step["bounds"][0] <= number <= step["bounds"][1]:
            raise Failed(f"{target}: {number} frames {step['type']} came, not within {step['bounds']}")

    async def before(self, target, step):
        """The first frame of one type came before the last `margin` frames of another."""
        first, last = self.came(target, step["first"]), self.came(target, step["then"])
        if not first or len([1 for index, _ in last if index > first[0][0]]) < step.get("margin", 1):
            raise Failed(f"{target}: {step['first']} did not come before {step['then']}")

    async def silence(self, target, _):
        """Nothing has come since, not even a Goodbye."""
        link = self.link(target)
        came = [frame.name for frame in link.inbox]
        if came:
            raise Failed(f"{target}: got {', '.join(came)}")

    async def said(self, target, step):
        """The other side has said Goodbye with this code."""
        goodbye = self.link(target).goodbye
        if goodbye is None or goodbye.decoded.get("code") != step["code"]:
            raise Failed(f"{target}: {'no Goodbye' if goodbye is None else self.words(goodbye)}, not {step['code']}")

    async def gap(self, target, step):
        """The longest silence on a connection so far lies within bounds, in seconds; both sides may wake up late on a busy machine."""
        link = self.link(target)
        silence = max(link.gap, clock() - link.last_heard)
        if not step["bounds"][0] <= silence <= step["bounds"][1] + 2 * self.late.worst(link.began):
            raise Failed(f"{link.name}: the longest silence was {silence:.3f} s, not within {step['bounds']}")
