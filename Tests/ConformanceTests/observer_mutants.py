"""Observers with one bug each: Docs/examples/observe.py with a text replaced, as in peer_mutants.py."""

OBSERVE = "observe.py"
OBSERVERS = [
    ("says Hello with another role", OBSERVE, "number(1, 2) + number(2, 2) + number(3, 3)", "number(1, 2) + number(2, 2) + number(3, 2)"),
    (
        "keeps its records at a full observation",
        OBSERVE,
        "            if body.number(1) == 1:\n                self.forget()\n            say(f\"{'full' if body.number(1) == 1 else 'missed'}",
        "            say(f\"{'missed'}",
    ),
    (
        "forgets its records when the gateway continues",
        OBSERVE,
        "            say(f\"{'full' if body.number(1) == 1 else 'missed'}",
        "            say(f\"{'full'}",
    ),
    ("does not count a gap", OBSERVE, "            self.number = body.number(2) - 1\n", ""),
    ("says nothing of a gap", OBSERVE, '            say(f"{body.number(1)} entries were dropped")\n', ""),
    ("gives up at something gone that it does not know", OBSERVE, "if held.pop(key, None):", "if held.pop(key):"),
    ("removes nothing", OBSERVE, "        for key in gone:\n", "        for key in ():\n"),
    ("removes clients for vehicles", OBSERVE, "body.texts(9))", "body.texts(8))"),
    ("takes each part of the state for the last", OBSERVE, "        if body.number(12):\n", "        if True:\n"),
    ("takes no part of the state for the last", OBSERVE, "        if body.number(12):\n", "        if body.number(13):\n"),
    ("counts parts of the state as entries", OBSERVE, "if entry and entry != self.number + 1:", "if entry != self.number + 1:"),
    ("asks for what follows an entry that it was not told", OBSERVE, "number(8, self.number))", "number(8, self.number + 1))"),
    ("names a session in Observe", OBSERVE, "number(8, self.number))", "number(8, self.number), 7)"),
    ("gives up at an event of a kind that it does not know", OBSERVE, "KINDS.get(body.number(3), body.number(3))", "KINDS[body.number(3)]"),
    ("tells no events", OBSERVE, "EVENT: self.tell_event", "EVENT: lambda body: None"),
    ("tells no frames", OBSERVE, "FRAMES: self.tell_frames}", "FRAMES: lambda body: None}"),
    (
        "does not ask again after a cut",
        OBSERVE,
        "        self.send(OBSERVE,",
        "        if not self.token or not self.number:\n            self.send(OBSERVE,",
    ),
    (
        "holds the records of sessions by their client",
        OBSERVE,
        "{each.number(1): each for each in body.bodies(5)}",
        "{each.number(6): each for each in body.bodies(5)}",
    ),
]
