"""Pictures of ``world.picture`` as arrays: PNG with 8 bits per channel, not interlaced. Cost: one pass in NumPy per line, per pixel where a
line was filtered by what is left of it."""

from __future__ import annotations

import struct
import zlib

import numpy as np
from numpy.typing import NDArray


def pixels(png: bytes) -> NDArray[np.uint8]:
    """The picture as (height, width, 3).

    >>> from sinew.envs._png import pixels
    >>> pixels(sinew.load("pendulum").picture((90, 60))).shape
    (60, 90, 3)
    """
    (width, height, depth, kind), at, packed = struct.unpack(">IIBB", png[16:26]), 8, []
    if depth != 8 or kind not in (2, 6):
        raise ValueError(f"a picture of {depth} bits and kind {kind}; 8 bits of red, green, blue are read")
    while at < len(png):
        (size,) = struct.unpack(">I", png[at : at + 4])
        if png[at + 4 : at + 8] == b"IDAT":
            packed.append(png[at + 8 : at + 8 + size])
        at += size + 12
    channels = 3 if kind == 2 else 4
    lines = np.frombuffer(zlib.decompress(b"".join(packed)), dtype=np.uint8).reshape(height, 1 + width * channels)
    picture, above = np.empty((height, width, channels), np.uint8), np.zeros((width, channels), np.uint8)
    for row, line in zip(picture, lines):
        above = row[:] = _unfiltered(int(line[0]), line[1:].reshape(width, channels), above)
    return np.ascontiguousarray(picture[:, :, :3])


def _unfiltered(kind: int, line: NDArray[np.uint8], above: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """A line as it was before filter 0 to 4 of PNG, modulo 256."""
    if kind == 0:
        return line
    if kind == 1:
        return np.cumsum(line, axis=0, dtype=np.uint8)
    if kind == 2:
        return line + above
    out, left, corner = [], [0] * line.shape[1], [0] * line.shape[1]
    for values, tops in zip(line.tolist(), above.tolist()):
        guesses = [(a + b) // 2 for a, b in zip(left, tops)] if kind == 3 else map(_nearest, left, tops, corner)
        left, corner = [(value + guess) & 255 for value, guess in zip(values, guesses)], tops
        out.append(left)
    return np.array(out, np.uint8)


def _nearest(left: int, above: int, corner: int) -> int:
    """Paeth's guess."""
    to_left, to_above, to_corner = abs(above - corner), abs(left - corner), abs(left + above - 2 * corner)
    if to_left <= to_above and to_left <= to_corner:
        return left
    return above if to_above <= to_corner else corner
