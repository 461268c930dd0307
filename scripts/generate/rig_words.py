"""The cases history -> verdict of the words that scenarios judge by. Verdicts are written by hand, from Docs/testing.md."""

from rig_drive import CLIENT, START, Drive, Flags, broken, m, parts, unknown

EPSILON = 1e-9
ROAD = "currentRoadName"


class Cases:
    """The cases, in order."""

    def __init__(self) -> None:
        self.cases: list[dict] = []

    def add(self, name, drive, expect, verdict, at, nearest=None, end=10, **more):
        """Adds a case: the expectations of a file, and the verdict of the first one."""
        case = {"name": name, "frames": list(drive.frames), "end": end, "expect": expect, "verdict": verdict, "at": at}
        self.cases.append({**case, **({"nearest": nearest} if nearest else {}), **more})

    def step(self, name, drive, expect, verdict, at, nearest=None, end=10, **more):
        """Adds a case whose expectation belongs to the only step of a scenario."""
        step = {"after": "1s", "expect": expect}
        self.add(name, drive, None, verdict, at, nearest, end, steps=[step], **more)
        del self.cases[-1]["expect"]


def all_cases():
    """Every case."""
    cases = Cases()
    for make in (message, when, eventually, parts_and_keys, always, never, never_message, sometimes):
        make(cases)
    return cases.cases


def message(cases):
    road = {"message": ROAD, "within": "2s"}
    last = {"message": [ROAD, "snapshotEnd"]}
    cases.add("message: it comes within the time", Drive().joined().road(1), road, "passed", 1, margin=1)
    cases.add("message: it comes exactly at the end", Drive().joined().road(2), road, "passed", 2, margin=0)
    cases.add("message: it comes just after the end", Drive().joined().road(2 + EPSILON), road, "failed", 2, last)
    cases.add("message: it never comes", Drive().joined(), road, "failed", 2, last)
    cases.add("message: nothing at all is seen", Drive(), road, "failed", 2)
    cases.add("message: one within a snapshot counts", Drive().joined().full(1, 2).road(1).whole(3), road, "passed", 1)
    again = Drive().joined().cut(0.5).rejoined(1).road(1.5)
    cases.add("message: one after a reconnect counts", again, road, "passed", 1.5)
    dropped = Drive().joined().road(1, delivery="dropped")
    cases.add("message: one that was dropped does not count", dropped, road, "failed", 2, last)
    refused = Drive().joined().publish(1, broken(0x0108, 2))
    nearest = {"message": [ROAD, f"{ROAD}, refused"]}
    cases.add("message: one whose body is refused does not count", refused, road, "failed", 2, nearest)
    foreign = Drive().joined().says(1, m.CurrentRoadName(), 2)
    cases.add("message: one of another connection does not count", foreign, road, "failed", 2, last)
    cases.add("message: of a client", foreign, {**road, "of": "client"}, "passed", 1)
    extension = {"message": "0x0142", "within": "2s"}
    cases.add("message: of a type that is not known", Drive().joined().publish(1, unknown(0x0142, 2)), extension, "passed", 1)
    near = {"message": "updateTripEstimates", "where": {"tripEstimates.distanceMeters": "<200m"}, "within": "2s"}
    cases.add("message: with a field that fits", Drive().joined().trip(1, 300).trip(1.5, 180), near, "passed", 1.5)
    nearest = {"tripEstimates.distanceMeters": ["<200m", "250 m"]}
    far = Drive().joined().trip(0.5, 400).trip(1, 250).trip(1.5, 300)
    cases.add("message: the nearest is the one with the nearest number", far, near, "failed", 2, nearest)
    same = {"message": "updateManeuverEstimates", "where": {"maneuver": 2, "travelEstimates.distanceMeters": "<200m"}, "within": "2s"}
    nearest = {"travelEstimates.distanceMeters": ["<200m", "500 m"]}
    other = Drive().joined().near(0.5, 500, maneuver=2).near(1, 100, maneuver=1)
    cases.add("message: the nearest is of the same maneuver, however far its numbers are", other, same, "failed", 2, nearest)
    header = {"message": ROAD, "where": {"sequence": 3, "session": 1, "fitted": False}, "within": "3s"}
    cases.add("message: keys of the header", Drive().joined().road(1).road(2), header, "passed", 2)
    step = Drive().joined().step(1).road(3)
    cases.step("message: a step's time counts from the step", step, road, "passed", 3, margin=0)
    early = Drive().joined().road(0.5).step(1)
    cases.step("message: one before the step does not count", early, road, "failed", 3)
    cases.step("message: a step that is not reached", Drive().joined(), road, "notReached", 10)
    cases.add("message: the run ends before the time", Drive().joined(), road, "failed", 1, last, end=1)


def when(cases):
    prepare = {"message": "updateManeuverState", "where": {"maneuverState": "prepare"}}
    expect = {"when": prepare, "message": ROAD, "within": "1s"}
    both = Drive().joined().state(1, "PREPARE").road(1.5).state(3, "PREPARE").road(3.5)
    cases.add("when: each occurrence is judged", both, expect, "passed", 3.5, margin=0.5)
    second = Drive().joined().state(1, "PREPARE").road(1.5).state(3, "PREPARE")
    cases.add("when: a later occurrence fails", second, expect, "failed", 4)
    nearest = {"maneuverState": ["prepare", "execute"]}
    cases.add("when: its event never happened", Drive().joined().state(1, "EXECUTE"), expect, "notReached", 10, nearest)
    itself = {"when": {"message": ROAD}, "message": ROAD, "within": "1s"}
    cases.add("when: the event itself is not in its window", Drive().joined().road(1), itself, "failed", 2)
    once = {**expect, "when": {**prepare, "count": 2}}
    cases.add("when: only the second time", second, once, "failed", 4)
    first = Drive().joined().state(1, "PREPARE").state(3, "PREPARE").road(3.5)
    cases.add("when: the first time does not matter", first, once, "passed", 3.5)
    state = {"when": {"state": {"maneuverState": "prepare"}}, "message": ROAD, "within": "1s"}
    held = Drive().joined().state(1, "PREPARE").road(1.5).near(3, 100)
    cases.add("when: a state begins once as long as it holds", held, state, "passed", 1.5)
    twice = held.state(4, "EXECUTE").state(5, "PREPARE")
    cases.add("when: a state that begins again is another event", twice, state, "failed", 6)
    already = Drive().joined().state(0.5, "PREPARE").step(1).road(1.5)
    cases.step("when: a state that holds at the step is an event", already, state, "passed", 1.5)
    snapshot = Drive().joined().full(1, 2).publish(1, START, sequence=1).state(1, "PREPARE").road(1.5).whole(3)
    cases.add("when: a state counts when its snapshot is whole", snapshot, state, "failed", 4)
    client = {"when": {"message": ROAD, "of": "client"}, "eventually": {"currentRoadName": ["A"]}, "within": "1s"}
    crossed = Drive().joined().says(1, m.CurrentRoadName(name_variants=("A",)), 2).road(1.2, "A")
    cases.add("when: the event of another peer", crossed, client, "passed", 1.2)


def eventually(cases):
    near = {"eventually": {"next.distance": "<200m"}, "within": "3s"}
    nearest = {"next.distance": ["<200m", "300 m"]}
    drive = Drive().joined().near(1, 300).near(2, 180)
    cases.add("eventually: it holds within the time", drive, near, "passed", 2, margin=1)
    cases.add("eventually: it holds exactly at the end", Drive().joined().near(3, 180), near, "passed", 3, margin=0)
    late = Drive().joined().near(1, 300).near(3 + EPSILON, 180)
    cases.add("eventually: it holds just after the end", late, near, "failed", 3, nearest)
    cases.add("eventually: it never holds", Drive().joined().near(1, 300), near, "failed", 3, nearest)
    cases.add("eventually: nothing at all is seen", Drive(), near, "failed", 3)
    cases.step("eventually: it holds already", drive.step(2.5), near, "passed", 2.5, heldAlready=True)
    open_ = Drive().joined().full(1, 2).near(1, 180).whole(4)
    nearest = {"next.distance": ["<200m", "none"]}
    cases.add("eventually: a snapshot that is not whole does not count", open_, near, "failed", 3, nearest)
    whole = Drive().joined().full(1, 2).publish(1, START, sequence=1).near(1, 180).whole(2)
    cases.add("eventually: a snapshot counts when it is whole", whole, near, "passed", 2)
    missed = Drive().joined().cut(1).rejoined(1.5).missed(2).near(2, 180).whole(2.5)
    cases.add("eventually: what was missed counts when all of it is there", missed, near, "passed", 2.5)
    second = {"eventually": {"next.id": 2, "next.type": "leftTurn"}, "within": "3s"}
    turn = Drive().joined().near(0.5, 100).upcoming(1, 2, 3).near(1.5, 400, maneuver=3)
    cases.add("eventually: an id says which thing is the nearest", turn, second, "failed", 3, {"next.type": ["leftTurn", "rightTurn"]})
    several = {"eventually": {"next.type": "leftTurn", "next.distance": "<200m", "maneuverState": "execute"}, "within": "3s"}
    two = Drive().joined().near(1, 150).near(1.5, 500).state(2, "EXECUTE").near(2.5, 210)
    nearest = {"next.distance": ["<200m", "210 m"]}
    cases.add("eventually: the nearest has the fewest differences, and the nearest number", two, several, "failed", 3, nearest)
    ties = Drive().joined().state(1, "PREPARE").state(2, "INITIAL")
    expect = {"eventually": {"maneuverState": "execute"}, "within": "3s"}
    cases.add("eventually: of two that are as near, the later", ties, expect, "failed", 3, {"maneuverState": ["execute", "initial"]})


def parts_and_keys(cases):
    part = {"eventually": {"maneuvers[3].id": 4}, "within": "3s"}
    more = int(Flags.MORE | Flags.FITTED)
    drive = Drive().joined().publish(1, parts([4]), flags=more).publish(1.5, parts([5]), sequence=2, flags=int(Flags.FITTED))
    cases.add("eventually: a publication counts when all its parts are there", drive, part, "passed", 1.5)
    begun = Drive().hello(0).welcome(1).full(1, 1)
    cases.add("keys: connected, within a snapshot", begun, {"eventually": {"connected": True}, "within": "3s"}, "passed", 1)
    cut = Drive().joined().cut(1)
    cases.add("keys: shows is stale without a connection", cut, {"eventually": {"shows": "stale"}, "within": "3s"}, "passed", 1)
    either = {"eventually": {"shows": "stale-or-none"}, "within": "3s"}
    cases.step("keys: stale-or-none is stale", Drive().joined().step(0.5).cut(1), either, "passed", 1)
    cases.add("keys: stale-or-none is none", Drive().hello(0).welcome(0), either, "passed", 0)
    ended = Drive().joined().ended(1, "USER_STOPPED")
    gone = {"eventually": {"shows": "none", "phase": "ended", "endReason": "userStopped"}, "within": "3s"}
    cases.add("keys: shows is none after the end", ended, gone, "passed", 1)
    cut_off = Drive().joined().missed(1).ended(2, "USER_STOPPED")
    cases.add("keys: the end of a session within a snapshot", cut_off, {"eventually": {"phase": "ended"}, "within": "3s"}, "passed", 2)
    suspended = Drive().joined().to(1, m.SessionSuspended(grace_milliseconds=1000), session=1)
    stale = {"eventually": {"shows": "stale", "suspended": True, "connected": True}, "within": "3s"}
    cases.add("keys: shows is stale while the client is away", suspended, stale, "passed", 1)
    back = Drive().joined().cut(1).rejoined(2)
    cases.add("keys: resumed", back, {"eventually": {"resumed": True, "missed": 0}, "within": "3s"}, "passed", 2)
    anew = Drive().joined().cut(1).hello(2).welcome(2)
    expect = {"eventually": {"resumed": True}, "within": "3s"}
    cases.add("keys: not resumed", anew, expect, "failed", 3, {"resumed": ["true", "false"]})
    owed = Drive().client().says(0, START, 1).joined().cut(1).says(1.5, m.ShowAlert(alert=alert()), 2).rejoined(2)
    none = {"eventually": {"resumed": True, "missed": 0}, "within": "3s"}
    cases.add("keys: missed, an event that did not come", owed, none, "failed", 3, {"missed": ["0", "1"]})
    given = Drive().client().says(0, START, 1).joined().cut(1).says(1.5, m.ShowAlert(alert=alert()), 2)
    given.rejoined(2).missed(2).alert(2).whole(2.5)
    cases.add("keys: missed, an event that came after the reconnect", given, none, "passed", 2.5)
    refused = m.Error(code=m.ErrorCode.OUT_OF_RANGE, session_id=1, sequence=2)
    rejected = Drive().client().says(0, START, 1).joined().cut(1).says(1.5, m.ShowAlert(alert=alert()), 2)
    rejected.to(1.6, refused, CLIENT, session=1).rejoined(2)
    cases.add("keys: missed, an event that was rejected", rejected, none, "passed", 2)
    withheld = Drive().client().says(0, START, 1).joined(without=("NAVIGATION_ALERTS",)).says(1, m.ShowAlert(alert=alert()), 2)
    expect = {"always": {"missed": 0}, "for": "3s"}
    cases.add("keys: missed, an event that the endpoint does not want", withheld, expect, "passed", 3)
    lanes = {"lanes.count": 3, "lanes.highlighted": [3], "lanes.preferred": [3], "lanes.good": [2]}
    cases.add("keys: lanes, from 1 and from the left", Drive().joined(), {"eventually": lanes, "within": "1s"}, "passed", 0)


def alert():
    return m.NavigationAlert(id=1, title_variants=("Closed",))


def always(cases):
    active = {"always": {"phase": "active"}, "for": "3s"}
    paused = {"phase": ["active", "paused"]}
    cases.step("always: it holds all the time", Drive().joined().step(1).road(2), active, "passed", 4)
    cases.step("always: it ceases to hold", Drive().joined().step(1).pause(2), active, "failed", 2, paused)
    cases.step("always: it ceases exactly at the end", Drive().joined().step(1).pause(4), active, "failed", 4, paused)
    late = Drive().joined().step(1).pause(4 + EPSILON)
    cases.step("always: it ceases just after the end", late, active, "passed", 4)
    cases.step("always: it does not hold at the beginning", Drive().joined().pause(0.5).step(1), active, "failed", 1, paused)
    cases.step("always: nothing at all is seen", Drive().step(1), active, "passed", 4)
    snapshot = Drive().joined().step(1).full(2, 1).publish(2.2, START, sequence=1).whole(2.5)
    cases.step("always: a snapshot that is not whole does not count", snapshot, active, "passed", 4)
    cases.step("always: over a reconnect", Drive().joined().step(1).cut(2).rejoined(3), active, "passed", 4)
    forgotten = Drive().joined().step(1).cut(2).hello(3).welcome(3)
    cases.step("always: a reconnect without the state", forgotten, active, "failed", 3, {"phase": ["active", "idle"]})
    endless = {"always": {"phase": "active"}}
    cases.step("always: to the end of the run", Drive().joined().step(1).pause(9), endless, "failed", 9, paused)
    cases.step("always: to the end of the run, and it holds", Drive().joined().step(1), endless, "passed", 10)


def never(cases):
    execute = {"never": {"maneuverState": "execute"}, "for": "3s"}
    nearest = {"maneuverState": ["not execute", "execute"]}
    cases.step("never: a state that does not come", Drive().joined().step(1).state(2, "PREPARE"), execute, "passed", 4)
    cases.step("never: a state that comes", Drive().joined().step(1).state(2, "EXECUTE"), execute, "failed", 2, nearest)
    cases.step("never: a state that comes exactly at the end", Drive().joined().step(1).state(4, "EXECUTE"), execute, "failed", 4, nearest)
    late = Drive().joined().step(1).state(4 + EPSILON, "EXECUTE")
    cases.step("never: a state that comes just after the end", late, execute, "passed", 4)
    held = Drive().joined().state(0.5, "EXECUTE").step(1)
    cases.step("never: a state that holds at the beginning", held, execute, "failed", 1, nearest)
    cases.step("never: nothing at all is seen", Drive().step(1), execute, "passed", 4)
    snapshot = Drive().joined().step(1).full(2, 3).publish(2, START, sequence=1)
    snapshot.state(2.2, "EXECUTE").state(2.4, "PREPARE").whole(2.5)
    cases.step("never: a snapshot that is not whole does not count", snapshot, execute, "passed", 4)
    missed = Drive().joined().step(1).cut(1.5).rejoined(2).missed(2, 1, 3).state(2, "EXECUTE").state(2.2, "PREPARE").whole(2.5)
    cases.step("never: what was missed counts when all of it is there", missed, execute, "passed", 4)
    back = Drive().joined().step(1).cut(1.5).rejoined(2).state(3, "EXECUTE")
    cases.step("never: a state after a reconnect", back, execute, "failed", 3, nearest)


def never_message(cases):
    shown = {"never": {"message": "showAlert"}, "for": "3s"}
    cases.step("never: a message that does not come", Drive().joined().step(1).road(2), shown, "passed", 4)
    cases.step("never: a message that comes", Drive().joined().step(1).alert(2), shown, "failed", 2)
    cases.step("never: a message that comes exactly at the end", Drive().joined().step(1).alert(4), shown, "failed", 4)
    cases.step("never: a message that comes just after the end", Drive().joined().step(1).alert(4 + EPSILON), shown, "passed", 4)
    cases.step("never: a message before the beginning", Drive().joined().alert(0.5).step(1), shown, "passed", 4)
    cases.step("never: no message at all", Drive().step(1), shown, "passed", 4)
    snapshot = Drive().joined().step(1).full(2, 2).alert(2).whole(5)
    cases.step("never: a message within a snapshot counts", snapshot, shown, "failed", 2)
    cases.step("never: a message after a reconnect", Drive().joined().step(1).cut(1.5).rejoined(2).alert(3), shown, "failed", 3)
    far = {"never": {"message": "updateTripEstimates", "where": {"tripEstimates.distanceMeters": ">5km"}}}
    nearest = {"tripEstimates.distanceMeters": ["not >5km", "5001 m"]}
    cases.add("never: a message with a field", Drive().joined().trip(1, 5000).trip(2, 5001), far, "failed", 2, nearest)


def sometimes(cases):
    execute = {"sometimes": {"maneuverState": "execute"}}
    nearest = {"maneuverState": ["execute", "prepare"]}
    cases.add("sometimes: a state held once", Drive().joined().state(5, "EXECUTE").state(6, "PREPARE"), execute, "passed", 5)
    cases.add("sometimes: a state never held", Drive().joined().state(5, "PREPARE"), execute, "failed", 10, nearest)
    cases.add("sometimes: a state holds exactly at the end", Drive().joined().state(10, "EXECUTE"), execute, "passed", 10)
    cases.add("sometimes: nothing at all is seen", Drive(), execute, "failed", 10)
    snapshot = Drive().joined().full(2, 3).publish(2, START, sequence=1).state(2.2, "EXECUTE").state(2.4, "PREPARE").whole(2.5)
    cases.add("sometimes: a snapshot that is not whole does not count", snapshot, execute, "failed", 10, nearest)
    back = Drive().joined().cut(1).rejoined(2).missed(2).state(2, "EXECUTE").whole(3)
    cases.add("sometimes: a state after a reconnect", back, execute, "passed", 3)
    shown = {"sometimes": {"message": "showAlert"}}
    cases.add("sometimes: a message came", Drive().joined().alert(4), shown, "passed", 4)
    cases.add("sometimes: a message never came", Drive().joined().road(4), shown, "failed", 10, {"message": ["showAlert", ROAD]})
