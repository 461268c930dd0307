"""The cases of the words that count, of requests, of what is published, and of conditions."""

from rig_drive import CLIENT, START, Drive, m
from rig_words import EPSILON, ROAD, Cases


def all_cases():
    """Every case."""
    cases = Cases()
    for make in (rate_at_most, rate_at_least, gap, in_order, exactly, unchanged, shown_within, outcome, holds, ended, conditions):
        make(cases)
    return cases.cases


def roads(instants, drive=None):
    drive = drive or Drive().joined()
    for at in instants:
        drive.road(at)
    return drive


def rate_at_most(cases):
    three = {"rate": {"message": ROAD, "at-most": 3, "per": "1s"}}
    cases.add("rate at-most: as many as allowed", roads([1, 1.2, 1.4, 3]), three, "passed", 10)
    nearest = {"rate": ["at most 3 in 1 s", "4 in 0.6 s"]}
    cases.add("rate at-most: one too many", roads([1, 1.2, 1.4, 1.6]), three, "failed", 1.6, nearest)
    cases.add("rate at-most: the fourth exactly an interval later", roads([1, 1.2, 1.4, 2]), three, "passed", 10)
    just = {"rate": ["at most 3 in 1 s", "4 in 1 s"]}
    cases.add(
        "rate at-most: the fourth just before the interval is over", roads([1, 1.2, 1.4, 2 - EPSILON]), three, "failed", 2 - EPSILON, just
    )
    cases.add("rate at-most: nothing at all is seen", Drive(), three, "passed", 10)
    snapshot = roads([1, 1, 1, 1], Drive().joined().full(1, 5))
    cases.add("rate at-most: messages of a snapshot count", snapshot, three, "failed", 1, {"rate": ["at most 3 in 1 s", "4 in 0 s"]})
    again = roads([1.6], roads([1, 1.2, 1.4]).cut(1.5).rejoined(1.6))
    cases.add("rate at-most: over a reconnect", again, three, "failed", 1.6, nearest)
    every = {"rate": {"at-most": 2, "per": "1s"}}
    mixed = Drive().joined().road(2).state(2.1, "PREPARE").trip(2.2, 100)
    cases.add("rate at-most: of every publication", mixed, every, "failed", 2.2, {"rate": ["at most 2 in 1 s", "3 in 0.2 s"]})
    short = {**three, "for": "2s"}
    cases.step("rate at-most: after its time is over", roads([3.2, 3.3, 3.4, 3.5], Drive().joined().step(1)), short, "passed", 3)
    none = {"rate": {"message": ROAD, "at-most": 0, "per": "1s"}}
    cases.add("rate at-most: none is allowed", roads([1]), none, "failed", 1, {"rate": ["at most 0 in 1 s", "1 in 0 s"]})


def rate_at_least(cases):
    two = {"rate": {"message": ROAD, "at-least": 2, "per": "1s"}, "for": "3s"}
    good = roads([1.4, 1.9, 2.4, 2.9, 3.4, 3.9], Drive().joined().step(1))
    cases.step("rate at-least: enough in each window", good, two, "passed", 4)
    nearest = {"rate": ["at least 2 in 1 s", "1"]}
    cases.step("rate at-least: too few in one window", roads([1.4, 1.9, 3], Drive().joined().step(1)), two, "failed", 2.4, nearest)
    late = roads([1.4, 1.9, 2.4 + EPSILON], Drive().joined().step(1))
    cases.step("rate at-least: just after a match left the window", late, two, "failed", 2.4, nearest)
    cases.step("rate at-least: nothing at all is seen", Drive().step(1), two, "failed", 2)
    once = {"rate": {"message": ROAD, "at-least": 2, "per": "1s"}, "for": "1s"}
    cases.step("rate at-least: the last one exactly at the end", roads([1.5, 2], Drive().joined().step(1)), once, "passed", 2)
    snapshot = roads([1.5, 1.5], Drive().joined().step(1).full(1.4, 3)).whole(3)
    cases.step("rate at-least: messages of a snapshot count", snapshot, once, "passed", 2)
    again = roads([1.8], roads([1.3], Drive().joined().step(1)).cut(1.4).rejoined(1.6))
    cases.step("rate at-least: over a reconnect", again, once, "passed", 2)
    shorter = {"rate": {"message": ROAD, "at-least": 2, "per": "5s"}, "for": "3s"}
    cases.step("rate at-least: no window fits into the time", Drive().joined().step(1), shorter, "passed", 4)
    both = {"rate": {"message": ROAD, "at-least": 1, "at-most": 2, "per": "1s"}, "for": "3s"}
    fast = roads([1.5, 1.6, 1.7], Drive().joined().step(1))
    cases.step("rate: both bounds", fast, both, "failed", 1.7, {"rate": ["at most 2 in 1 s", "3 in 0.2 s"]})


def gap(cases):
    below = {"gap": {"message": ROAD, "below": "2s"}, "for": "5s"}
    nearest = {"gap": ["below 2 s", "2 s"]}
    cases.step("gap: none is too long", roads([2, 3.9, 5.8], Drive().joined().step(1)), below, "passed", 6)
    cases.step("gap: one is too long", roads([2, 4.5], Drive().joined().step(1)), below, "failed", 4, nearest)
    cases.step("gap: one is exactly as long", roads([2, 4, 5], Drive().joined().step(1)), below, "failed", 4, nearest)
    cases.step("gap: one is just shorter", roads([2, 4 - EPSILON, 5], Drive().joined().step(1)), below, "passed", 6)
    cases.step("gap: nothing at all is seen", Drive().step(1), below, "failed", 3)
    cases.step("gap: up to the end", roads([2, 3.9], Drive().joined().step(1)), below, "failed", 5.9, nearest)
    snapshot = roads([2.5, 4, 5], Drive().joined().step(1).full(2, 5)).whole(5.5)
    cases.step("gap: messages of a snapshot count", snapshot, below, "passed", 6)
    again = roads([4.4], roads([2.5], Drive().joined().step(1)).cut(3).rejoined(4)).road(5)
    cases.step("gap: over a reconnect", again, below, "passed", 6)
    slow = roads([4.6], roads([2.5], Drive().joined().step(1)).cut(3).rejoined(4))
    cases.step("gap: a reconnect that takes too long", slow, below, "failed", 4.5, nearest)
    short = {**below, "for": "1s"}
    cases.step("gap: a time that is shorter than the gap", Drive().joined().step(1), short, "passed", 2)


def in_order(cases):
    order = {"in-order": ["updateManeuverState", ROAD], "within": "3s"}
    one = {"in order": [ROAD, "1 of 2"]}
    cases.add("in-order: one after the other", Drive().joined().state(1, "PREPARE").trip(1.5, 9).road(2), order, "passed", 2, margin=1)
    cases.add("in-order: the other way round", Drive().joined().road(1).state(2, "PREPARE"), order, "failed", 3, one)
    cases.add("in-order: the last exactly at the end", Drive().joined().state(1, "PREPARE").road(3), order, "passed", 3, margin=0)
    cases.add("in-order: the last just after the end", Drive().joined().state(1, "PREPARE").road(3 + EPSILON), order, "failed", 3, one)
    cases.add("in-order: nothing at all is seen", Drive(), order, "failed", 3)
    snapshot = Drive().joined().full(1, 3).state(1, "PREPARE").road(1).whole(5)
    cases.add("in-order: messages of a snapshot count", snapshot, order, "passed", 1)
    again = Drive().joined().state(1, "PREPARE").cut(1.5).rejoined(2).road(2.5)
    cases.add("in-order: over a reconnect", again, order, "passed", 2.5)
    twice = {"in-order": [ROAD, ROAD], "within": "3s"}
    cases.add("in-order: one message is not two", Drive().joined().road(1), twice, "failed", 3, one)
    count = {"in-order": ["updateManeuverState", {"message": ROAD, "count": 2}], "within": "3s"}
    early = Drive().joined().road(0.5).state(1, "PREPARE").road(2)
    cases.add("in-order: a count begins after the event before", early, count, "failed", 3, one)
    cases.add("in-order: a count is reached", early.road(2.5), count, "passed", 2.5)
    states = {"in-order": [{"state": {"maneuverState": "prepare"}}, {"state": {"maneuverState": "execute"}}], "within": "3s"}
    drive = Drive().joined().state(1, "PREPARE").state(2, "EXECUTE")
    cases.add("in-order: states", drive, states, "passed", 2)
    wrong = Drive().joined().state(1, "EXECUTE").state(2, "PREPARE")
    cases.add("in-order: states, the other way round", wrong, states, "failed", 3, {"in order": ["maneuverState execute", "1 of 2"]})


def exactly(cases):
    two = {"exactly": {"count": 2, "message": ROAD}, "for": "3s"}
    cases.step("exactly: as many", roads([2, 3], Drive().joined().step(1)), two, "passed", 4)
    cases.step("exactly: one too many", roads([2, 3, 3.5], Drive().joined().step(1)), two, "failed", 3.5, {"count": ["2", "3"]})
    cases.step("exactly: one too few", roads([2], Drive().joined().step(1)), two, "failed", 4, {"count": ["2", "1"]})
    cases.step("exactly: the last exactly at the end", roads([2, 4], Drive().joined().step(1)), two, "passed", 4)
    cases.step(
        "exactly: one too many exactly at the end", roads([2, 3, 4], Drive().joined().step(1)), two, "failed", 4, {"count": ["2", "3"]}
    )
    cases.step("exactly: one more just after the end", roads([2, 3, 4 + EPSILON], Drive().joined().step(1)), two, "passed", 4)
    cases.step("exactly: nothing at all is seen", Drive().step(1), two, "failed", 4)
    cases.step("exactly: none", Drive().joined().step(1), {"exactly": {"count": 0, "message": ROAD}}, "passed", 10)
    snapshot = roads([2, 2], Drive().joined().step(1).full(2, 3)).whole(9)
    cases.step("exactly: messages of a snapshot count", snapshot, two, "passed", 4)
    cases.step("exactly: over a reconnect", roads([3], roads([1.5], Drive().joined().step(1)).cut(2).rejoined(2.5)), two, "passed", 4)


def unchanged(cases):
    expect = {"unchanged": ["currentRoadName", "generation"], "for": "3s"}
    other = {"currentRoadName": ["[A]", "[B]"]}

    def drive():
        return Drive().joined().road(0.5, "A").step(1)

    cases.step("unchanged: other fields change", drive().trip(2, 100), expect, "passed", 4)
    cases.step("unchanged: it changes", drive().road(2, "B"), expect, "failed", 2, other)
    cases.step("unchanged: it is published again", drive().road(2, "A"), expect, "passed", 4)
    cases.step("unchanged: it changes exactly at the end", drive().road(4, "B"), expect, "failed", 4, other)
    cases.step("unchanged: it changes just after the end", drive().road(4 + EPSILON, "B"), expect, "passed", 4)
    cases.step("unchanged: nothing at all is seen", Drive().step(1), expect, "passed", 4)
    same = drive().full(2, 2).publish(2.1, START, sequence=1).road(2.2, "B").road(2.3, "A").whole(3)
    cases.step("unchanged: a snapshot of the same", same, expect, "passed", 4)
    differs = drive().full(2, 2).publish(2.1, START, sequence=1).road(2.2, "B").whole(3)
    cases.step("unchanged: a snapshot of something else", differs, expect, "failed", 3, other)
    inside = Drive().joined().road(0.5, "A").full(0.8, 2).step(1).publish(1.1, START, sequence=1).road(1.2, "A").whole(2)
    cases.step("unchanged: it begins within a snapshot", inside, expect, "passed", 4)
    cases.step("unchanged: over a reconnect", drive().cut(2).rejoined(3), expect, "passed", 4)
    route = {"unchanged": ["maneuvers", "trip", "lanes.highlighted"], "for": "3s"}
    cases.step("unchanged: whole objects", Drive().joined().step(1).full(2, 1).publish(2, START, sequence=1).whole(2), route, "passed", 4)


def shown_within(cases):
    expect = {"shown-within": "500ms", "for": "3s"}

    def drive(at, microseconds, endpoint="cluster"):
        receipt = m.EndpointReceipt(
            vehicle_id="dut", endpoint=endpoint, received_sequence=1, shown_sequence=1, shown_delay_microseconds=microseconds
        )
        return Drive().client().joined().to(at, m.ReceiptReport(gateway_sequence=1, endpoints=(receipt,)), CLIENT, session=1)

    late = {"shown": ["within 0.5 s", "after 0.6 s"]}
    cases.add("shown-within: a short delay", drive(1, 400_000), expect, "passed", 3)
    cases.add("shown-within: exactly the limit", drive(1, 500_000), expect, "passed", 3)
    cases.add("shown-within: a longer delay", drive(1, 600_000), expect, "failed", 1, late)
    cases.add("shown-within: a longer delay, of another endpoint", drive(1, 600_000, "hud"), expect, "failed", 3)
    cases.add("shown-within: a longer delay just after the end", drive(3 + EPSILON, 600_000), expect, "failed", 3)
    cases.add("shown-within: receipts without a delay", drive(1, None), expect, "failed", 3)
    cases.add("shown-within: no receipts", Drive().client().joined(), expect, "failed", 3)
    step = drive(1, 600_000).step(2).to(3, m.ReceiptReport(gateway_sequence=1), CLIENT, session=1)
    cases.step("shown-within: a delay before the step does not count", step, expect, "failed", 5)


def outcome(cases):
    request = {"request": {"waypoint": [47.1, 9.5]}}

    def add(name, drive, verdict, at, nearest=None, **more):
        steps = [{"do": request, "expect": {"outcome": "accepted", "within": "1s"}}]
        cases.add(f"outcome: {name}", drive, None, verdict, at, nearest, steps=steps, **more)
        del cases.cases[-1]["expect"]

    def drive():
        return Drive().joined().step(1).request(1)

    wrong = {"outcome": ["accepted", "declinedByUser"]}
    add("it is accepted", drive().outcome(1.5, "ACCEPTED"), "passed", 1.5, margin=0.5)
    add("it is declined", drive().outcome(1.5, "DECLINED_BY_USER"), "failed", 1.5, wrong)
    add("it comes exactly at the end", drive().outcome(2, "ACCEPTED"), "passed", 2, margin=0)
    add("it comes just after the end", drive().outcome(2 + EPSILON, "ACCEPTED"), "failed", 2)
    add("it never comes", drive(), "failed", 2)
    add("nothing at all is seen", Drive().step(1), "failed", 2)
    add("of another request", drive().outcome(1.2, "ACCEPTED", "b"), "failed", 2)
    add("within a snapshot", drive().full(1.2, 1).outcome(1.5, "ACCEPTED"), "passed", 1.5)
    add("over a reconnect", drive().cut(1.2).rejoined(1.4).request(1.4).outcome(1.8, "ACCEPTED"), "passed", 1.8)
    steps = [{"do": request}, {"after": "1s", "expect": {"outcome": "accepted", "within": "1s"}}]
    known = drive().outcome(1.5, "ACCEPTED").step(2, 1)
    cases.add("outcome: it came before the step that expects it", known, None, "passed", 2, steps=steps, heldAlready=True)
    del cases.cases[-1]["expect"]


def holds(cases):
    expect = {"holds-what-was-published": True, "within": "3s"}
    road = m.CurrentRoadName(name_variants=("Hauptstrasse",))

    def published(**profile):
        return Drive().client().says(0, START, 1).joined(**profile)

    both = published().says(1, road, 2).road(1.1)
    pending = {"unacknowledged": ["nothing", "2"]}
    cases.step("holds: when all of it is acknowledged", both.step(1.5).acknowledged(2, 2), expect, "passed", 2)
    cases.step("holds: exactly at the end", published().step(1).acknowledged(4, 1), expect, "passed", 4, margin=0)
    cases.step("holds: just after the end", published().step(1).acknowledged(4 + EPSILON, 1), expect, "failed", 4)
    late = published().says(1, road, 2).road(1.1).step(1.5)
    cases.step("holds: it is not acknowledged", late, expect, "failed", 4.5, pending)
    lacks = published().says(1, road, 2).acknowledged(1.5, 2).step(2)
    cases.step("holds: the endpoint lacks something", lacks, expect, "failed", 5, {"roadName": ['["Hauptstrasse"]', "[]"]})
    cases.step("holds: nothing at all is seen", Drive().step(1), expect, "failed", 4, {"session": ["one", "none"]})
    snapshot = published().acknowledged(0.5, 1).full(0.8, 1).publish(0.8, START, sequence=1).step(1).whole(2)
    cases.step("holds: when the snapshot is whole", snapshot, expect, "passed", 2)
    again = published().says(1, road, 2).acknowledged(1.2, 2).cut(1.1).step(1.5).rejoined(2).missed(2).road(2).whole(2.5)
    cases.step("holds: after a reconnect", again, expect, "passed", 2.5)
    away = published().acknowledged(0.5, 1).cut(0.8, CLIENT).step(1)
    cases.step("holds: not while the client is away", away, expect, "failed", 4, {"unacknowledged": ["nothing", "0"]})
    refused = m.Error(code=m.ErrorCode.OUT_OF_RANGE, session_id=1, sequence=2)
    rejected = published().says(1, road, 2).to(1.1, refused, CLIENT, session=1).acknowledged(1.2, 2).step(2)
    cases.step("holds: what was rejected is not expected", rejected, expect, "passed", 2, heldAlready=True)
    fitted = published(without=("CURRENT_ROAD_NAME",)).says(1, road, 2).acknowledged(1.2, 2).step(2)
    cases.step("holds: what the endpoint does not want is not expected", fitted, expect, "passed", 2, heldAlready=True)
    short = published(limits=m.VehicleLimits(current_road_name_length_max=5)).says(1, road, 2).acknowledged(1.2, 2)
    cases.step("holds: as its profile says", short.road(1.3, "Haup…").step(2), expect, "passed", 2, heldAlready=True)


def ended(cases):
    expect = {"ended": "finished", "within": "3s"}
    wrong = {"ended": ["finished", "userStopped"]}
    cases.add("ended: as expected", Drive().joined().publish(2, m.FinishGuidance()), expect, "passed", 2, margin=1)
    cases.add("ended: otherwise", Drive().joined().ended(2, "USER_STOPPED"), expect, "failed", 2, wrong)
    cases.add("ended: exactly at the end", Drive().joined().ended(3, "FINISHED"), expect, "passed", 3, margin=0)
    cases.add("ended: just after the end", Drive().joined().ended(3 + EPSILON, "FINISHED"), expect, "failed", 3)
    cases.add("ended: nothing at all is seen", Drive(), expect, "failed", 3)
    cases.add("ended: it does not end", Drive().joined().road(1), expect, "failed", 3)
    cases.add("ended: within a snapshot", Drive().joined().full(1, 2).ended(2, "FINISHED"), expect, "passed", 2)
    cases.add("ended: it is told after a reconnect", Drive().joined().cut(1).rejoined(2).ended(2, "FINISHED"), expect, "passed", 2)
    other = Drive().joined().ended(1, "REPLACED", session=9).ended(2, "FINISHED")
    cases.add("ended: another session does not count", other, expect, "passed", 2)
    step = Drive().joined().ended(0.5, "FINISHED").step(1)
    cases.step("ended: it has ended before the step", step, expect, "passed", 1, heldAlready=True)
    finished = Drive().client().says(0, START, 1).says(5, m.FinishGuidance(), 2)
    cases.add("ended: the drive of the client", finished, None, "passed", 5, ended="finished")
    stopped = Drive().client().says(0, START, 1).ended(5, "USER_STOPPED", peer=CLIENT)
    cases.add("ended: the drive of the client, otherwise", stopped, None, "failed", 10, wrong, ended="finished")
    again = Drive().client().ended(2, "USER_STOPPED", peer=CLIENT).client(3, 2).ended(5, "FINISHED", 2, CLIENT)
    cases.add("ended: the last drive of the client counts", again, None, "passed", 5, ended="finished")
    driving = Drive().client().says(0, START, 1)
    cases.add("ended: the drive of the client does not end", driving, None, "failed", 10, ended="finished")
    for case in cases.cases:
        if "ended" in case:
            del case["expect"]


def conditions(cases):
    drive = Drive().joined().road(0).alert(0).publish(0, m.UpcomingManeuvers(generation=1, maneuver_ids=(2, 3)))
    drive.near(0, 180, maneuver=2, shown=(2000, "METERS"))
    holding = [
        {"next.type": "rightTurn", "next.id": 2},
        {"next.distance": "<=200m", "next.time": ">=0.3min"},
        {"next.distance": 180, "next.displayed": "200 m"},
        {"next.distance": "0.18km"},
        {"next.distance": "180..200", "next.exitAngle": None},
        {"next.distance": ">100", "next.road": "Landstrasse"},
        {"next.type": "!=leftTurn", "next.instruction": None},
        {"next.exitAngle": "!=90"},
        {"next.road": "~^Land.*e$"},
        {"next.road": "~(stra|gass)s+e"},
        {"next.type": "~Turn$"},
        {"currentRoadName": ["Hauptstrasse"], "suspended": False},
        {"currentRoadName": {"contains": "Hauptstrasse"}, "previews": None},
        {"upcomingManeuvers": [2, 3], "upcomingManeuvers[0]": 2},
        {"lanes.highlighted": {"contains": 3}, "laneGuidances[0].lanes[2].highlightedAngle": 90},
        {"maneuvers[0].instructionVariants": ["Turn left", "Left"], "maneuvers[0].junctionExitAngle": "<-45"},
        {"trip.origin.center": [47.1, 9.5], "trip.isDestinationShareable": True},
        {"alert.titleVariants[0]": "Closed", "alert.durationMilliseconds": None},
        {"maneuverEstimates[0].maneuver": 2, "maneuverEstimates[0].distanceMeters": 180},
        {"session": 1, "client": "client", "generation": 1, "phase": "active"},
    ]
    drive.step(1)
    for index, state in enumerate(holding):
        expect = {"eventually": state, "within": "1s"}
        cases.step(f"conditions: {index + 1} holds", drive, expect, "passed", 1, heldAlready=True)
    failing = [
        ({"next.distance": "<180m"}, {"next.distance": ["<180m", "180 m"]}),
        ({"next.distance": "181..200"}, {"next.distance": ["181..200", "180 m"]}),
        ({"next.displayed": "190 m"}, {"next.displayed": ["190 m", "200 m"]}),
        ({"next.type": "!=rightTurn"}, {"next.type": ["!=rightTurn", "rightTurn"]}),
        ({"next.road": "~^Haupt"}, {"next.road": ["~^Haupt", "Landstrasse"]}),
        ({"next.exitAngle": 90}, {"next.exitAngle": ["90", "none"]}),
        ({"next.exitAngle": "<90"}, {"next.exitAngle": ["<90", "none"]}),
        ({"next.road": None}, {"next.road": ["null", "Landstrasse"]}),
        ({"lanes.highlighted": [2]}, {"lanes.highlighted": ["[2]", "[3]"]}),
        ({"lanes.good": {"contains": 3}}, {"lanes.good": ["contains 3", "[2]"]}),
        ({"upcomingManeuvers[2]": 3}, {"upcomingManeuvers[2]": ["3", "none"]}),
        ({"suspended": True}, {"suspended": ["true", "false"]}),
    ]
    for index, (state, nearest) in enumerate(failing):
        expect = {"eventually": state, "within": "1s"}
        cases.step(f"conditions: {index + 1} does not hold", drive, expect, "failed", 2, nearest)
