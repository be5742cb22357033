#!/usr/bin/env python3
"""Ribbon filters, written from the text in policy/FORMAT.md alone: the second opinion on the Go code.

    python3 ribbon.py > ribbon.jsonl            writes the pinned cases
    python3 ribbon.py check < ribbon.jsonl      computes the answers of all cases anew and compares

README.md in this folder explains the cases.
"""

import math

import blocked
from cases import Encoding, digest_case, filter_case, main, match_case
from xxh3 import M32, M64, PRIME_MX2, SECRET, rotl64, u64, xxh3

ENCODING = 0x71
MOST_LAYERS = 8
MOST_COLUMNS = 40
MOST_IN_LAST = 2000


# ---- Hashes ----

def mix(x, k):
    x = (x + k * 0x9e3779b97f4a7c15) & M64
    x = (x ^ x >> 32) * 0xd6e8feb86659fd93 & M64
    x = (x ^ x >> 32) * 0xd6e8feb86659fd93 & M64
    return x ^ x >> 32


def print_of(x):
    y = x * 0xff51afd7ed558ccd & M64
    return y ^ y >> 32


def band_of(x):
    return (x ^ x >> 32) * 0xbf58476d1ce4e5b9 & M64


def tail_of(x):
    y = rotl64(x, 32) * 0x94d049bb133111eb & M64
    return y ^ y >> 32


def start_of(x, blocks):
    return (x >> 32) * (blocks - 3) >> 32


def is_bumped(s, byte):
    r, low, high = s % 15 + 1, byte & 15, byte >> 4
    return r in (low, high) or r > low > high


def seeded(x, seed):
    return mix(x, seed // 8) if seed >= 8 else x


def parity(x):
    return bin(x).count("1") & 1


# ---- Layout ----

class Shape:
    """Where everything of a filter is. sizes: the blocks of the upper layers; length: of the payload."""

    def __init__(self, sizes, m, length):
        self.sizes, self.m, self.length = sizes, m, length
        self.blocks_last = 4 + max(0, m - 104) // 16 if m > 64 else 0
        self.tail = m - 16 * self.blocks_last
        self.bumps_at = self.columns = self.last_column = 0
        bumps = sum((blocks + 11) // 15 for blocks in sizes)
        slots = 16 * sum(sizes) + m
        if slots:
            self.columns, self.last_column = divmod(8 * (length - bumps), slots)
        self.bumps_at = 2 * self.columns * (sum(sizes) + self.blocks_last)
        self.rest_at = self.bumps_at + bumps
        self.first = self.first_keys_with_last_column()

    def first_keys_with_last_column(self):
        m, p, t = self.m, self.last_column, self.tail
        if p >= m:
            return m
        if self.blocks_last > 0 and p <= t:
            return 0
        return max(0, p - 2 - min(m - p, 4 * t) // 8)

    def fits(self):
        return (len(self.sizes) <= MOST_LAYERS and self.m > 0 and all(blocks >= 4 for blocks in self.sizes)
                and 1 <= self.columns <= MOST_COLUMNS and self.length >= 4)

    def in_last(self, x, seed):
        """A key in the last layer: has it the last column, where its window begins, its coefficients there and in
        the tail."""
        has = ((x & M32) * self.m >> 32) < self.first
        tail = tail_of(x) & ~3 | print_of(x) >> 41 + 2 * (seed % 8) & 3
        tail &= (1 << self.tail) - 1
        masked = has and self.last_column < self.m
        if self.blocks_last == 0:
            if masked:
                tail &= (1 << self.last_column) - 1
            return has, 0, 0, tail
        first, end = 0, self.blocks_last - 3
        band_with = self.last_column - self.tail
        if 0 < self.first < self.m:
            if has:
                end = max(1, (band_with + 15) // 16 - 3)
            else:
                first = min(band_with // 16, self.blocks_last - 4)
        block = first + ((x >> 32) * (end - first) >> 32)
        band = band_of(x)
        if masked:
            band &= (1 << max(0, band_with - 16 * block)) - 1
        return has, block, band, tail


def parameters(sizes, m, seed):
    result = bytes([m]) if m < 128 else bytes([m % 256, 128 + m // 256])
    if sizes:
        result += b"".join(blocks.to_bytes(3, "little") for blocks in sizes) + bytes([240 + len(sizes)])
    return result + bytes([seed])


def check_byte(length, parameters):
    check = (length * 0x9E3779B1 & M32) >> 24 ^ ENCODING
    for byte in parameters:
        check ^= byte
    return check


def frame(payload, parameters):
    return payload + parameters + bytes([check_byte(len(payload), parameters), ENCODING])


# ---- Reader ----

def parse(filter):
    """The shape, the seed and the check byte that would be right; None if the parameters do not fit."""
    at, upper = len(filter) - 4, 0
    if at >= 0 and filter[at] >= 240:
        upper = filter[at] - 240
        at -= 3 * upper + 1
    if at < 0:
        return None
    sizes = [int.from_bytes(filter[at + 1 + 3 * i:at + 4 + 3 * i], "little") for i in range(upper)]
    m = filter[at]
    if m >= 128:
        at -= 1
        m = (m - 128) * 256 + filter[at]
    shape = Shape(sizes, m, at)
    if not shape.fits():
        return None
    return shape, filter[-3], check_byte(at, filter[at:-2])


def bits(filter, at, position, count):
    begin, end = 8 * at + position, 8 * at + position + count
    return int.from_bytes(filter[begin // 8:(end + 7) // 8], "little") >> begin % 8 & (1 << count) - 1


def window(filter, shape, block, column):
    at, stride = 2 * (block * shape.columns + column), 2 * shape.columns
    return int.from_bytes(b"".join(filter[at + i * stride:at + i * stride + 2] for i in range(4)), "little")


def may_contain(filter, key):
    parsed = parse(filter)
    return parsed is None or filter[-2] != parsed[2] or may_contain_hash(filter, parsed[0], parsed[1], xxh3(key))


def may_contain_hash(filter, shape, seed, x):
    before, bumps_at = 0, shape.bumps_at
    for blocks in shape.sizes:
        s = start_of(x, blocks)
        if not is_bumped(s, filter[bumps_at + s // 15]):
            print, band = print_of(x), band_of(x)
            for j in range(shape.columns):
                if parity(window(filter, shape, before + s, j) & band) != print >> j & 1:
                    return False
            last_at = shape.m + 16 * (before + s)
            if last_at + 64 > shape.last_column:
                return True
            last = bits(filter, shape.rest_at, shape.columns * shape.tail + last_at, 64)
            return parity(last & band) == print >> shape.columns & 1
        before += blocks
        bumps_at += (blocks + 11) // 15
        x = mix(x, 0)
    x = seeded(x, seed)
    print = print_of(x)
    has, block, band, tail = shape.in_last(x, seed)
    for j in range(shape.columns):
        total = parity(bits(filter, shape.rest_at, j * shape.tail, shape.tail) & tail)
        if shape.blocks_last > 0:
            total ^= parity(window(filter, shape, before + block, j) & band)
        if total != print >> j & 1:
            return False
    if not has:
        return True
    at = shape.columns * shape.tail
    total = parity(bits(filter, shape.rest_at, at, shape.tail) & tail)
    total ^= parity(bits(filter, shape.rest_at, at + shape.tail + 16 * block, 64) & band)
    return total == print >> shape.columns & 1


# ---- Writer ----

class Equations:
    """Of one layer, in echelon form: rows[i] is an equation whose first slot is i, shifted so that this is bit 0.
    All columns are solved at once, as the bits of a number."""

    def __init__(self, slots):
        self.rows, self.prints = [0] * slots, [0] * slots

    def add(self, at, row, print):
        """The new pivot; None if the equation is not independent."""
        while row:
            zeros = (row & -row).bit_length() - 1
            at, row = at + zeros, row >> zeros
            if not self.rows[at]:
                self.rows[at], self.prints[at] = row, print
                return at
            row, print = row ^ self.rows[at], print ^ self.prints[at]
        return None

    def add_all(self, equations):
        """Adds all or, if they are not independent, none."""
        pivots = []
        for equation in equations:
            pivots.append(self.add(*equation))
            if pivots[-1] is None:
                for pivot in pivots[:-1]:
                    self.rows[pivot] = 0
                return False
        return True

    def copy(self):
        other = Equations(0)
        other.rows, other.prints = self.rows[:], self.prints[:]
        return other

    def solve(self):
        slots = [0] * len(self.rows)
        for at in range(len(slots) - 1, -1, -1):
            row, slot = self.rows[at] & ~1, self.prints[at]
            if not self.rows[at]:
                continue
            while row:
                low = row & -row
                slot ^= slots[at + low.bit_length() - 1]
                row ^= low
            slots[at] = slot
        return slots


def upper_layer(hashes, blocks):
    """The layer's slots and bumps, and the hashes in later layers of the keys that are bumped."""
    of_start = [[] for _ in range(blocks - 3)]
    for x in hashes:
        of_start[start_of(x, blocks)].append(x)
    equations, bumps, bumped = Equations(16 * blocks), [], []
    for first in range(0, blocks - 3, 15):
        starts, failed, end = range(first, min(first + 15, blocks - 3)), [], None
        for s in starts:
            # What comes after the second one that fails is not final: the third one undoes it.
            if len(failed) == 2 and end is None:
                end = equations.copy()
            if not equations.add_all((16 * s, band_of(x), print_of(x)) for x in of_start[s]):
                failed.append(s)
                if len(failed) == 3:
                    break
        one, two = ([s - first + 1 for s in failed] + [0, 0])[:2]
        if len(failed) < 2:
            byte = one << 4
        elif len(failed) == 2:
            byte = one | two << 4
        else:
            byte = two | one << 4
            equations = end
        bumps.append(byte)
        for s in starts:
            if is_bumped(s, byte):
                bumped += [mix(x, 0) for x in of_start[s]]
    return equations.solve(), bumps, bumped


def last_layer(hashes, shape, seed):
    """The slots, the band's first; None if the equations are not independent with that seed."""
    band_slots = 16 * shape.blocks_last
    equations = Equations(shape.m)

    def equation(x):
        x = seeded(x, seed)
        _, block, band, tail = shape.in_last(x, seed)
        if shape.tail > 2:
            tail = tail >> 2 | (tail & 3) << shape.tail - 2
        return 16 * block, band | tail << band_slots - 16 * block, print_of(x)

    if not equations.add_all(map(equation, hashes)):
        return None
    slots = equations.solve()
    if shape.tail > 2:
        slots = slots[:band_slots] + slots[-2:] + slots[band_slots:-2]
    return slots


def bytes_of_bits(bits):
    return int("".join(map(str, reversed(bits))) or "0", 2).to_bytes(len(bits) // 8, "little")


def assemble(shape, uppers, bumps, last, seed):
    """The filter of solved layers. uppers and bumps: for every upper layer a list."""
    band, tail = last[:16 * shape.blocks_last], last[16 * shape.blocks_last:]
    in_blocks = sum(uppers, []) + band
    payload = bytearray()
    for at in range(0, len(in_blocks), 16):
        for j in range(shape.columns):
            word = sum((in_blocks[at + i] >> j & 1) << i for i in range(16))
            payload += word.to_bytes(2, "little")
    for of_layer in bumps:
        payload += bytes(of_layer)
    rest = [slot >> j & 1 for j in range(shape.columns) for slot in tail]
    rest += [slot >> shape.columns & 1 for slot in tail + band + sum(uppers, [])][:shape.last_column]
    payload += bytes_of_bits(rest)
    assert len(payload) == shape.length
    return frame(bytes(payload), parameters(shape.sizes, shape.m, seed))


def make_ribbon(hashes, bits_per_key):
    """None where the text wants a blocked filter."""
    length = -(-math.ceil(len(hashes) * bits_per_key) // 8) + 3
    if length < 5 + 3 or len(hashes) > 1 << 28:
        return None
    sizes, uppers, bumps = [], [], []
    while len(hashes) > MOST_IN_LAST:
        m = len(hashes)
        if len(sizes) == MOST_LAYERS:
            return None
        sizes.append((m - m // 24) // 16)
        slots, of_layer, hashes = upper_layer(hashes, sizes[-1])
        uppers.append(slots)
        bumps.append(of_layer)
        if len(hashes) > m // 2:
            return None
    m = len(hashes)
    m = max(1, m + m // 100 if m > 64 else m)
    shape = Shape(sizes, m, length - 2 - len(parameters(sizes, m, 0)))
    if not shape.fits():
        return None
    for seed in range(256):
        last = last_layer(hashes, shape, seed)
        if last is not None:
            return assemble(shape, uppers, bumps, last, seed)
    return None


def make_filter(keys, bits_per_key):
    hashes = sorted({xxh3(key) for key in keys})
    return make_ribbon(hashes, bits_per_key) or blocked.filter_of_hashes(hashes, bits_per_key)


# ---- Cases ----

INVERSE_PRIME_MX2 = pow(PRIME_MX2, -1, 1 << 64)
EDGES = (0, 1, M32, 1 << 32, 1 << 63, M32 << 32, M64 - 1, M64)


def key_of_hash(h):
    """The key of 8 bytes that has this hash: XXH3 of 8 bytes, backwards."""
    h ^= h >> 28 ^ h >> 56
    h = h * INVERSE_PRIME_MX2 & M64
    h ^= (h >> 35) + 8
    h = h * INVERSE_PRIME_MX2 & M64
    for _ in range(63):
        h ^= rotl64(h, 49) ^ rotl64(h, 24)
    h ^= u64(SECRET, 8) ^ u64(SECRET, 16)
    return (h >> 32).to_bytes(4, "little") + (h & M32).to_bytes(4, "little")


def hash_where(random, good):
    while True:
        x = int.from_bytes(random.bytes(8), "little")
        if good(x):
            return x


def keys_until(good, keys):
    """The first of the sets of keys that is good."""
    for _ in range(100000):
        result = keys()
        if good(result):
            return result
    raise AssertionError("nothing found")


def seed_of(filter):
    return filter[-3] if filter[-1] == ENCODING else -1


def length_for(sizes, m, columns, last_column):
    """A payload with that many columns, and about as many slots that have the last one."""
    slots = 16 * sum(sizes) + m
    return -(-(columns * slots + last_column) // 8) + sum((blocks + 11) // 15 for blocks in sizes)


def built(random, count, upper, columns, last_column):
    """Keys and a filter of them with layers that no writer chooses: small ones, with many bumped keys."""
    for _ in range(100):
        keys = random.small_keys(count)
        hashes, sizes, uppers, bumps = sorted({xxh3(key) for key in keys}), [], [], []
        for _ in range(upper):
            sizes.append(max(4, len(hashes) // 17))
            slots, of_layer, hashes = upper_layer(hashes, sizes[-1])
            uppers.append(slots)
            bumps.append(of_layer)
        m = max(1, len(hashes) + len(hashes) // 20)
        shape = Shape(sizes, m, length_for(sizes, m, columns, last_column))
        assert shape.fits()
        for seed in range(256):
            last = last_layer(hashes, shape, seed)
            if last is not None:
                return keys, assemble(shape, uppers, bumps, last, seed)
    raise AssertionError("nothing found")


def absent_of(filter, random):
    return keys_until(lambda key: not may_contain(filter, key), lambda: random.small_keys(1)[0])


def with_right_check(filter):
    parsed = parse(filter)
    return filter[:-2] + bytes([parsed[2] if parsed else filter[-2]]) + filter[-1:]


def filter_cases(random):
    yield filter_case("hello", 40, [b"hello"], [b"hello", b"", b"world"])
    for bits_per_key in (2, 3.3, 7.25, 10, 13.7, 27.9, 40):
        for n in (0, 1, 2, 3, 4, 5, 8, 13, 20, 32, 55, 63, 64, 65, 66, 70):
            keys = random.keys(n) if n <= 3 else random.small_keys(n)
            yield filter_case("grid/b%s/n%d" % (bits_per_key, n), bits_per_key, keys, random.small_keys(5) + keys[:1])
    # Where the tail, the band and the bytes of M change.
    for n in (67, 79, 80, 81, 99, 100, 102, 103, 104, 118, 119, 120, 125, 126, 127, 128, 140, 200, 253):
        for bits_per_key in (3, 9.6):
            keys = random.small_keys(n)
            yield filter_case("band/b%s/n%d" % (bits_per_key, n), bits_per_key, keys, random.small_keys(5))
    # Around b = 5, and products that a double rounds to a whole number.
    for bits_per_key, n in ((32, 1), (32.001, 1), (33, 1), (40, 1), (16, 2), (16.01, 2), (16.5, 2), (20, 2), (10.6, 3),
                            (10.67, 3), (11, 3), (8, 4), (8.01, 4), (6.4, 5), (6.41, 5), (3.2, 10),
                            (2.2, 40), (2.2, 45), (3.3, 10), (4.35, 100), (39.999, 7), (40, 7)):
        yield filter_case("round/b%s/n%d" % (bits_per_key, n), bits_per_key, random.small_keys(n),
                          random.small_keys(4))
    for times, n in ((2, 5), (9, 5), (2, 20), (3, 64), (2, 66)):
        once = random.small_keys(n)
        yield filter_case("duplicates/%dof%d" % (n, n * times), 10, once * times, random.small_keys(4))
    for keys in ([b"one"] * 9, [b"one", b"two", b"two", b"one"] * 4, [b""] * 80):
        yield filter_case("duplicates/%dof%d" % (len(set(keys)), len(keys)), 20, keys, random.small_keys(4))

    # Hashes at the edges. The equation of hash 0 is 0 = 0 until a seed of 8 or more.
    edges = [key_of_hash(x) for x in EDGES]
    assert [xxh3(key) for key in edges] == list(EDGES)
    for bits_per_key in (9.5, 10, 12.25, 40):
        yield filter_case("edges/b%s/n8" % bits_per_key, bits_per_key, edges, random.small_keys(4))
        more = random.small_keys(72)
        yield filter_case("edges/b%s/n80" % bits_per_key, bits_per_key, edges + more, random.small_keys(4))
    yield filter_case("edges/without0", 10, edges[1:], edges[:1])

    # Seeds above 7, found by trying.
    for n, bits_per_key, least in ((5, 10, 8), (5, 10, 16), (12, 9.5, 24), (12, 9.9, 32), (33, 10, 40), (50, 10, 48),
                                   (64, 9.5, 16), (64, 12, 40), (65, 9, 32), (66, 10, 40), (70, 10, 64), (80, 9.5, 32),
                                   (80, 10, 48), (104, 9.5, 16), (120, 10, 24), (127, 10, 16), (128, 9.5, 16)):
        keys = keys_until(lambda keys: seed_of(make_filter(keys, bits_per_key)) >= least,
                          lambda: random.small_keys(n))
        yield filter_case("seed/b%s/n%d/%d" % (bits_per_key, n, least), bits_per_key, keys, random.small_keys(4))
    # 41 keys in 41 slots, of which 40 have the last column: more keys than these have it with every lower seed.
    def crowded(x, turns):
        return all((seeded(x, 8 * turn) & M32) * 41 >> 32 < 38 for turn in range(turns))

    for turns in (1, 2, 3, 5, 8, 16, 24, 30, 31):
        keys = [key_of_hash(hash_where(random, lambda x: crowded(x, turns))) for _ in range(41)]
        keys = keys_until(
            lambda keys: seed_of(make_filter(keys, 9.1)) // 8 >= turns,
            lambda: keys[:35] + [key_of_hash(hash_where(
                random, lambda x: crowded(x, turns) and not crowded(x, turns + 1))) for _ in range(6)])
        yield filter_case("crowded/%d" % turns, 9.1, keys, random.small_keys(4))
    for number in range(3):
        keys = [key_of_hash(hash_where(random, lambda x: crowded(x, 32))) for _ in range(41)]
        yield filter_case("noseed/%d" % number, 9.1, keys, random.small_keys(4))

    # Half of the keys are bumped, and one more: 1000 and 1001 of 2001.
    for count in (1000, 1001):
        starts = (2001 - 2001 // 24) // 16 - 3
        keys = [key_of_hash(hash_where(random, lambda x: start_of(x, starts + 3) in (
            range(10) if i < count else range(15, starts)))) for i in range(2001)]
        yield filter_case("bumped/%d" % count, 4, keys, random.small_keys(20))
    # Crowded starts of one bucket: one, two, more, next to each other or not; and of the last bucket.
    for crowd in ((14,), (0, 1), (0, 14), (5, 9), (0, 1, 2), (2, 7, 11), (0, 5, 14), (4, 6, 8, 10), (15, 29, 31),
                  (105, 106, 115)):
        hashes = [hash_where(random, lambda x: start_of(x, 119) in crowd) for _ in range(70 * len(crowd))]
        hashes += [hash_where(random, lambda x: start_of(x, 119) not in crowd) for _ in range(2001 - len(hashes))]
        name = "crowd/" + "-".join(map(str, crowd))
        yield filter_case(name, 3.5, [key_of_hash(x) for x in hashes], random.small_keys(20))
    # Three upper layers: the first buckets of the first two are crowded. Hash 0 is bumped in all.
    def crowd(x, n, buckets):
        return start_of(x, (n - n // 24) // 16) < 15 * buckets

    hashes = [0]
    for count, first, second in ((4290, False, None), (2060, True, False), (2044, True, True)):
        for _ in range(count):
            hashes.append(hash_where(random, lambda x: crowd(x, 8395, 3) == first and (
                second is None or crowd(mix(x, 0), 4105, 1) == second)))
    keys = [key_of_hash(x) for x in hashes]
    yield filter_case("layers/3", 3.5, keys, random.small_keys(40))


def digest_cases(random):
    for n, settings in ((128, (2, 5.5, 10, 40)), (500, (2, 9.5)), (1000, (13.7,)), (2000, (10,)), (2001, (2, 40)),
                        (2064, (5.5,))):
        for bits_per_key in settings:
            yield digest_case("splitmix_le64", bits_per_key, n, seed=random.number(1 << 40), absent_count=500)
    for n, settings in ((5000, (3, 10, 33)), (50000, (9.7,))):
        for bits_per_key in settings:
            yield digest_case("splitmix_le64", bits_per_key, n, seed=random.number(1 << 40))
    for recipe, bits_per_key, n in (
            ("pairs_le64", 10, 128), ("pairs_le64", 10, 4000), ("pairs_le64", 9.5, 4002), ("user_dec16", 13.7, 3000),
            ("dec", 9.5, 1000), ("varlen", 8, 200), ("length", 10, 301)):
        yield digest_case(recipe, bits_per_key, n, seed=2 * random.number(1 << 39), absent_count=300)
    # Bits per key at which only some upper slots have the last column, or less than the last layer's.
    for tenth in range(1, 10):
        if tenth % 2:
            yield digest_case("splitmix_le64", 8 + tenth / 10, 2100, seed=random.number(1 << 40), absent_count=300)
        yield digest_case("splitmix_le64", 4 + tenth / 10, 700, seed=random.number(1 << 40), absent_count=300)


def match_cases(random):
    def random_filter(sizes, m, columns, last_column=0, seed=0):
        return frame(random.bytes(length_for(sizes, m, columns, last_column)), parameters(sizes, m, seed))

    small = make_filter(random.small_keys(6), 10)
    no = [absent_of(small, random)]
    for damage in (*(1 << bit for bit in range(8)), *range(5, 0x100, 25)):
        yield match_case("check/%02x" % damage, small[:-2] + bytes([small[-2] ^ damage]) + small[-1:], no)
    for at, step in ((-4, 5), (-3, 5), (-1, 1)):
        for value in range(0, 0x100, step):
            filter = bytearray(small)
            if filter[at] != value:
                filter[at] = value
                yield match_case("trailer/%d/%02x" % (at, value), bytes(filter), no)

    # Values of M's byte and of the seed, with the check byte that is right.
    payload = random.bytes(100)
    for value in (*range(0, 0x80, 5), *range(0x7e, 0x8c), 0xee, 0xef, *range(0xf0, 0x100)):
        filter = with_right_check(payload + bytes([value, 5, 0, ENCODING]))
        yield match_case("m/%02x" % value, filter, random.small_keys(4))
    for m, columns in ((20, 2), (72, 1)):
        filter = random_filter([], m, columns, m // 2)
        for seed in (*range(25), 0x3f, 0x40, 0x7f, 0x80, 0xc5, 0xf7, 0xf8, 0xff):
            changed = with_right_check(filter[:-3] + bytes([seed]) + filter[-2:])
            yield match_case("seed/%d/%02x" % (m, seed), changed, random.small_keys(4))

    # All shapes of the last layer, alone and behind an upper layer; few and many slots have the last column.
    for m in (1, 2, 3, 4, 8, 16, 31, 48, 63, 64, 65, 66, 67, 79, 80, 81, 103, 104, 105, 119, 120, 121, 127, 128, 136,
              152, 255, 256, 300, 700):
        for last_column in sorted({0, 2, 3, m // 2, m - 8, m - 1} & set(range(m))):
            columns = max(1, -(-28 // m))
            filter = random_filter([], m, columns, last_column, random.number(256))
            yield match_case("shape/%d/%d" % (m, last_column), filter, random.small_keys(8))
        for last_column in (m - 1, m, m + 64, m + 90):
            filter = random_filter([5], m, 1, last_column, random.number(256))
            yield match_case("shape/%d/%d/upper" % (m, last_column), filter, random.small_keys(6))
    # All slots of the tail have the last column, and none of the band.
    for m in (67, 73, 81, 97, 105, 119, 121, 137):
        tail = Shape([], m, 0).tail
        columns = next(columns for columns in range(1, 9) if (columns * m + tail) % 8 == 0)
        filter = random_filter([], m, columns, tail, random.number(256))
        yield match_case("shape/%d/tail" % m, filter, random.small_keys(16))
    for m, columns in ((2020, 1), (28671, 1)):
        yield match_case("shape/%d" % m, random_filter([], m, columns, 400), random.small_keys(40))
    for m, sizes, columns in ((7, [], 5), (64, [], 1), (65, [], 1), (90, [], 1), (300, [], 1), (20, [4], 1),
                              (90, [5, 4], 1)):
        for last_column in (0, m // 2, m - 1):
            filter = random_filter(sizes, m, columns, last_column, random.number(8))
            yield match_case("edges/%d/%d/%d" % (m, len(sizes), last_column), filter,
                             [key_of_hash(x) for x in EDGES])

    # Layers that no writer chooses: bits by chance, and real filters.
    for upper in range(16):
        sizes = [4 + random.number(5) for _ in range(upper)]
        for m in (1, 30, 70, 130):
            filter = random_filter(sizes, m, 1, random.number(16 * sum(sizes) + m), random.number(256))
            yield match_case("layers/%d/%d" % (upper, m), filter, random.small_keys(10 + 2 * upper))
    for upper, columns, count in ((1, 3, 100), (1, 8, 300), (2, 2, 90), (2, 5, 300), (3, 4, 200), (4, 3, 300),
                                  (6, 2, 300), (8, 1, 400), (8, 2, 500), (8, 3, 300)):
        keys, filter = built(random, count, upper, columns, random.number(count))
        assert all(may_contain(filter, key) for key in keys)
        yield match_case("built/%d/%d" % (upper, count), filter, keys[:60] + random.small_keys(10))
    for columns in (1, 2, 16, 39, 40):
        for count, upper in ((40, 0), (66, 0), (40, 1), (70, 1), (90, 2)):
            keys, filter = built(random, count, upper, columns, 5)
            assert parse(filter)[0].columns == columns and all(may_contain(filter, key) for key in keys)
            yield match_case("columns/%d/%d/%d" % (columns, upper, count), filter, keys[:20] + random.small_keys(10))

    # Bumps: a layer with 17 starts, so 2 bytes; then bytes that say something about no start.
    keys, filter = built(random, 340, 1, 2, 40)
    assert parse(filter)[0].sizes == [20]
    at = parse(filter)[0].bumps_at
    for value in range(0, 256, 3):
        changed = filter[:at] + bytes([value]) + filter[at + 1:]
        yield match_case("bumps/%02x" % value, changed, keys[:16] + random.small_keys(6))
    filter = random_filter([20, 5], 30, 1)
    at = parse(filter)[0].bumps_at
    for byte in (0x00, 0x10, 0x01, 0x21, 0x33, 0xf0, 0x0f):
        for second in (0x00, 0x10, 0x21):
            changed = filter[:at] + bytes([0, byte, second]) + filter[at + 3:]
            yield match_case("bumps/unused/%02x%02x" % (byte, second), changed, random.small_keys(8))
    for blocks in (4, 10, 17, 18, 19, 20, 32, 33, 34, 35, 48, 49):
        yield match_case("bumps/blocks/%d" % blocks, random_filter([blocks], 9, 1), random.small_keys(20))

    # One bit of a trailer is another. Then the same with the check byte that is right for what can be read.
    for sizes, m, columns in (([], 20, 3), ([], 150, 1), ([4, 6], 3, 1)):
        filter = random_filter(sizes, m, columns, 3, 2)
        size = len(filter) - parse(filter)[0].length
        for bit in range(8 * size):
            changed = bytearray(filter)
            changed[-size + bit // 8] ^= 1 << bit % 8
            name = "flip/%d/%d/%d" % (len(sizes), m, bit)
            yield match_case(name, bytes(changed), random.small_keys(1))
            if bit // 8 < size - 2 and parse(bytes(changed)):
                yield match_case(name + "/right", with_right_check(bytes(changed)), random.small_keys(6))

    # Parameters that do not fit, and the nearest ones that do.
    def parametered(name, payload, parameters):
        # Several check bytes are right, one for each way to read the parameters.
        return match_case("fit/" + name, frame(payload, parameters), random.small_keys(8))

    three = b"\x04\x00\x00"
    for count in range(7):
        yield parametered("length/%d" % count, random.bytes(count), b"\x04\x00")
        yield parametered("length/two/%d" % count, random.bytes(count), b"\x04\x80\x00")
    for count in (10, 25, 40, 41, 42):
        yield parametered("columns/%d" % count, random.bytes(count), b"\x08\x00")
    for count in (9, 24, 25, 26):
        yield parametered("few/%d" % count, random.bytes(count), b"\xc8\x80\x00")
    for m in (b"\x00", b"\x00\x80", b"\x01\x80", b"\x20\x80", b"\x7f\x80", b"\x80\x80", b"\xff\x80", b"\x00\x81"):
        yield parametered("m/" + m.hex(), random.bytes(36), m + b"\x00")
        yield parametered("m/upper/" + m.hex(), random.bytes(36), m + three + b"\xf1\x00")
    for blocks in (0, 1, 2, 3, 4, 5, 6, 256, 0x10000, 0xffffff):
        yield parametered("blocks/%d" % blocks, random.bytes(16), b"\x08" + blocks.to_bytes(3, "little") + b"\xf1\x00")
        yield parametered("blocks/second/%d" % blocks, random.bytes(30),
                          b"\x08" + three + blocks.to_bytes(3, "little") + b"\xf2\x03")
        yield parametered("blocks/first/%d" % blocks, random.bytes(30),
                          b"\x08" + blocks.to_bytes(3, "little") + three + b"\xf2\x03")
    for upper in range(16):
        yield parametered("upper/%d" % upper, random.bytes(90), b"\x08" + three * upper + bytes([240 + upper, 0]))
        yield parametered("upper/cut/%d" % upper, random.bytes(4), bytes([240 + upper, 0]))
        yield parametered("upper/twice/%d" % upper, random.bytes(90),
                          b"\x08\x04" + bytes([240 + upper]) + three + b"\xf1\x00")
    # No upper layers, though there is a byte that counts them.
    yield parametered("upper/none", random.bytes(10), b"\x08\xf0\x00")
    yield parametered("upper/none/two", random.bytes(30), b"\x48\x80\xf0\x00")
    for sizes, m in (([4], 8), ([4, 5], 70)):
        filter = random_filter(sizes, m, 1)
        payload = filter[:parse(filter)[0].length]
        for less in (1, 2, 3):
            yield parametered("short/%d/%d" % (m, less), payload[less:], parameters(sizes, m, 0))
    for filter in (b"", b"\x71", b"\x01\x71", b"\x71\x71", b"\x71" * 3, b"\x71" * 4, b"\x71" * 5, bytes(5) + b"\x71",
                   frame(b"", b"\x00"), frame(b"", b"\x01\x00"), frame(b"\x00", b"\x01\x00"),
                   frame(b"", b"\x80\x00"), frame(b"", b"\xf0\x00"), frame(b"", b"\xf1\x00"),
                   frame(bytes(3), b"\x01\x00"), frame(bytes(4), b"\x01\x00"), frame(b"\xff" * 4, b"\x01\x00")):
        yield match_case("short/" + filter.hex(), filter, random.small_keys(4) + [b""])

    for name, keys, filter in (("plain", *built(random, 20, 0, 9, 3)),
                                ("upper", *built(random, 130, 1, 3, 50))):
        for cut in (1, 2, 3, 4, 5, 10):
            yield match_case("cut/%s/end/%d" % (name, cut), filter[:-cut], keys[:6] + random.small_keys(4))
            yield match_case("cut/%s/start/%d" % (name, cut), filter[cut:], keys[:6] + random.small_keys(4))
        for more in (b"\x00", b"\xff", b"\x71", b"\x06\x71", b"\x06\x71\x71", b"\x62"):
            yield match_case("longer/%s/start/%s" % (name, more.hex()), more + filter, keys[:6] + random.small_keys(4))
            yield match_case("longer/%s/end/%s" % (name, more.hex()), filter + more, keys[:6] + random.small_keys(4))
            # The payload is longer, and the trailer fits.
            shape = parse(filter)[0]
            yield match_case("longer/%s/payload/%s" % (name, more.hex()),
                             with_right_check(filter[:shape.length] + more + filter[shape.length:]),
                             keys[:6] + random.small_keys(4))
    # The second byte of M behind upper layers is 240 or more.
    yield parametered("m/large", random.bytes(4200), b"\x04\xf2" + three + b"\xf1\x00")


if __name__ == "__main__":
    main(__doc__, Encoding(make_filter, {blocked.ENCODING: blocked.may_contain, ENCODING: may_contain}),
         (filter_cases, digest_cases, match_cases))
