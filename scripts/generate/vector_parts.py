"""Vectors of messages that come in several frames, and what they are together. For vectors.py."""

from vector_frames import MORE, frame
from vector_schema import encode


class Parts:
    """Makes the vectors."""

    def __init__(self, protos):
        self.protos = protos

    def vector(self, name, message, whole, *parts, session=0, between=()):
        """`between` are the bytes of frames of other messages, which come behind the first part."""
        shape = self.protos.shapes[message]
        frames = []
        for part in parts:
            flags = 0 if part is parts[-1] else MORE
            frames.append(frame(shape.type_number, encode(self.protos, shape, part), flags, session=session))
        frames[1:1] = between
        return "parts", {
            "name": f"{message} in parts: {name}",
            "frames": [each.hex() for each in frames],
            "message": message,
            "session_id": session,
            "hex": encode(self.protos, shape, whole).hex(),
        }

    def all(self):
        yield from self.welcomes()
        yield from self.vehicles()
        yield from self.observed()

    def welcomes(self):
        def welcome(features, sessions):
            return {
                "version": 1,
                "features": [{"feature": each, "granted": True} for each in features],
                "keepalive_milliseconds": 10000,
                "resumption_token": "00" * 16,
                "resumed": True,
                "sessions": [{"session_id": each, "sequence": str(each), "phase": 2} for each in sessions],
                "gateway_instance": "gateway",
                "gateway_epoch": "1",
                "send_frame_bytes_max": 4096,
            }

        parts = [welcome([1, 2], [1, 2]), welcome([], [3]), welcome([], [4, 5])]
        yield self.vector("the sessions of a client", "Welcome", welcome([1, 2], [1, 2, 3, 4, 5]), *parts)

    def vehicles(self):
        def status(vehicle, *endpoints):
            return {"vehicle_id": vehicle, "standing": 1, "endpoints": [{"endpoint": each, "ready": True} for each in endpoints]}

        def opened(*vehicles):
            return {"request_id": "open", "session_id": 7, "vehicles": list(vehicles)}

        yield self.vector(
            "a vehicle whose endpoints go on",
            "SessionOpened",
            opened(status("a", "1"), status("b", "1", "2", "3"), status("c")),
            opened(status("a", "1"), status("b", "1")),
            opened(status("b", "2")),
            opened(status("b", "3"), status("c")),
        )
        ping = frame(0x0004, encode(self.protos, self.protos.shapes["Ping"], {"nonce": "5"}))
        yield self.vector(
            "a Ping between them",
            "VehicleChanged",
            {"vehicle": status("a", "1", "2")},
            {"vehicle": status("a", "1")},
            {"vehicle": status("a", "2")},
            session=7,
            between=[ping],
        )
        receipts = [{"vehicle_id": "a", "endpoint": each, "received_sequence": "4", "shown_sequence": "3"} for each in "123"]
        yield self.vector(
            "receipts",
            "ReceiptReport",
            {"gateway_sequence": "4", "endpoints": receipts},
            {"gateway_sequence": "4", "endpoints": receipts[:2]},
            {"gateway_sequence": "4", "endpoints": receipts[2:]},
            session=7,
        )

    def observed(self):
        def vehicle(name, endpoints):
            return {"vehicle_id": name, "endpoints": [{"endpoint": each} for each in endpoints]}

        def retained(session, frames, is_first):
            return {"session_id": session, "frames": frames, "is_first": is_first}

        def records(vehicles=(), frames=(), is_last=False, **lists):
            return {
                "instant_microseconds": "1000",
                "vehicles": [vehicle(*each) for each in vehicles],
                "retained": [retained(*each) for each in frames],
                "is_last": is_last,
            } | lists

        yield self.vector(
            "a vehicle, and what a session retains, go on; another session begins",
            "ObservedRecords",
            records([("a", "123"), ("b", "")], [(7, "0102030405", True), (8, "06", True)], True, sessions_gone=[9]),
            records([("a", "1")]),
            records([("a", "23"), ("b", "")], [(7, "010203", True)]),
            records(frames=[(7, "0405", False), (8, "06", True)], is_last=True, sessions_gone=[9]),
        )
        crossed = {"number": "3", "instant_microseconds": "1000", "direction": 1, "session_id": 7}
        yield self.vector(
            "a frame that is cut in its header",
            "ObservedFrames",
            crossed | {"frames": "574d010001080000000000000000000700000000000000010a"},
            crossed | {"frames": "574d01000108"},
            crossed | {"frames": "0000000000000000000700000000000000010a"},
        )
        event = {"number": "4", "instant_microseconds": "1000", "kind": 11, "code": 11}
        yield self.vector(
            "the vehicles of an event",
            "ObservedEvent",
            event | {"vehicle_ids": ["a", "b", "c"]},
            event | {"vehicle_ids": ["a"]},
            event | {"vehicle_ids": ["b", "c"]},
        )
        counters = [{"name": 1, "label": 257, "value": "5"}, {"name": 64, "value": "1"}]
        yield self.vector(
            "counters",
            "Counters",
            {"counters": counters, "sessions": [{"session_id": 7}], "is_last": True},
            {"counters": counters[:1]},
            {"counters": counters[1:]},
            {"sessions": [{"session_id": 7}], "is_last": True},
        )
