"""Random bodies, valid ones and others."""

from __future__ import annotations

import random

from waymark_nav._wire import BOOL, BYTES, DOUBLE, MESSAGE, PLANS, STRING, UINT64, Field, Message, encode
from waymark_nav.messages import BODIES


class Bodies:
    """Random bodies: messages near the bounds of their fields, some with damaged bytes."""

    def __init__(self, seed: int) -> None:
        self.values = random.Random(seed)

    def body(self, kind: int) -> bytes:
        body = bytearray(encode(self.message(BODIES[kind])))
        for _ in range(self.values.choice((0, 0, 1, 2))):
            at = self.values.randrange(len(body) + 1)
            change = self.values.randrange(3)
            if change == 0 and at < len(body):
                body[at] = self.values.randrange(256)
            elif change == 1:
                body[at:at] = self.values.randbytes(self.values.randrange(1, 4))
            else:
                del body[at:]
        return bytes(body)

    def message(self, cls: type[Message]) -> Message:
        values: dict[str, object] = {}
        for field in PLANS[cls].fields:
            if self.values.random() < (0.9 if field.is_required else 0.4):
                if field.is_repeated:
                    count = field.count + 1 if field.count < 40 and self.values.random() < 0.02 else self.values.randrange(4)
                    values[field.name] = tuple(self.value(field) for _ in range(count))
                else:
                    values[field.name] = self.value(field)
            elif field.is_required:
                values[field.name] = () if field.is_repeated else None if field.kind == MESSAGE else self.zero(field)
        return cls(**values)

    def zero(self, field: Field) -> object:
        return {STRING: "", BYTES: b""}.get(field.kind, 0)

    def value(self, field: Field) -> object:
        kind, lower, upper = field.kind, field.lower, field.upper
        if kind == MESSAGE:
            return self.message(field.of)
        if kind == DOUBLE:
            return self.values.choice((0.0, float(lower), float(upper), upper + 0.001, self.values.uniform(lower, upper)))
        if kind in (STRING, BYTES):
            size = self.values.choice((0, 1, 3, min(upper, 600), min(upper, 600) + 1))
            text = "".join(self.values.choice("aZ09._:-") for _ in range(size))
            if self.values.random() < 0.05:
                text = self.values.choice(("ä", "\0", "a b", "\ud800")) + text[:8]
            return text if kind == STRING else text.encode("utf-8", "surrogatepass")
        if kind == BOOL:
            return self.values.random() < 0.5
        near = self.values.randrange(max(1, min(upper, 300)))
        number = self.values.choice((0, 1, 2, 2**31, 2**32 - 1, 2**63, lower, upper, upper, upper + 1, lower - 1, near))
        return min(max(number, 0), 2**64 - 1) if kind == UINT64 else number
