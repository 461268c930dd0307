"""Reads the pixels of a screenshot of Chromium: PNG with 8 bits a channel, without interlacing."""

import struct
import zlib

Pixel = tuple[int, int, int]


def pixels(png: bytes) -> list[list[Pixel]]:
    """The rows of a picture."""
    width, height, depth, kind = struct.unpack(">IIBB", png[16:26])
    assert depth == 8 and kind in {2, 6}, "only RGB and RGBA are read"
    size = 3 if kind == 2 else 4
    data, place = b"", 8
    while place < len(png):
        (length,) = struct.unpack(">I", png[place : place + 4])
        if png[place + 4 : place + 8] == b"IDAT":
            data += png[place + 8 : place + 8 + length]
        place += length + 12
    raw, stride = zlib.decompress(data), width * size
    above, rows = bytearray(stride), []
    for row in range(height):
        start = row * (stride + 1)
        line = _unfiltered(raw[start], bytearray(raw[start + 1 : start + 1 + stride]), above, size)
        rows.append([(line[at], line[at + 1], line[at + 2]) for at in range(0, stride, size)])
        above = line
    return rows


def _unfiltered(kind: int, line: bytearray, above: bytearray, size: int) -> bytearray:
    for at in range(len(line)):
        left = line[at - size] if at >= size else 0
        corner = above[at - size] if at >= size else 0
        if kind == 1:
            line[at] = (line[at] + left) & 255
        elif kind == 2:
            line[at] = (line[at] + above[at]) & 255
        elif kind == 3:
            line[at] = (line[at] + (left + above[at]) // 2) & 255
        elif kind == 4:
            guess = left + above[at] - corner
            near = min((abs(guess - left), 0, left), (abs(guess - above[at]), 1, above[at]), (abs(guess - corner), 2, corner))
            line[at] = (line[at] + near[2]) & 255
    return line


def contrast(one: Pixel, other: Pixel) -> float:
    """As WCAG computes it: 1 to 21."""

    def luminance(pixel: Pixel) -> float:
        shares = [value / 255 for value in pixel]
        red, green, blue = (share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    bright, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def visible_share(png: bytes, least: float = 3.0) -> float:
    """How much of a picture differs from its most frequent colour by a contrast of at least `least`."""
    counts: dict[Pixel, int] = {}
    for row in pixels(png):
        for pixel in row:
            counts[pixel] = counts.get(pixel, 0) + 1
    ground = max(counts, key=counts.__getitem__)
    return sum(count for pixel, count in counts.items() if contrast(pixel, ground) >= least) / sum(counts.values())
