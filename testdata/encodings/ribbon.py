#!/usr/bin/env python3
"""Ribbon filters, written from the text in policy/FORMAT.md alone: the second opinion on the Go
code.

    python3 ribbon.py check < ribbon.jsonl    computes the answers of all cases anew and compares

README.md in this folder explains the cases.
"""

import functools
import math

import blocked
from cases import Encoding, main
from xxh3 import M32, M64, xxh3

ENCODING = 0x71
MOST_KEYS = 1 << 28
MOST_UPPER_LAYERS = 8
MOST_COLUMNS = 40
LARGEST_LAST_LAYER = 2000  # hashes, to write


# ---- Hashes ----

def mix(x, k):
    x = x + k * 0x9e3779b97f4a7c15 & M64
    x = (x ^ x >> 32) * 0xd6e8feb86659fd93 & M64
    x = (x ^ x >> 32) * 0xd6e8feb86659fd93 & M64
    return x ^ x >> 32


def print_of(x):
    y = x * 0xff51afd7ed558ccd & M64
    return y ^ y >> 32


def band_of(x):
    return (x ^ x >> 32) * 0xbf58476d1ce4e5b9 & M64


def tail_of(x):
    y = (x >> 32 | x << 32 & M64) * 0x94d049bb133111eb & M64
    return y ^ y >> 32


def start_of(x, blocks):
    return (x >> 32) * (blocks - 3) >> 32


def is_bumped(bumps, start):
    r, low, high = start % 15 + 1, bumps[start // 15] & 15, bumps[start // 15] >> 4
    return r == low or r == high or r > low > high


# ---- Layout ----

class Layout:
    """What the number of bytes of the payload, the blocks of the upper layers, and M say.

    tail and last_column are the text's T and P; band and upper count blocks.
    """

    def __init__(self, payload, upper, m):
        self.upper, self.m = upper, m
        self.band = 4 + max(0, m - 104) // 16 if m > 64 else 0
        self.tail = m - 16 * self.band
        self.bumps = [(blocks + 11) // 15 for blocks in upper]
        self.slots = m + 16 * sum(upper)
        room = 8 * (payload - sum(self.bumps))
        self.columns = room // self.slots
        self.last_column = room - self.columns * self.slots
        if self.last_column >= m:
            self.f = m
        elif self.band > 0 and self.last_column <= self.tail:
            self.f = 0
        else:
            cut = min(m - self.last_column, 4 * self.tail) // 8
            self.f = max(0, self.last_column - 2 - cut)

    def last_layer(self, x, seed):
        """A hash's equation: the block where its window begins, the coefficients of the window and
        of the tail, the print, and whether it has the last column.
        """
        if seed >= 8:
            x = mix(x, seed // 8)
        key_print = print_of(x)
        has_last = (x & M32) * self.m >> 32 < self.f

        turn = key_print >> 41 + 2 * (seed % 8) & 3
        tail = (tail_of(x) & ~3 | turn) & (1 << self.tail) - 1
        if self.band == 0:
            if has_last:  # slots that lack it have no coefficient; the same below
                tail &= (1 << self.last_column) - 1
            return 0, 0, tail, key_print, has_last

        first, end, window = 0, self.band - 3, band_of(x)
        r = self.last_column - self.tail
        if 0 < self.f < self.m:
            if has_last:
                end = max(1, (r + 15) // 16 - 3)
            else:
                first = min(r // 16, self.band - 4)
        block = first + ((x >> 32) * (end - first) >> 32)
        if has_last:
            window &= (1 << max(0, r - 16 * block)) - 1
        return block, window, tail, key_print, has_last


def trailer(payload, parameters):
    check = (payload * 0x9e3779b1 & M32) >> 24 ^ ENCODING
    for byte in parameters:
        check ^= byte
    return bytes([*parameters, check, ENCODING])


# ---- Writer ----

class Equations:
    """Equations in echelon form. A row's bit 0 is its pivot, bit i the i-th slot after it."""

    def __init__(self, slots):
        self.rows = [0] * slots
        self.sums = [0] * slots
        self.pivots = []

    def add(self, at, row, key_print):
        """Adds an equation; bit 0 of row is slot at. False if it depends on those added before.

        Any order will do, but rows stay short only if at ascends.
        """
        while row:
            zeros = (row & -row).bit_length() - 1
            at += zeros
            row >>= zeros
            if not self.rows[at]:
                self.rows[at], self.sums[at] = row, key_print
                self.pivots.append(at)
                return True
            row ^= self.rows[at]
            key_print ^= self.sums[at]
        return False

    def remove_from(self, count):
        """Keeps the first count equations that were added."""
        for at in self.pivots[count:]:
            self.rows[at] = 0
        del self.pivots[count:]

    def solution(self):
        """For every slot its bits of all columns."""
        values = [0] * len(self.rows)
        for at in sorted(self.pivots, reverse=True):
            values[at] = self.sums[at] ^ sum_of(values, at, self.rows[at] ^ 1)
        return values


def sum_of(values, at, coefficients):
    total = 0
    while coefficients:
        low = coefficients & -coefficients
        total ^= values[at + low.bit_length() - 1]
        coefficients ^= low
    return total


def upper_layer(hashes, blocks):
    """The layer's slots and its bumps."""
    equations, bumps = Equations(16 * blocks), bytearray()
    with_start = [[] for _ in range(blocks - 3)]
    for x in hashes:
        with_start[start_of(x, blocks)].append(x)
    for bucket in range(0, blocks - 3, 15):
        failed = []
        for r, same in enumerate(with_start[bucket:bucket + 15], 1):
            before = len(equations.pivots)
            at = 16 * (bucket + r - 1)
            if all(equations.add(at, band_of(x), print_of(x)) for x in same):
                continue
            equations.remove_from(before)
            failed.append(r)
            if len(failed) == 2:
                kept = before
            elif len(failed) == 3:
                equations.remove_from(kept)
                break
        if len(failed) == 3:
            low, high = failed[1], failed[0]
        else:
            low, high = ([0, 0] + failed)[-2:]
        bumps.append(low | high << 4)
    return equations.solution(), bumps


def last_layer(layout, hashes, seed):
    """The slots of the band and those of the tail, or None if the equations are not independent."""
    equations, band = Equations(layout.m), 16 * layout.band
    aside = max(0, layout.tail - 2)  # the tail's slots 0 and 1 come after the others
    for block, window, tail, key_print, _ in sorted(layout.last_layer(x, seed) for x in hashes):
        row = window << 16 * block | tail >> 2 << band | (tail & 3) << band + aside
        if not equations.add(16 * block, row >> 16 * block, key_print):
            return None
    values = equations.solution()
    return values[:band], values[band + aside:] + values[band:band + aside]


def filter_of_hashes(hashes, length):
    """A filter of that length, or None if there is none."""
    upper, upper_slots, bumps = [], [], b""
    while len(hashes) > LARGEST_LAST_LAYER:
        if len(upper) == MOST_UPPER_LAYERS:
            return None
        upper.append((len(hashes) - len(hashes) // 24) // 16)
        slots, layer_bumps = upper_layer(hashes, upper[-1])
        bumped = [mix(x, 0) for x in hashes if is_bumped(layer_bumps, start_of(x, upper[-1]))]
        if len(bumped) > len(hashes) // 2:
            return None
        upper_slots += slots
        bumps += layer_bumps
        hashes = bumped

    m = max(1, len(hashes) + (len(hashes) // 100 if len(hashes) > 64 else 0))
    parameters = [m] if m < 128 else [m % 256, 128 + m // 256]
    if upper:
        for blocks in upper:
            parameters += blocks.to_bytes(3, "little")
        parameters.append(240 + len(upper))
    payload = length - len(parameters) - 3
    layout = Layout(payload, upper, m)
    for seed in range(256):
        solved = last_layer(layout, hashes, seed)
        if solved:
            band, tail = solved
            return (pack(layout, upper_slots + band, bumps, tail, tail + band + upper_slots)
                    + trailer(payload, parameters + [seed]))
    return None


def pack(layout, blocks, bumps, tail, all_slots):
    """all_slots has the slots in the order in which they have the last column."""
    out = bytearray()
    for at in range(0, len(blocks), 16):
        block = blocks[at:at + 16]
        for j in range(layout.columns):
            out += sum((block[i] >> j & 1) << i for i in range(16)).to_bytes(2, "little")
    rest = [value >> j & 1 for j in range(layout.columns) for value in tail]
    rest += [value >> layout.columns & 1 for value in all_slots[:layout.last_column]]
    for at in range(0, len(rest), 8):
        bumps += bytes([sum(rest[at + i] << i for i in range(8))])
    return bytes(out + bumps)


def make_filter(keys, bits_per_key):
    hashes = sorted({xxh3(key) for key in keys})
    length = -(-math.ceil(len(hashes) * bits_per_key) // 8)
    filter = None
    if length >= 5 and len(hashes) <= MOST_KEYS:
        filter = filter_of_hashes(hashes, length + 3)
    return filter or blocked.filter_of_hashes(hashes, bits_per_key)


# ---- Reader ----

class Reader:
    """A filter that fits: its slots with the bits of all columns, and its bumps."""

    def __init__(self, layout, seed, payload):
        self.layout, self.seed = layout, seed
        columns = layout.columns
        blocks = sum(layout.upper) + layout.band
        slots = [0] * (16 * blocks)
        for at in range(blocks * columns):
            word = payload[2 * at] | payload[2 * at + 1] << 8
            for i in range(16):
                slots[at // columns * 16 + i] |= (word >> i & 1) << at % columns
        at = 2 * blocks * columns
        self.bumps = []
        for count in layout.bumps:
            self.bumps.append(payload[at:at + count])
            at += count
        bits = [byte >> i & 1 for byte in payload[at:] for i in range(8)]
        tail = [sum(bits[j * layout.tail + i] << j for j in range(columns))
                for i in range(layout.tail)]

        # In the order in which they have the last column: the tail, the band, the upper layers.
        upper = 16 * sum(layout.upper)
        self.slots = tail + slots[upper:] + slots[:upper]
        for i in range(layout.last_column):
            self.slots[i] |= bits[columns * layout.tail + i] << columns

    def may_contain(self, x):
        layout = self.layout
        first = layout.m
        for blocks, bumps in zip(layout.upper, self.bumps):
            start = start_of(x, blocks)
            if not is_bumped(bumps, start):
                at = first + 16 * start
                total, has_last = sum_of(self.slots, at, band_of(x)), at + 64 <= layout.last_column
                return self.solves(total, print_of(x), has_last)
            first += 16 * blocks
            x = mix(x, 0)
        block, window, tail, key_print, has_last = layout.last_layer(x, self.seed)
        total = sum_of(self.slots, layout.tail + 16 * block, window) ^ sum_of(self.slots, 0, tail)
        return self.solves(total, key_print, has_last)

    def solves(self, total, key_print, has_last):
        return (total ^ key_print) & (1 << self.layout.columns + has_last) - 1 == 0


@functools.lru_cache(maxsize=1)
def reader_of(filter):
    """None if the filter does not fit."""
    # With bytes before a short filter's first, its payload comes out as less than 4 bytes.
    before = 64
    padded = bytes(before) + filter
    at = len(padded) - 3
    seed = padded[at]
    at -= 1
    upper = []
    if padded[at] >= 240:
        count = padded[at] - 240
        at -= 3 * count
        upper = [int.from_bytes(padded[at + 3 * i:at + 3 * i + 3], "little") for i in range(count)]
        at -= 1
    m = padded[at]
    if m >= 128:
        at -= 1
        m = (m - 128) * 256 + padded[at]
    payload = at - before
    if payload < 4 or m == 0 or len(upper) > MOST_UPPER_LAYERS or min(upper, default=4) < 4:
        return None
    if filter[payload:] != trailer(payload, filter[payload:-2]):
        return None
    layout = Layout(payload, upper, m)
    if not 1 <= layout.columns <= MOST_COLUMNS:
        return None
    return Reader(layout, seed, filter[:payload])


def may_contain(filter, key):
    reader = reader_of(filter)
    return reader is None or reader.may_contain(xxh3(key))


ENCODINGS = Encoding(make_filter, {ENCODING: may_contain, blocked.ENCODING: blocked.may_contain})

if __name__ == "__main__":
    main(__doc__, ENCODINGS, ())
