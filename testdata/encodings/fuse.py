#!/usr/bin/env python3
"""Binary fuse filters, written from the text in policy/doc.go alone: the second opinion on the Go code.

    python3 fuse.py > fuse.jsonl            writes the pinned cases
    python3 fuse.py check < fuse.jsonl      computes the answers of all cases anew and compares

README.md in this folder explains the cases.
"""

import functools
import math
from decimal import ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction

import blocked
from cases import ANSWERS, Encoding, digest_case, filter_case, made_case, main, match_case
from xxh3 import M64, xxh3

ENCODING, VERSION = 0x46, 0x01
TRAILER = 16
LEAST_E, LARGEST_E = 2, 18
WIDTHS = (8, 12, 16)

# From so many bits per key on, a blocked Bloom filter has fewer false positives than cells of that width: of one line, of more.
BLOCKED_FROM = {8: (11.625, 12.25), 12: (17.75, 19.5), 16: (23.75, 28.25)}
MOST_HASHES = 1 << 29

ATTEMPTS = 64
FIRST_STATE = 1
MOST_KEYS_OF_A_CELL = 63


# ---- Sizes ----

def segment_bits(n):
    """The largest e with 3.33^(e - 2.25) <= n, raised to the fourth power to be exact."""
    return max((e for e in range(LEAST_E, LARGEST_E + 1) if Fraction(333, 100) ** (4 * e - 9) <= n ** 4), default=LEAST_E)


def capacity(n):
    if n < 2:
        return 0
    with localcontext() as context:
        context.prec = 50
        factor = max(Decimal("1.125"), Decimal("0.875") + Decimal("0.25") * Decimal(1000000).ln() / Decimal(n).ln())
        return int((n * factor).to_integral_value(ROUND_HALF_UP))


@functools.lru_cache(maxsize=None)
def geometry(n):
    """e and the number of segments for n different hashes."""
    e = segment_bits(n)
    return e, max(3, -(-capacity(n) // (1 << e))) - 2


def payload_length(e, segments, width):
    return -(-(segments + 2 << e) * width // 8)


def width_for(n, bits_per_key):
    """The width of the cells; 0 if the filter is to be a blocked Bloom filter."""
    most = -(-math.ceil(n * bits_per_key) // 8)
    if n > MOST_HASHES:
        return 0
    width = max((w for w in WIDTHS if payload_length(*geometry(n), w) <= most), default=0)
    if width:
        of_blocked = blocked.payload_length(n, bits_per_key)
        if 8 * of_blocked >= Fraction(BLOCKED_FROM[width][of_blocked > blocked.LONGEST_SINGLE_LINE]) * n:
            return 0
    return width


# ---- A key's cells and fingerprint ----

def mixed(h, seed):
    x = (h + seed) & M64
    x = (x ^ x >> 33) * 0xff51afd7ed558ccd & M64
    x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53 & M64
    return x ^ x >> 33


def cells_of(x, e, segments):
    size = 1 << e
    c0 = x * segments * size >> 64
    return c0, c0 + size ^ (x >> 18) % size, c0 + 2 * size ^ x % size


def fingerprint(x, width):
    return (x ^ x >> 32) % (1 << width)


# ---- Making a filter ----

def attempts(n):
    """The seeds to try, each with e and segments."""
    e, segments = geometry(n)
    state = FIRST_STATE
    for attempt in range(1, ATTEMPTS + 1):
        state = state + 0x9e3779b97f4a7c15 & M64
        z = (state ^ state >> 30) * 0xbf58476d1ce4e5b9 & M64
        z = (z ^ z >> 27) * 0x94d049bb133111eb & M64
        z = z ^ z >> 31
        if attempt % 4 == 2 and 5 <= n <= 999999:
            yield z, e - 1, 2 * segments + 2
        else:
            yield z, e, segments


def own_cells(mixed_hashes, e, segments):
    """Pairs of a mixed hash and the cell that is its own, in the order they are found; None if some get none."""
    # The keys that are left of each cell: how many, and all of them by exclusive or, which of a single one is itself.
    count = [0] * (segments + 2 << e)
    left = [0] * len(count)
    for x in mixed_hashes:
        for c in cells_of(x, e, segments):
            count[c] += 1
            left[c] ^= x
    if max(count) > MOST_KEYS_OF_A_CELL:
        return None

    found = []
    stack = [c for c in range(len(count)) if count[c] == 1]
    while stack:
        own = stack.pop()
        if count[own] == 0:
            continue
        x = left[own]
        found.append((x, own))
        cells = cells_of(x, e, segments)
        at = cells.index(own)
        for c in (cells[(at + 1) % 3], cells[(at + 2) % 3]):
            count[c] -= 1
            left[c] ^= x
            if count[c] == 1:
                stack.append(c)
    return found if len(found) == len(mixed_hashes) else None


def contents(hashes, seed, e, segments, width):
    """The cells of a filter of these hashes; None if the seed does not suit them."""
    found = own_cells([mixed(h, seed) for h in hashes], e, segments)
    if found is None:
        return None
    cells = [0] * (segments + 2 << e)
    for x, own in reversed(found):
        c0, c1, c2 = cells_of(x, e, segments)
        cells[own] = fingerprint(x, width) ^ cells[c0] ^ cells[c1] ^ cells[c2]
    return cells


def trailer(seed, e, segments, width, version=VERSION):
    return seed.to_bytes(8, "little") + segments.to_bytes(4, "little") + bytes([e, width, version, ENCODING])


def pack(cells, width):
    payload = bytearray()
    for i in range(0, len(cells), 8):
        bits = sum(cell << j * width for j, cell in enumerate(cells[i:i + 8]))
        payload += bits.to_bytes(-(-len(cells[i:i + 8]) * width // 8), "little")
    return bytes(payload)


def encode(cells, seed, e, segments, width):
    return pack(cells, width) + trailer(seed, e, segments, width)


def make_filter(keys, bits_per_key):
    hashes = sorted({xxh3(key) for key in keys})
    width = width_for(len(hashes), bits_per_key)
    if width:
        for seed, e, segments in attempts(len(hashes)):
            cells = contents(hashes, seed, e, segments, width)
            if cells is not None:
                return encode(cells, seed, e, segments, width)
    return blocked.filter_of_hashes(hashes, bits_per_key)


# ---- Reading one ----

def cell(filter, i, width):
    first, end = i * width, i * width + width
    return (int.from_bytes(filter[first // 8:-(-end // 8)], "little") >> first % 8) % (1 << width)


def may_contain(filter, key):
    if filter[-2] != VERSION or len(filter) < TRAILER:
        return True
    seed, segments = int.from_bytes(filter[-16:-8], "little"), int.from_bytes(filter[-8:-4], "little")
    e, width = filter[-4], filter[-3]
    if width not in WIDTHS or not LEAST_E <= e <= LARGEST_E or segments == 0:
        return True
    if len(filter) != payload_length(e, segments, width) + TRAILER:
        return True
    x = mixed(xxh3(key), seed)
    c0, c1, c2 = cells_of(x, e, segments)
    return cell(filter, c0, width) ^ cell(filter, c1, width) ^ cell(filter, c2, width) == fingerprint(x, width)


# ---- Cases ----

def answer_size(_, case):
    case["e"], case["segments"] = geometry(case["n"])
    case["width"] = width_for(case["n"], case["bits_per_key"])


def size_case(n, bits_per_key):
    return {"kind": "size", "name": "size/n%d/b%s" % (n, bits_per_key), "n": n, "bits_per_key": bits_per_key}


def below(setting):
    return math.nextafter(setting, 0)


def fitting(n, width):
    """A setting at which cells of that width just do not fit for n hashes, and two larger ones at which they do."""
    bits = 8 * payload_length(*geometry(n), width)
    return (bits - 8.5) / n, (bits - 7.5) / n, bits / n


def first_of(e):
    """The smallest n with that e."""
    return next(n for n in range(int(3.33 ** (e - 2.25)), 1 << 30) if segment_bits(n) == e)


def size_cases(random):
    for n in (*range(11), 100, 1000):
        yield size_case(n, 11.5)
    for e in range(LEAST_E + 1, LARGEST_E + 1):
        for n in (first_of(e) - 1, first_of(e)):
            yield size_case(n, 10)
    for n in (999999, 1000000, 1000001, MOST_HASHES, MOST_HASHES + 1):
        yield size_case(n, 9.5)

    # 1.125 * n ends in .5, and decides whether there is one more segment.
    for n in (1000000, 1200000, 10000000):
        while 9 * n % (8 << segment_bits(n)) != 4:
            n += 1
        for near in (n - 1, n, n + 1):
            yield size_case(near, 10)

    for n in (1030, 20000, 1000000, 50000000):
        for width in WIDTHS:
            for bits_per_key in fitting(n, width):
                yield size_case(n, bits_per_key)
    for n in (1000, 30000, 2000000):
        for _, setting in BLOCKED_FROM.values():
            for bits_per_key in (below(setting), setting):
                yield size_case(n, bits_per_key)
    # Around the numbers of bits from which on blocked Bloom is better, of one line and of the first length of more.
    for width, settings in BLOCKED_FROM.items():
        for one_line, setting in zip((True, False), settings):
            for length in (1280, 1279, 1278) if one_line else (1344, 2048, 12800):
                for n in range(int(8 * length / setting) - 1, int(8 * length / setting) + 3):
                    yield size_case(n, 8 * length / n)
    for n, bits_per_key in ((1024, 10), (1025, 10), (1024, math.nextafter(10, 11)), (890, 11.5), (891, 11.5),
                            (365, 28), (366, 28), (100000, 8), (100000, 8.9), (1000, 0.5), (1000000, 1000)):
        yield size_case(n, bits_per_key)


# Seeds of splitmix_le64 for which the writer needs that many attempts, found by trying: attempts, n, seed.
REPEATED = ((2, 927, 11000033), (3, 927, 1000003), (3, 1500, 23000069), (5, 4376, 58000174), (6, 4376, 1000003),
            (10, 4790, 58000174))


def made_cases(random):
    for recipe, bits_per_key, n in (("splitmix_le64", 11.5, 1000), ("user_dec16", 12, 900), ("splitmix_le64", 18, 620),
                                    ("varlen", 19, 600), ("splitmix_le64", 24, 500), ("dec", 28, 400)):
        yield made_case(recipe, bits_per_key, n, seed=random.number(1 << 40))
    yield made_case("pairs_le64", 11, 2200, seed=random.number(1 << 40))
    for attempts, n, seed in REPEATED[:2]:
        yield made_case("splitmix_le64", 12, n, seed=seed, name="%s/b%s/n%d/attempts{}".format(attempts))


def digest_cases(random):
    for attempts, n, seed in REPEATED:
        for bits_per_key in (12, 19, 24):
            yield digest_case("splitmix_le64", bits_per_key, n, seed=seed, name="%s/b%s/n%d/attempts{}".format(attempts))

    # Where the choice changes: one line, settings that suffice for a width, and those from which on Bloom is better.
    for bits_per_key, n in ((10, 1024), (10, 1025), (11.5, 890), (11.5, 891), (28, 365), (28, 366)):
        yield digest_case("splitmix_le64", bits_per_key, n, seed=random.number(1 << 40))
    for n in (1030, 5000):
        for width in WIDTHS:
            for bits_per_key in fitting(n, width):
                yield digest_case("splitmix_le64", bits_per_key, n, seed=random.number(1 << 40))
    for n in (1030, 5000):
        for _, setting in BLOCKED_FROM.values():
            for bits_per_key in (below(setting), setting):
                yield digest_case("splitmix_le64", bits_per_key, n, seed=random.number(1 << 40))
    for bits_per_key, n in ((11.25, 910), (17.25, 537), (17.5, 537), (23.5, 349), (11.5, 537)):  # in 1280 bytes and less
        yield digest_case("splitmix_le64", bits_per_key, n, seed=random.number(1 << 40))
    for e in range(7, 11):
        for n in (first_of(e) - 1, first_of(e)):
            yield digest_case("splitmix_le64", 16, n, seed=random.number(1 << 40))

    for recipe, bits_per_key, n in (
            ("user_dec16", 10.5, 10000), ("dec", 10, 12345), ("varlen", 16, 3000), ("varlen", 27.5, 7000),
            ("dec", 21.1, 9000), ("splitmix_le64", 10, 20000), ("splitmix_le64", 10, 100000),
            ("user_dec16", 15, 60000), ("splitmix_le64", 24, 40000), ("splitmix_le64", 10, 140000),
            ("splitmix_le64", 1, 20000)):
        yield digest_case(recipe, bits_per_key, n, seed=random.number(1 << 40))

    # Every second key is the one before: n is half as large, for the writer.
    for bits_per_key, n in ((12, 1780), (12, 2000), (10, 5000), (23, 8000), (20, 9000)):
        yield digest_case("pairs_le64", bits_per_key, n, seed=random.number(1 << 40))
    yield digest_case("length", 27, 700, seed=random.number(1 << 40), absent_count=100)


def filter_cases(random):
    """Few keys: blocked Bloom filters all."""
    yield filter_case("hello", 10, [b"hello"], [b"hello", b"", b"world"])
    for bits_per_key in (9, 12.5, 20, 400):
        for n in (0, 1, 2, 3, 9):
            yield filter_case("few/b%s/n%d" % (bits_per_key, n), bits_per_key, random.small_keys(n), random.small_keys(4))
    once, twice = random.small_keys(2)
    for keys in ([once] * 2, [once] * 9, [once, twice, twice, once, twice], [b""] * 3, [once] * 300):
        yield filter_case("duplicates/%dof%d" % (len(set(keys)), len(keys)), 10, keys, random.small_keys(4))
    # As many bits as would be a line of more than 1280 bytes, but not once equal hashes count once.
    yield filter_case("duplicates/long", 1000, [once] * 11, random.small_keys(4))
    yield filter_case("duplicates/lines", 6000, [once, twice, once], random.small_keys(4))


def small_filter(random, keys, e, segments, width):
    """A filter that no writer makes, since it is too small, but that any reader reads."""
    while True:
        seed = random.number(1 << 64)
        cells = contents([xxh3(key) for key in keys], seed, e, segments, width)
        if cells is not None:
            return encode(cells, seed, e, segments, width)


def match_cases(random):
    def empty(payload, e=2, segments=1, width=8, version=VERSION):
        """Nothing but zeros: what a reader that reads the cells says is mostly no."""
        return bytes(payload) + trailer(random.number(1 << 64), e, segments, width, version)

    def probes():
        return random.small_keys(3)

    for width in WIDTHS:
        for e, segments in ((2, 1), (2, 2), (2, 30), (2, 300), (3, 1), (3, 5), (4, 1), (4, 6), (5, 1), (5, 3), (6, 1),
                            (7, 1), (8, 1)):
            keys = random.small_keys(min(5 + segments // 3, 12))
            yield match_case("small/w%d/e%d/%d" % (width, e, segments), small_filter(random, keys, e, segments, width),
                             keys + random.small_keys(6))
        for seed in (0, 1, M64):
            keys = random.small_keys(1)
            cells = contents([xxh3(keys[0])], seed, 2, 1, width)
            yield match_case("seed/w%d/%x" % (width, seed), encode(cells, seed, 2, 1, width), keys + probes())
        for payload in (b"\xff", b"\x01", b"\x80"):
            size = payload_length(4, 1, width)
            yield match_case("cells/w%d/%s" % (width, payload.hex()), payload * size + empty(0, 4, 1, width),
                             random.small_keys(6))

    # A bit of the trailer is another. Where this makes another encoding, its reader answers.
    keys = random.small_keys(4)
    for width in WIDTHS:
        filter = small_filter(random, keys, 3, 2, width)
        for i in range(1 if width == 8 else 5, 9):
            for bit in range(8):
                other = bytearray(filter)
                other[-i] ^= 1 << bit
                yield match_case("flip/w%d/%d/%d" % (width, i, bit), bytes(other), keys[:2] + random.small_keys(2))

    for version in [0, *range(2, 10), 0x46, 0x7f, 0x80, 0x81, 0xfe, 0xff]:
        yield match_case("version/%02x" % version, empty(12, version=version), random.small_keys(1))
    for width in [*range(34), 40, 48, 63, 64, 65, 96, 127, 128, 136, 140, 144, 255]:
        yield match_case("width/%d" % width, empty(payload_length(2, 1, width), width=width), probes())
    for e in range(9):
        for width in WIDTHS:
            yield match_case("e/%d/w%d" % (e, width), empty(payload_length(e, 1, width), e, 1, width), probes())
    for e in [*range(3, 36), 63, 64, 65, 66, 67, 127, 128, 130, 254, 255]:
        yield match_case("e/%d/unfit" % e, empty(12, e), random.small_keys(1))
    for width in WIDTHS:
        yield match_case("segments/0/w%d" % width, empty(payload_length(2, 0, width), 2, 0, width), probes())

    # The cells would fit if numbers ended at 32 bits.
    for e, segments, payload in ((2, 0xffffffff, 4), (2, 0xfffffffe, 0), (2, (1 << 30) + 1, 12), (2, (1 << 27) + 1, 12),
                                 (18, (1 << 14) - 2, 0), (18, (1 << 11) - 2, 0), (3, (1 << 29) + 1, 24), (16, 0xfffffffe, 0)):
        for width in WIDTHS:
            yield match_case("segments/%x/e%d/w%d" % (segments, e, width), empty(payload * width // 8, e, segments, width),
                             probes())

    for width in WIDTHS:
        fits = payload_length(2, 1, width)
        for payload in sorted({0, 1, fits - 4, fits - 2, fits - 1, fits, fits + 1, fits + 2, fits + 4, 2 * fits, 12, 18, 24}):
            yield match_case("payload/w%d/%d" % (width, payload), empty(payload, width=width), probes())

    filter = small_filter(random, keys, 2, 2, 8)
    for length in range(len(filter)):
        yield match_case("short/%d" % length, filter[len(filter) - length:], keys[:1] + probes())
    for cut in range(1, 17):
        yield match_case("cut/end/%d" % cut, filter[:-cut], keys[:1] + probes())
    for more in (b"\x00", b"\xff", b"\x46", b"\x01\x46", b"\x08\x01\x46"):
        yield match_case("longer/start/" + more.hex(), more + filter, keys[:1] + probes())
        yield match_case("longer/end/" + more.hex(), filter + more, keys[:1] + probes())
    for filter in (b"\x46", b"\x01\x46", b"\x46\x46", b"\x00\x46", b"\x08\x01\x46", b"\x46" * 16, b"\x46" * 28,
                   bytes(15) + b"\x46", bytes(27) + b"\x46"):
        yield match_case("bytes/%s" % filter.hex(), filter, probes() + [b""])


if __name__ == "__main__":
    main(__doc__, Encoding(make_filter, {blocked.ENCODING: blocked.may_contain, ENCODING: may_contain}),
         (size_cases, made_cases, digest_cases, filter_cases, match_cases), {**ANSWERS, "size": answer_size})
