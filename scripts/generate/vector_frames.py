"""Vectors of frames: what a gateway does with the bytes that a peer sends. For vectors.py."""

import struct

from vector_bodies import Bodies
from vector_rules import Refusal, read
from vector_schema import block, encode

SKIPPABLE, GATEWAY, FITTED, STATE, RETAINED, MORE = 1, 2, 4, 8, 16, 32
FRAME_BYTES_MAX = {"connected": 4_096, "client": 1_048_576, "endpoint": 1_048_576, "observer": 1_048_576}
# The states in which a peer may send what the brackets of a message say.
STATES = {
    "from a new peer": ["connected"],
    "from every role": ["client", "endpoint", "observer"],
    "from clients": ["client"],
    "published": ["client"],
    "from endpoints": ["endpoint"],
    "from observers": ["observer"],
    "from endpoints and observers": ["endpoint", "observer"],
    "from the gateway": [],
}
PUBLISHED = range(0x0100, 0x0200)
# The minor version of the gateway.
VERSION = 2


def frame(type_number, body=b"", flags=0, key=0, session=0, sequence=0, length=None):
    size = len(body) if length is None else length
    return b"WM\x01" + struct.pack(">BHHIIQ", flags, type_number, key, size, session, sequence) + body


def offered_versions(body):
    """The versions that a Hello offers: (0, 0) if they cannot be read."""
    found, offset = {}, 0

    def varint():
        nonlocal offset
        value = 0
        for shift in range(0, 70, 7):
            byte = body[offset]
            offset += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
        raise IndexError

    try:
        while offset < len(body) and len(found) < 2:
            tag = varint()
            if tag in (0x08, 0x10):
                found[tag] = varint()
            elif tag & 7 == 0:
                varint()
            elif tag & 7 in (1, 5):
                offset += 8 if tag & 7 == 1 else 4
            elif tag & 7 == 2:
                offset += varint()
            else:
                return 0, 0
    except IndexError:
        return 0, 0
    return found.get(0x08, 0), found.get(0x10, 0)


class Frames:
    """Makes the vectors."""

    def __init__(self, protos):
        self.protos, self.vectors = protos, []
        self.bodies = Bodies(protos)
        self.types = {shape.type_number: shape for shape in protos.frames}

    def add(self, name, state, data, expected=None):
        outcome = self.outcome(state, data)
        assert not expected or tuple(outcome.values())[: len(expected)] == expected, f"{name}: {outcome}, not {expected}"
        vector = {"name": f"{state}: {name}", "state": state, "frame_bytes_max": FRAME_BYTES_MAX[state], "hex": data.hex()}
        self.vectors.append(("frames", vector | outcome))

    def outcome(self, state, data):
        """What the gateway does, in the order of REQ-CHECK-01."""

        def closed(code):
            return {"outcome": "closed", "code": code}

        if data[:2] != b"WM"[: len(data[:2])]:
            return closed("BAD_MAGIC")
        if len(data) > 2 and data[2] != 1:
            return closed("UNSUPPORTED_VERSION")
        if len(data) < 24:
            return {"outcome": "incomplete"}
        flags, type_number, key, length, session, sequence = struct.unpack_from(">BHHIIQ", data, 3)
        header = {
            "flags": flags,
            "type": type_number,
            "key": key,
            "length": length,
            "session_id": session,
            "sequence": str(sequence),
        }
        shape = self.types.get(type_number)
        if shape is None and not flags & SKIPPABLE:
            return closed("UNKNOWN_MESSAGE_TYPE")
        if not self.may_send(shape, state):
            return closed("UNEXPECTED_MESSAGE")
        if length + 24 > FRAME_BYTES_MAX[state]:
            return closed("FRAME_TOO_LARGE")
        if len(data) < 24 + length:
            return {"outcome": "incomplete"}
        if state == "connected" and type_number == 0x0001:
            lowest, highest = offered_versions(data[24:])
            if 0 < lowest <= highest and not lowest <= VERSION <= highest:
                return closed("UNSUPPORTED_VERSION")

        def rejected(code, field):
            return {"outcome": "rejected", "code": code, "field": field, "header": header}

        is_published = state == "client" and type_number in PUBLISHED
        if shape is None:
            if is_published and (flags & (GATEWAY | FITTED | MORE) or (flags & RETAINED and not flags & STATE)):
                return rejected("OUT_OF_RANGE", "flags")
            return {"outcome": "extension" if is_published else "ignored", "header": header}
        try:
            message = read(self.protos, shape, data[24:])
        except Refusal as refusal:
            if state == "connected" and (type_number, refusal.code, refusal.path) == (0x0001, "OUT_OF_RANGE", "role"):
                return closed("ROLE_NOT_ALLOWED")
            return closed("HANDSHAKE_INVALID") if state == "connected" else rejected(refusal.code, refusal.path)
        is_extension = shape.name == "PublishExtension"
        if is_published and (flags & (GATEWAY | FITTED | MORE) or (is_extension and flags & RETAINED and not flags & STATE)):
            return rejected("OUT_OF_RANGE", "flags")
        return {"outcome": "message", "header": header, "message": shape.name, "json": message}

    def may_send(self, shape, state):
        if shape is None:
            return state != "connected"
        return state in STATES[shape.sender] or shape.name == "Goodbye"

    def sample(self, shape):
        """A frame that the message's sender could send."""
        body = encode(self.protos, shape, self.bodies.minimal(shape.name))
        is_published = shape.type_number in PUBLISHED
        return frame(shape.type_number, body, session=7 if is_published else 0, sequence=1 if is_published else 0)

    def all(self):
        for shape in self.protos.frames:
            for state in FRAME_BYTES_MAX:
                self.add(shape.name, state, self.sample(shape))
        self.starts()
        self.unknown_types()
        self.flags()
        self.fields()
        self.sizes()
        self.refused_bodies()
        self.versions()
        return self.vectors

    def versions(self):
        def hello(name, digits, *expected):
            self.add(name, "connected", frame(0x0001, bytes.fromhex(digits)), expected)

        client = "180 22a 030a 0161".replace(" ", "")
        hello("a Hello of an earlier version", f"08011001{client}", "closed", "UNSUPPORTED_VERSION")
        hello("a Hello of a later version", f"08031009{client}", "closed", "UNSUPPORTED_VERSION")
        hello("a Hello of a later version with an unknown role", "080310091809", "closed", "UNSUPPORTED_VERSION")
        hello("a Hello of a later version with an unknown role before it", "180910090803", "closed", "UNSUPPORTED_VERSION")
        hello("a Hello of a later version with a body that ends too early", "0803100922ff", "closed", "UNSUPPORTED_VERSION")
        hello("a Hello of several versions", f"08011009{client}", "message")
        hello("a Hello of several versions with an unknown field", f"08021009{client}f20603aabbcc", "message")
        hello("a Hello of several versions with an unknown role", "080210091809f20603aabbcc", "closed", "ROLE_NOT_ALLOWED")
        hello("a Hello of this version without a role", "08021002", "closed", "HANDSHAKE_INVALID")
        hello("a Hello whose lowest version is above the highest", f"08091003{client}", "closed", "HANDSHAKE_INVALID")
        hello("a Hello without its lowest version", f"1009{client}", "closed", "HANDSHAKE_INVALID")

    def starts(self):
        hello = self.sample(self.protos.shapes["Hello"])
        for size in range(24):
            self.add(f"{size} bytes of a header", "connected", hello[:size], ("incomplete",))
        self.add("a body that is not complete", "connected", hello[:-1], ("incomplete",))
        for digits in ("00", "56", "4d", "5700", "574c", "4d57", "474554202f"):
            self.add(f"begins with {digits}", "connected", bytes.fromhex(digits), ("closed", "BAD_MAGIC"))
        for version in (0, 2, 255):
            self.add(f"major version {version}", "connected", b"WM" + bytes([version]), ("closed", "UNSUPPORTED_VERSION"))
            self.add(
                f"major version {version}, a whole frame",
                "connected",
                b"WM" + bytes([version]) + hello[3:],
                ("closed", "UNSUPPORTED_VERSION"),
            )
        self.add("a wrong magic and a wrong version", "client", b"WN\x02", ("closed", "BAD_MAGIC"))
        self.add("a wrong version and an unknown type", "client", b"WM\x02" + frame(0x00EE)[3:], ("closed", "UNSUPPORTED_VERSION"))
        self.add("a frame without a body", "client", frame(0x0112, session=7, sequence=1), ("message",))

    def unknown_types(self):
        numbers = [0x0000, 0x00EE, 0x00FF, 0x01D0, 0x01E1, 0x01FF, 0x02EE, 0x03EE, 0x0400, 0xFFFF]
        for number in numbers:
            assert number not in self.types
            for state in FRAME_BYTES_MAX:
                for flags, word in ((0, ""), (SKIPPABLE, ", SKIPPABLE")):
                    self.add(f"unknown type 0x{number:04X}{word}", state, frame(number, b"\xff\x00", flags, session=7, sequence=1))

    def flags(self):
        body = encode(self.protos, self.protos.shapes["CurrentRoadName"], {"name_variants": ["a"]})
        for flags in (1, 2, 4, 8, 16, 32, 64, 128, 24, 25, 6, 34, 192, 255):
            for state, number, content, what in (
                ("client", 0x0108, body, "CurrentRoadName"),
                ("client", 0x01E1, b"\xff", "type 0x01E1"),
                ("client", 0x01E1, b"", "type 0x01E1 without a body"),
                ("client", 0x0004, b"", "Ping"),
                ("endpoint", 0x0209, b"", "AllowNavigation"),
                ("endpoint", 0x01E1, b"", "type 0x01E1"),
            ):
                if flags & SKIPPABLE or number != 0x01E1:
                    data = frame(
                        number,
                        content,
                        flags,
                        session=7 if number > 0xFF else 0,
                        sequence=1 if state == "client" and number > 0xFF else 0,
                    )
                    self.add(f"{what}, flags {flags}", state, data)
        for flags in (SKIPPABLE | GATEWAY, SKIPPABLE | FITTED, SKIPPABLE | MORE, SKIPPABLE | STATE | RETAINED | MORE):
            self.add(
                f"an unknown publication, flags {flags}",
                "client",
                frame(0x01E1, b"", flags, session=7, sequence=1),
                ("rejected", "OUT_OF_RANGE", "flags"),
            )
        self.add(
            "an unknown publication, RETAINED without STATE",
            "client",
            frame(0x01E1, b"", SKIPPABLE | RETAINED, session=7, sequence=1),
            ("rejected", "OUT_OF_RANGE", "flags"),
        )
        extension = encode(self.protos, self.protos.shapes["PublishExtension"], {"name": "org.example.tyres", "content": "3732"})
        for flags in (0, 1, 2, 4, 8, 16, 24, 25, 26, 32, 64):
            self.add(f"an extension, flags {flags}", "client", frame(0x01E0, extension, flags, key=1, session=7, sequence=1))
        self.add(
            "a bad body and a flag of the gateway",
            "client",
            frame(0x0108, b"\x0a", GATEWAY, session=7, sequence=1),
            ("rejected", "MALFORMED", "name_variants[0]"),
        )

    def fields(self):
        """Fields of the header that a receiver ignores, or uses as they are."""
        for key in (1, 65_535):
            self.add(f"a key of {key} in a known publication", "client", frame(0x0112, key=key, session=7, sequence=1), ("message",))
            self.add(
                f"a key of {key} in an unknown publication",
                "client",
                frame(0x01E1, b"x", 25, key=key, session=7, sequence=1),
                ("extension",),
            )
        self.add("a session id and a number in a Ping", "client", frame(0x0004, b"\x08\x05", session=9, sequence=9), ("message",))
        self.add("the highest session id and number", "client", frame(0x0112, session=2**32 - 1, sequence=2**64 - 1), ("message",))
        self.add("a session id in a vehicle's message", "endpoint", frame(0x0209, session=7), ("message",))

    def sizes(self):
        for state, number in (("connected", 0x0001), ("client", 0x0108), ("endpoint", 0x020B), ("observer", 0x0300)):
            most = FRAME_BYTES_MAX[state] - 24
            self.add("the largest frame, header only", state, frame(number, length=most), ("incomplete",))
            for length in (most + 1, 2**31, 2**32 - 1):
                self.add(f"a body of {length} bytes, header only", state, frame(number, length=length), ("closed", "FRAME_TOO_LARGE"))
            self.add("too large, of a type that may not come", state, frame(0x0002, length=2**32 - 1), ("closed", "UNEXPECTED_MESSAGE"))
            self.add("too large, of an unknown type", state, frame(0x00EE, length=2**32 - 1), ("closed", "UNKNOWN_MESSAGE_TYPE"))
            self.add("too large, of an unknown type with SKIPPABLE", state, frame(0x00EE, flags=SKIPPABLE, length=2**32 - 1))
        self.add("as large as a Hello may be", "client", frame(0x0003, block(2, b"a" * 200) + b"\x08\x01"), ("message",))

    def refused_bodies(self):
        bad = b"\xff"
        for shape in self.protos.frames:
            for state in FRAME_BYTES_MAX:
                if self.may_send(shape, state):
                    is_published = shape.type_number in PUBLISHED
                    data = frame(shape.type_number, bad, session=7 if is_published else 0, sequence=3 if is_published else 0)
                    self.add(f"{shape.name}, a body that ends too early", state, data)
        self.add("a bad body of a type that may not come", "endpoint", frame(0x0101, bad), ("closed", "UNEXPECTED_MESSAGE"))
