"""Ribbon filters, last byte 0x73, from the text of the format: a reader, a writer, and the cases of ribbon.jsonl."""

from fractions import Fraction
import functools
import math

from cases import Encoding, digest_case, filter_case, leveldb_filter, main, match_case
from xxh3 import M32, M64, PRIME_MX2, SECRET, rotl64, u32, u64, xxh3

LAST_BYTE = 0x73
BLOOM = 63  # the seed that says so


# ---- A key in a shard ----

class Equation:
    def __init__(self, x, m, s):
        M = (0x9e3779b97f4a7c15 * (8 * (s // 8) + 7) & M64) & (1 << 56) - 1 | 0xff << 56
        self.V = x * M & M64
        self.F = x * M >> 64 ^ self.V
        last = max(0, m - 57) // 8
        d = (self.F >> 52) * (last + 7) // 4096 - 3
        self.turned = d < 0
        self.start = min(max(d, 0), last)
        E = max(0, 8 * self.start + 64 - m)
        self.span = self.V >> E
        if self.turned:
            self.span ^= self.F >> 41 + s % 8 & 15

    def coefficients(self):
        """Bit i is slot i's."""
        return self.span << 8 * self.start


class Shape:
    """How the bits of m slots lie in P bytes."""

    def __init__(self, m, P):
        self.m, self.P = m, P
        self.b, self.r = m // 8, m % 8
        self.G = P // m
        self.D = 8 * (P % m) // m
        self.C = 8 * self.G + self.D
        self.Q = max(0, P - self.G * m - self.D * self.b - ((self.D + 1) * self.r + 7) // 8)

    def place(self, slot, column):
        """The bit of the shard, or None if the slot does not have the column."""
        group, j = divmod(column, 8)
        if group < self.G:
            if slot < 8 * self.b:
                return 8 * (group * self.m + slot // 8 * 8 + j) + slot % 8
            return 8 * (group * self.m + slot) + j
        j = column - 8 * self.G
        singles = 8 * self.G * self.m
        if j < self.D:
            if slot < 8 * self.b:
                return singles + 8 * j * self.b + slot
            return 8 * self.P - (j + 1) * self.r + slot - 8 * self.b
        if j == self.D and slot < 8 * self.Q:
            return singles + 8 * self.D * self.b + slot
        return None


def bloom_bits(x, m, P):
    e = Equation(x, m, BLOOM)
    Y = e.F
    for _ in range((11 * P + m) // (2 * m)):
        yield Y * 8 * P >> 64
        Y = (Y + e.V) & M64


# ---- The reader ----

def parity(x):
    return bin(x).count("1") & 1


@functools.lru_cache(maxsize=64)
def columns(shard, m):
    """Every column as a number whose bit i is slot i's. (The writer places bit by bit, so one checks the other.)"""
    shape = Shape(m, len(shard))
    b, r, G, D = shape.b, shape.r, shape.G, shape.D
    found = []
    for g in range(G):
        group = shard[g * m:(g + 1) * m]
        for j in range(8):
            column = int.from_bytes(group[j:8 * b:8], "little")
            for i in range(r):
                column |= (group[8 * b + i] >> j & 1) << 8 * b + i
            found.append(column)
    everything = int.from_bytes(shard, "little")
    for j in range(D):
        at = G * m + j * b
        rest = everything >> 8 * len(shard) - (j + 1) * r & (1 << r) - 1
        found.append(int.from_bytes(shard[at:at + b], "little") | rest << 8 * b)
    at = G * m + D * b
    found.append(int.from_bytes(shard[at:at + shape.Q], "little"))
    return found


def in_shard(shard, m, s, x):
    P = len(shard)
    if s == BLOOM:
        return all(shard[p // 8] >> p % 8 & 1 for p in bloom_bits(x, m, P))
    shape = Shape(m, P)
    e = Equation(x, m, s)
    count = shape.C
    if e.start + 8 <= shape.Q:
        count += 1
    values = columns(shard, m)
    return all(parity(values[j] >> 8 * e.start & e.span) == e.F >> j & 1 for j in range(count))


def octet_begin(f, A, W):
    return A * f + min(f, W)


def check_of(filter):
    """What the last 8 bytes must add up to."""
    return (len(filter) * 0x9e3779b1 & M32) >> 24


def sum_of_last_8(filter):
    sum = 0
    for byte in filter[-8:]:
        sum ^= byte
    return sum


def read(filter, key):
    if len(filter) < 12 or sum_of_last_8(filter) != check_of(filter):
        return True
    x = xxh3(key)
    word = int.from_bytes(filter[-4:-2], "little")
    if word % 1024 != 0:
        shard, m, s = filter[:-4], word % 1024, word // 1024
        if m < 8 or Shape(m, len(shard)).C > 40:
            return True
        return in_shard(shard, m, s, x)
    A = word // 1024
    S = u32(filter, len(filter) - 8)
    N = len(filter) - 8 - 4 * (S + 1)
    if S == 0 or A > 40 or N < 0:
        return True
    B = u32(filter, N + 4 * S) // 64
    W = N - A * B
    if W < 0:
        return True
    number = (x & M32) * S >> 32
    f, s = divmod(u32(filter, N + 4 * number), 64)
    f2 = u32(filter, N + 4 * (number + 1)) // 64
    if f2 < f + 8 or f2 > B:
        return True
    return in_shard(filter[octet_begin(f, A, W):octet_begin(f2, A, W)], 8 * (f2 - f), s, x)


# ---- The writer ----

def solve(hashes, m, s):
    """The values of the slots (bit j is column j's), or None if the seed does not suit."""
    rows = {}  # by pivot
    for x in hashes:
        e = Equation(x, m, s)
        coefficients, fingerprint = e.coefficients(), e.F & (1 << (52 if e.turned else 41)) - 1
        while coefficients:
            pivot = coefficients.bit_length() - 1
            if pivot not in rows:
                rows[pivot] = coefficients, fingerprint
                break
            coefficients ^= rows[pivot][0]
            fingerprint ^= rows[pivot][1]
        if coefficients == 0 and fingerprint != 0:
            return None
    values = [0] * m
    for slot in sorted(rows):
        coefficients, value = rows[slot]
        coefficients ^= 1 << slot
        while coefficients:
            other = coefficients.bit_length() - 1
            value ^= values[other]
            coefficients ^= 1 << other
        values[slot] = value
    return values


def solved_shard(values, m, P):
    shape = Shape(m, P)
    shard = bytearray(P)
    for slot in range(m):
        for column in range(shape.C + 1):
            p = shape.place(slot, column)
            if p is not None and values[slot] >> column & 1:
                shard[p // 8] |= 1 << p % 8
    return bytes(shard)


def bloom_shard(hashes, m, P):
    shard = bytearray(P)
    for x in hashes:
        for p in bloom_bits(x, m, P):
            shard[p // 8] |= 1 << p % 8
    return bytes(shard)


def make_shard(hashes, m, P, seeds=range(56)):
    """The seed and the bytes."""
    if len(hashes) <= 1000:
        for s in seeds:
            values = solve(hashes, m, s)
            if values is not None:
                return s, solved_shard(values, m, P)
    return BLOOM, bloom_shard(hashes, m, P)


def seal(body):
    """Adds the last two bytes."""
    filter = bytearray(body + bytes([0, LAST_BYTE]))
    filter[-2] = sum_of_last_8(filter) ^ check_of(filter)
    return bytes(filter)


def seal_one(shard, m, s):
    return seal(shard + (m + 1024 * s).to_bytes(2, "little"))


def seal_many(shards, index, A, S=None):
    """The index has numbers, and shards are all bytes before it."""
    S = len(index) - 1 if S is None else S
    return seal(shards + b"".join(i.to_bytes(4, "little") for i in index) + S.to_bytes(4, "little")
                + (1024 * A).to_bytes(2, "little"))


def by_shard(hashes, S):
    shards = [[] for _ in range(S)]
    for x in hashes:
        shards[(x & M32) * S >> 32].append(x)
    return shards


def make_many(hashes, octets, A, N, seeds=range(56), first=0):
    """A filter whose shards have these numbers of octets, in N bytes."""
    B = first + sum(octets)
    W = N - A * B
    payload, index, f = bytearray(N), [], first
    for shard, size in zip(by_shard(hashes, len(octets)), octets):
        begin, end = octet_begin(f, A, W), octet_begin(f + size, A, W)
        s, payload[begin:end] = make_shard(shard, 8 * size, end - begin, seeds)
        index.append(64 * f + s)
        f += size
    assert len(payload) == N
    return seal_many(bytes(payload), index + [64 * B], A)


def make_filter(keys, bits_per_key):
    n = len(keys)
    m = max(8, n)
    payload = max(8, -(-math.ceil(m * bits_per_key) // 8))
    if n == 0:
        return leveldb_filter(keys, n, bits_per_key)
    hashes = [xxh3(key) for key in keys]
    if n > 700:
        S = max(2, (n + 250) // 500)
        octets = [max(64, -(-len(shard) // 8) * 8) // 8 for shard in by_shard(hashes, S)]
        N = payload - 4 * (S + 1)
        return make_many(hashes, octets, min(40, N // sum(octets)), N)
    shape = Shape(m, payload)
    if shape.Q < 8:
        payload = max(8, -(-shape.C * m // 8))
    s, shard = make_shard(hashes, m, payload)
    return seal_one(shard, m, s)


RIBBON = Encoding(make_filter, {LAST_BYTE: read})


# ---- Keys whose hash is chosen: XXH3 of 8 bytes takes every value once ----

def key_of_hash(h):
    inverse = pow(PRIME_MX2, -1, 1 << 64)
    x = h ^ h >> 28 ^ h >> 56
    x = x * inverse & M64
    x ^= (x >> 35) + 8
    x = x * inverse & M64
    for _ in range(63):  # the step's 64th power changes nothing
        x ^= rotl64(x, 49) ^ rotl64(x, 24)
    x ^= u64(SECRET, 8) ^ u64(SECRET, 16)
    key = (x >> 32).to_bytes(4, "little") + (x & M32).to_bytes(4, "little")
    assert xxh3(key) == h
    return key


def number64(random):
    return int.from_bytes(random.bytes(8), "little")


# ---- Cases of filters that are made ----

NOBODY = [b"", b"a", b"hello", b"user0000000000000001"]


def made(name, bits_per_key, keys, random, absent=4):
    return filter_case(name, bits_per_key, keys, random.small_keys(absent))


def example(random):
    letters = [b"%c" % c for c in b"abcdefghijklmnop"]
    yield filter_case("example/ribbon", 9, letters[:9], letters)
    yield filter_case("example/hello", 10, [b"hello"], letters[:4])


def numbers(random):
    """Every number of keys from 0 to 70."""
    for n in range(71):
        yield made("numbers/n%d" % n, (10, 3.6, 7.25, 18)[n % 4], random.small_keys(n), random)
    for bits_per_key in (2, 4.9, 11.3, 40):
        for n in range(71):
            yield digest_case("varlen", bits_per_key, n, seed=random.number(1 << 20), absent_count=100)


def settings(random):
    """2 to 40 bits."""
    for n in (8, 12, 33):
        for bits_per_key in (2, 2.5, 3, 5.5, 6, 7.9, 8.1, 12.75, 15, 16.1, 20, 24, 29.97, 33.3, 39, 39.9, 40):
            yield made("settings/b%s/n%d" % (bits_per_key, n), bits_per_key, random.small_keys(n), random)
    for n in (75, 128, 255, 256, 257, 500, 697, 698, 699, 700):
        for bits_per_key in (2, 3.1, 6, 7.6, 9.9, 10, 13.5, 16.4, 22, 31.7, 39.95, 40):
            yield digest_case("splitmix_le64", bits_per_key, n, seed=random.number(1 << 20), absent_count=200,
                              name="settings/%s/b%s/n%d")


def many(random):
    """More than 700 keys."""
    for n in (701, 702, 749, 750, 751, 1249, 1250, 1251, 1749, 1750, 2000):
        for bits_per_key in (2, 5.3, 10, 16.7, 40):
            if n < 1300 or bits_per_key in (5.3, 10):
                yield digest_case("user_dec16", bits_per_key, n, seed=random.number(1 << 20), absent_count=300)
    yield digest_case("dec", 9.9, 3500, absent_count=1000)
    yield digest_case("splitmix_le64", 10, 5000, absent_count=1000)


def column(random):
    """Q, the P of column C, around 8 and more, for every r."""
    for n in (64, 71, 79, 95, 96, 97, 98, 99, 100, 101, 102, 103, 140, 203, 333):
        wanted = {0, 6, 7, 8, 9, 10, n // 8 - 1, n // 8}
        for P in range(n // 4 + 2, 3 * n // 2):  # at least 2 bits per key
            Q = Shape(n, P).Q
            bits_per_key = round((8 * P - 4) / n, 4)
            if Q in wanted and -(-math.ceil(n * bits_per_key) // 8) == P and random.number(4) == 0:
                wanted.discard(Q)
                yield digest_case("dec", bits_per_key, n, seed=random.number(1 << 20), absent_count=100,
                                  name="column/Q%d/%%s/b%%s/n%%d" % Q)
    for n in (80, 81, 87, 96):
        P = next(P for P in range(n + n // 8, 2 * n) if Shape(n, P).Q >= 8)
        bits_per_key = round((8 * P - 4) / n, 3)
        yield made("column/b%s/n%d" % (bits_per_key, n), bits_per_key, random.small_keys(n), random)


def left(random):
    """r = 0 to 7 slots remain, with 0 to 7 single columns."""
    for r in range(8):
        for D in range(8):
            n = (16, 56, 64, 120)[(r + D) % 4] + r
            bits_per_key = 8 * (r % 3) + D + 0.01
            if bits_per_key >= 2:
                yield digest_case("splitmix_le64", bits_per_key, n, seed=random.number(1 << 20), absent_count=100,
                                  name="left/r%d/D%d/%%s/b%%s/n%%d" % (r, D))


def few_bytes(random):
    """A payload around 8 bytes; less is made 8, before and after it is shortened."""
    for n, bits_per_key in ((8, 7), (8, 7.1), (8, 8), (9, 6.3), (9, 7), (9, 7.2), (13, 4.3), (13, 4.9), (21, 2.9),
                            (21, 3), (22, 2.6), (22, 2.9), (23, 2.7), (24, 2.7), (26, 2.4), (28, 2), (28, 2.05),
                            (28, 2.3), (29, 2), (30, 2.9), (31, 2), (32, 2), (33, 2), (7, 40), (1, 2), (1, 8.1), (1, 40), (2, 16),
                            (3, 10), (4, 7.9), (5, 9.3), (6, 22.7), (7, 8), (11, 5.9), (23, 2.75)):
        yield made("few_bytes/b%s/n%d" % (bits_per_key, n), bits_per_key, random.small_keys(n), random)


def rounded(random):
    """Products that are above a whole number of bytes only before, or only after, a double rounds them."""
    exact, inexact = 0, 0
    for n in list(range(9, 60)) + list(range(701, 760)):
        for hundredths in range(200, 4000):
            if n * hundredths % 800 == 0:
                bits_per_key = hundredths / 100
                product, true = n * bits_per_key, n * Fraction(bits_per_key)
                if product > n * hundredths // 100:
                    kind, exact = "above", exact + 1
                    wanted = exact % 16 == 1 and exact < 320
                elif true > product:
                    kind, inexact = "below", inexact + 1
                    wanted = inexact % 40 == 1 and inexact < 800
                else:
                    continue
                if wanted:
                    yield digest_case("splitmix_le64", bits_per_key, n, absent_count=50,
                                      name="rounded/" + kind + "/%s/b%s/n%d")


def duplicates(random):
    key = b"again"
    for n in (7, 8, 9, 63, 64, 65, 100):
        yield made("duplicates/one/n%d" % n, 10, [key] * n, random)
    for n in (701, 1000, 1001, 1002):
        yield made("duplicates/one/n%d" % n, 7, [b""] * n, random)
    for n in (8, 15, 64, 71, 130, 700, 701, 1251, 2001):
        for bits_per_key in (4.6, 12):
            yield digest_case("pairs_le64", bits_per_key, n, start=2 * random.number(1000) + n % 2, absent_count=100)
    for n in (8, 12, 20, 40, 64, 66, 70, 99):
        few = random.small_keys(3 + n // 3)
        keys = [few[random.number(len(few))] for _ in range(n)]
        yield made("duplicates/some/n%d" % n, 9.3, keys, random)
        yield made("duplicates/some/sorted/n%d" % n, 9.3, sorted(keys), random)


def edges(random):
    """Hashes with few bits that differ from others."""
    hashes = [0, 1, 2, 3, M64, M64 - 1, 1 << 31, 1 << 32, (1 << 32) - 1, 1 << 62, 1 << 63, (1 << 63) - 1, (1 << 63) + 1,
              0xffffffff00000000, 0x5555555555555555, 0xaaaaaaaaaaaaaaaa, pow(0x9e3779b97f4a7c15 * 7, -1, 1 << 64)]
    probes = [key_of_hash(h) for h in hashes]
    for n in (8, 17, 40, 57, 64, 65, 72, 80):
        for bits_per_key in (5, 11.4):
            yield filter_case("edges/all/b%s/n%d" % (bits_per_key, n), bits_per_key,
                              (probes + random.small_keys(n))[:n], probes)
    for h in hashes:
        for n in (8, 19):
            keys = [key_of_hash(h)] + random.small_keys(n - 1)
            yield filter_case("edges/%016x/n%d" % (h, n), 8.5, keys, probes[:3])


def neighbors(x, count):
    """M is little below 2^64, so the products of neighbors have nearly the same upper bits."""
    return [(x + i) & M64 for i in range(count)]


def seeds(random):
    """Filters for all seeds. Neighbors have nearly the same coefficients in 8 slots, unless their first slots turn."""
    keys_of = {}
    while len(keys_of) < 56:
        x = number64(random)
        hashes = neighbors(x, 2 + random.number(3))
        hashes += [number64(random) for _ in range(random.number(9 - len(hashes)))]
        s = make_shard(hashes, 8, 8)[0]
        if s != BLOOM and s not in keys_of:
            keys_of[s] = [key_of_hash(x) for x in hashes]
    for s in range(56):
        yield made("seeds/%d" % s, 8, keys_of[s], random)
    found = 0
    while found < 6:
        keys = random.small_keys(9 + found)
        if 8 <= make_shard([xxh3(key) for key in keys], len(keys), 8)[0] < BLOOM:
            found += 1
            yield made("seeds/found/%d" % found, 9, keys, random)
    # In 8 slots, with seed 0, these have no coefficient, and bits 0 to 40 of F are 0; others are not. The first three
    # turn, so seed 0 does not suit; the others do not. Short vectors of a lattice found them: with the top 8 bits of V
    # 0, V < 2^56, and with bits 0 to 40 of F, V * (2^64 + 1) = x * M mod 2^105.
    for i, x in enumerate((0x06c4802fa9ffdabe, 0x07b7cc0fe7c45c6c, 0x08ab17f02588de1a,
                           0x6e8afc168f2e3f65, 0x7249e241f231007a, 0x70a742245020c05b)):
        others = None
        while others is None or solve([xxh3(key) for key in others], 8, 0) is None:
            others = random.small_keys(7)
        s = make_shard([x] + [xxh3(key) for key in others], 8, 8)[0]
        assert Equation(x, 8, 0).span == 0 and (s != 0) == (i < 3)
        yield made("seeds/no_coefficient/%d" % i, 8.2, [key_of_hash(x)] + others, random)


def crowded(random, count, m, number=0, S=1):
    """Keys that begin in the upper half of m slots, with every seed that a writer tries, in one of S shards."""
    keys = []
    half = max(0, m - 57) // 8 // 2 + 1
    while len(keys) < count:
        x = number64(random)
        if (x & M32) * S >> 32 == number and all(Equation(x, m, 8 * g).start >= half for g in range(7)):
            keys.append(key_of_hash(x))
    return keys


def top(count):
    """Keys whose hashes end in 56 zeros, and so have coefficients in 8 slots only, besides the first 4."""
    return [key_of_hash((2 * i + 1) << 56) for i in range(count)]


def bloom(random):
    """No seed suits one shard."""
    for n in (8, 9):
        for bits_per_key in (8, 10.7):
            s = None
            while s != BLOOM:
                hashes = neighbors(number64(random), n)
                if not any(Equation(x, n, 8 * g).turned for x in hashes for g in range(7)):
                    s = make_shard(hashes, n, 8)[0]
            yield made("bloom/b%s/n%d" % (bits_per_key, n), bits_per_key, [key_of_hash(x) for x in hashes], random, 8)
    for n in (15, 33, 63):
        for bits_per_key in (8, 10.7):
            yield made("bloom/b%s/n%d" % (bits_per_key, n), bits_per_key, top(13) + random.small_keys(n - 13), random, 8)
    for n in (64, 65, 66, 71, 72, 73):
        yield made("bloom/top/n%d" % n, 7.7, top(30) + random.small_keys(n - 30), random, 8)
    for n, bits_per_key in ((65, 2), (71, 6), (97, 10), (100, 2.2), (103, 40), (128, 8), (160, 4.95)):
        yield made("bloom/crowded/n%d" % n, bits_per_key, crowded(random, n, n), random, 8)
    for bits_per_key in (2, 3.3, 8, 17.8, 39.9):
        keys = top(13) + random.small_keys(7)
        yield made("bloom/two/b%s" % bits_per_key, bits_per_key, keys, random, 8)


def keys_of_shard(random, number, S, count):
    keys = []
    while len(keys) < count:
        key = random.bytes(1 + random.number(2))
        if (xxh3(key) & M32) * S >> 32 == number:
            keys.append(key)
    return keys


def bloom_of_many(random):
    """No seed suits a shard, or it has more than 1000 keys."""
    for q in (999, 1000, 1001, 1008, 1009):
        for number in {0, q % 3} if q in (1000, 1001) else {1}:
            few = keys_of_shard(random, number, 3, 5)
            keys = [few[i * i % 5] for i in range(q)]
            for other in {0, 1, 2} - {number}:
                keys += keys_of_shard(random, other, 3, 7) * 20
            yield made("bloom_of_many/q%d/%d" % (q, number), 5.4, keys[:1250], random, 8)
    for number in (0, 1):
        keys = crowded(random, 300, 352, number, 2) + keys_of_shard(random, number, 2, 52)
        keys += keys_of_shard(random, 1 - number, 2, 30) * 13
        yield made("bloom_of_many/crowded/%d" % number, 8, keys, random, 8)
    for S, n in ((2, 701), (3, 1250)):
        for number in range(S):
            keys = keys_of_shard(random, number, S, 1) * n
            yield made("bloom_of_many/empty/S%d/%d" % (S, number), 6.3, keys, random, 6)


# ---- Cases of filters that are inputs ----

def probes_for(random, filter, tries=200):
    """Keys of both answers, if there are some."""
    kinds = {True: [], False: []}
    for _ in range(tries):
        key = random.bytes(1 + random.number(6))
        kinds[RIBBON.may_contain(filter, key)].append(key)
        if min(len(kinds[True]), len(kinds[False])) >= 3:
            break
    return kinds[True][:3] + kinds[False][:3]


def small_filters(random):
    """Some that writers make, with their keys."""
    for n, bits_per_key in ((8, 8), (13, 10), (64, 4.8), (75, 3.9)):
        keys = random.small_keys(n)
        yield "one/n%d" % n, make_filter(keys, bits_per_key), keys
    keys = top(13) + random.small_keys(2)
    yield "bloom", make_filter(keys, 8.3), keys
    keys = random.small_keys(60)
    yield "many", make_many([xxh3(key) for key in keys], [8, 9], 4, 4 * 17 + 10), keys


def check_byte(random):
    for name, filter, keys in small_filters(random):
        probes = keys[:1] + random.small_keys(3)
        for x in [1 << i for i in range(8)] + [1 + random.number(255)]:
            if "n13" in name or "many" in name or x in (1, 128):
                wrong = bytearray(filter)
                wrong[-2] ^= x
                yield match_case("check/%s/%02x" % (name, x), bytes(wrong), probes)


def flip(random):
    """Bits of the trailer, of the last 8 bytes and before."""
    for name, filter, keys in small_filters(random):
        for bit in range(8 * 8):
            if bit < 16 or random.number(4) == 0:
                changed = bytearray(filter)
                changed[-1 - bit // 8] ^= 1 << bit % 8
                yield match_case("flip/%s/%d" % (name, bit), bytes(changed), keys[:2] + random.small_keys(2))
                if bit >= 16:
                    changed = seal(changed[:-2])
                    yield match_case("flip/sealed/%s/%d" % (name, bit), changed,
                                     keys[:2] + probes_for(random, changed))


def payload_flip(random):
    """A bit of the payload, and keys whose answers it changes."""
    for name, filter, keys in small_filters(random):
        end = len(filter) - (20 if name == "many" else 4)
        for i in range(8):
            bit = random.number(8 * end)
            changed = bytearray(filter)
            changed[bit // 8] ^= 1 << bit % 8
            changed = seal(bytes(changed[:-2]))
            lost = [key for key in keys if not RIBBON.may_contain(changed, key)]
            yield match_case("payload_flip/%s/%d/%d" % (name, i, bit), changed,
                             lost[:3] + keys[:2] + random.small_keys(2))


def cut(random):
    """Bytes that are missing or too many, at either end; with the check byte as it was, and made right."""
    for name, filter, keys in small_filters(random):
        probes = keys[:1] + random.small_keys(3)
        for count in (1, 2, 4, 8):
            yield match_case("cut/begin/%s/%d" % (name, count), filter[count:], probes)
            yield match_case("cut/end/%s/%d" % (name, count), filter[:-count], probes)
            yield match_case("cut/before/%s/%d" % (name, count), random.bytes(count) + filter, probes)
            yield match_case("cut/after/%s/%d" % (name, count), filter + random.bytes(count), probes)
            for kind, body in (("begin", filter[count:-2]), ("before", random.bytes(count) + filter[:-2])):
                sealed = seal(body)
                yield match_case("cut/sealed/%s/%s/%d" % (kind, name, count), sealed,
                                 keys[:1] + probes_for(random, sealed))


def short(random):
    probes = NOBODY
    for size in range(2, 15):
        yield match_case("short/zero/%d" % size, seal(bytes(size - 2)), probes)
        body = bytes(max(0, size - 4)) + b"\x08\x00"
        yield match_case("short/one/%d" % size, seal(body[-size + 2:] if size > 2 else b""), probes)
        body = random.bytes(max(0, size - 4)) + b"\x09\x0c"
        yield match_case("short/random/%d" % size, seal(body[-size + 2:] if size > 2 else b""), probes)
    for name, filter in (("none", b""), ("byte", b"\x72"), ("last", b"\x72\x72")):
        yield match_case("short/" + name, filter, probes)


def last_byte(random):
    filter = make_filter(random.small_keys(12), 10)
    for byte in (0, 1, 30, 31, 0x32, 0x52, 0x62, 0x70, 0x71, 0x73, 0x76, 0x7a, 0xf2, 0xff):
        changed = filter[:-1] + bytes([byte])
        yield match_case("last_byte/%02x" % byte, changed, random.small_keys(4))
        changed = bytearray(changed)
        changed[-2] = 0
        changed[-2] = sum_of_last_8(changed) ^ check_of(changed)
        yield match_case("last_byte/sealed/%02x" % byte, bytes(changed), random.small_keys(4))


def bounds_of_one(random):
    """m below 8, C above 40."""
    for m in (1, 2, 6, 7, 8, 9):
        for P in (8, 40 * m // 8, 40 * m // 8 + 1):
            if P >= 8:
                for s in (0, 63):
                    filter = seal_one(random.bytes(P), m, s)
                    yield match_case("bounds/m%d/P%d/s%d" % (m, P, s), filter, random.small_keys(4))
    for m in (8, 15, 20, 64, 71, 72):
        limit = -(-41 * m // 8)  # the least number of P with 41 columns
        for P in (limit - 1, limit):
            for s in (0, 40, 63):
                yield match_case("bounds/C/m%d/P%d/s%d" % (m, P, s), seal_one(random.bytes(P), m, s),
                                 random.small_keys(4))
    yield match_case("bounds/C/huge", seal_one(random.bytes(400), 8, 3), random.small_keys(4))


def bounds_of_many(random):
    """S = 0, A above 40, the index before the filter, W negative, f' below f + 8 or above B."""
    def case(name, shards, index, A, S=None):
        filter = seal_many(shards, index, A, S)
        return match_case("bounds_of_many/" + name, filter, probes_for(random, filter, 40) or NOBODY)

    for size in (0, 4, 20):
        yield case("S0/%d" % size, random.bytes(size), [64 * 8], 2, 0)
    yield case("S1", random.bytes(20), [0, 64 * 8], 2)
    for A in (38, 39, 40, 41, 42, 63):
        for more in (0, 3, 8, 9):
            yield case("A%d/W%d" % (A, more), random.bytes(A * 8 + more), [5, 64 * 8], A)
            yield case("A%d/bloom/W%d" % (A, more), random.bytes(A * 8 + more), [63, 64 * 8], A)
    for S in (2, 3, 4, 5, 6, 7, 50, 1 << 16, (1 << 30) - 1, 1 << 30, 1 << 31, M32):
        yield case("index/%d" % S, bytes(0), [64 * 8 * i for i in range(5)], 0, S)
        yield case("index/bytes/%d" % S, random.bytes(12), [64 * 8 * i for i in range(3)], 0, S)
    for size in (1, 2, 3):
        yield case("index/odd/%d" % size, random.bytes(size), [0, 64 * 8], 0, 2)
        yield case("index/fits/%d" % size, random.bytes(size), [0, 64 * 8], 0, 1)
    for A in (1, 2, 3, 7):
        for W in (-2, -1, 0, 1, 2):
            for last in (64 * 17, 64 * 17 + 63):
                yield case("W%d/A%d/last%d" % (W, A, last), random.bytes(17 * A + W), [3, 64 * 8 + 1, last], A)
    for f, f2 in ((0, 6), (0, 7), (0, 8), (0, 9), (4, 11), (4, 12), (12, 20), (12, 21), (13, 20), (20, 20), (20, 4),
                  (0, 20), (0, 21), (3, 1 << 25)):
        for A in (0, 2):
            index = [64 * f + 7, 64 * f2 + 9, 64 * 20]
            yield case("blocks/A%d/%d-%d" % (A, f, f2), random.bytes(20 * A + 11), index, A)
            index = [64 * 30 + 63, 64 * f + 63, 64 * f2 + 9, 64 * 20]
            yield case("blocks/bloom/A%d/%d-%d" % (A, f, f2), random.bytes(20 * A + 11), index, A)
    for B in (0, 1, 7, 8, 1000, 1 << 20, (1 << 26) - 1):
        for s in (0, 50, 63):
            yield case("B%d/A0/s%d" % (B, s), random.bytes(30), [s, 64 * B], 0)
    yield case("overlap", random.bytes(60), [1, 64 * 10, 64 * 2, 64 * 25], 2)


def random_one(random):
    """Payloads by chance, of many shapes."""
    for i in range(150):
        m = (8 + random.number(16), 8 + random.number(70), 8 + random.number(1016), 56 + random.number(20))[i % 4]
        C = random.number(41) if m < 40 else random.number(12 if m < 100 else 4)
        P = max(8, (C * m + random.number(m)) // 8)
        s = 63 if i % 7 == 0 else random.number(64)
        kind = random.number(8)
        payload = random.bytes(P) if kind > 1 else [b"\0", b"\xff"][kind] * P
        if s == 63 and kind > 1:
            payload = (int.from_bytes(payload, "big") | int.from_bytes(random.bytes(P), "big")
                       | int.from_bytes(random.bytes(P), "big")).to_bytes(P, "big")
        filter = seal_one(payload, m, s)
        yield match_case("random_one/%d/m%d/C%d/s%d" % (i, m, C, s), filter, probes_for(random, filter))
    for m, s in ((1023, 5), (1023, 63), (1023, 0), (1022, 62), (1016, 1)):
        filter = seal_one(random.bytes(m // 4 + 9), m, s)
        yield match_case("random_one/m%d/s%d" % (m, s), filter, probes_for(random, filter))


def random_many(random):
    for i in range(100):
        S = 1 + random.number((2, 5, 10, 50)[i % 4])
        f, index = random.number(3), []
        for _ in range(S):
            index.append(64 * f + (63 if random.number(4) == 0 else random.number(64)))
            f += 8 + random.number((1, 3, 9)[i % 3])
        A = random.number(4) if i % 8 else random.number(41) // S
        W = (0, random.number(f + 1), random.number(f + 1), random.number(f + 1), f, f + random.number(9))[i % 6]
        if i % 10 == 9:
            f += random.number(9)
        shards = random.bytes(A * f + W)
        if i % 5 == 0:
            shards = bytes(a | random.number(256) for a in shards)
        filter = seal_many(shards, index + [64 * f + random.number(64)], A)
        yield match_case("random_many/%d/S%d/A%d/W%d" % (i, S, A, W), filter, probes_for(random, filter))


def built_one(random):
    """Solutions that no writer chooses: other seeds, more slots than keys, more columns, any number of P."""
    for i in range(64):
        m = 8 + random.number((12, 60, 150)[i % 3])
        keys = random.small_keys(2 + random.number(min(m // 2, 20)))
        hashes = [xxh3(key) for key in keys]
        P = min(8 + random.number(5 * m), (41 * m - 1) // 8)
        s, shard = make_shard(hashes, m, P, range(i, min(i + 1, BLOOM)))
        yield built("built_one/%d/m%d/P%d" % (i, m, P), seal_one(shard, m, s), keys, 4, random)


def built(name, filter, keys, tail, random):
    assert all(RIBBON.may_contain(filter, key) for key in keys)
    for _ in range(50 if len(filter) > tail else 0):  # a bit that denies a key
        bit = random.number(8 * (len(filter) - tail))
        changed = bytearray(filter)
        changed[bit // 8] ^= 1 << bit % 8
        changed = seal(bytes(changed[:-2]))
        lost = [key for key in keys if not RIBBON.may_contain(changed, key)]
        if lost:
            return match_case(name + "/flip%d" % bit, changed, lost[:3] + keys[:5] + random.small_keys(2))
    return match_case(name, filter, keys[:8] + random.small_keys(2))


def built_many(random):
    for i in range(60):
        octets = [8 + random.number((1, 2, 8)[i % 3]) for _ in range(1 + i % 5)]
        first = random.number(3)
        B = first + sum(octets)
        A = (0, 1, 3, 7, 8, 9, 16, 40)[i % 8] if len(octets) < 3 or i % 8 < 4 else 2
        W = (0, random.number(B), B // 2 + 5, B - 1, B, B + 3)[i % 6]
        keys = random.small_keys(10 * len(octets))
        filter = make_many([xxh3(key) for key in keys], octets, A, A * B + W, [random.number(63)], first)
        yield built("built_many/%d/A%d/W%d" % (i, A, W), filter, keys, 8 + 4 * (len(octets) + 1), random)
    for i, (octets, A, more) in enumerate((([8], 40, 0), ([9], 40, 2), ([8, 8], 40, 0), ([12, 8], 40, -8),
                                           ([8, 9], 39, 0), ([8, 9], 39, -9), ([20], 0, 0), ([20], 0, -5),
                                           ([8, 16, 8], 31, 0))):
        keys = random.small_keys(10 * len(octets))
        W = sum(octets) + more
        filter = make_many([xxh3(key) for key in keys], octets, A, A * sum(octets) + W, [random.number(63)])
        for j in range(2):
            yield built("built_many/most/%d/%d" % (i, j), filter, keys, 8 + 4 * (len(octets) + 1), random)


def zero_bits(random):
    """Bits that are 0 in filters of writers, set: answers are the same."""
    for m, P in ((9, 11), (13, 14), (23, 31), (67, 50), (71, 63), (73, 27)):
        keys = random.small_keys(m // 2)
        s, shard = make_shard([xxh3(key) for key in keys], m, P)
        shape = Shape(m, P)
        used = {shape.place(slot, column) for slot in range(m) for column in range(shape.C + 1)}
        free = [p for p in range(8 * P) if p not in used]
        changed = bytearray(shard)
        for p in free:
            changed[p // 8] |= 1 << p % 8
        filter = seal_one(bytes(changed), m, s)
        assert all(RIBBON.may_contain(filter, key) for key in keys)
        yield match_case("zero_bits/m%d" % m, filter, keys[:4] + probes_for(random, filter))
    keys = random.small_keys(60)
    filter = make_many([xxh3(key) for key in keys], [8, 9], 4, 4 * 17 + 10)
    for bit in range(16):
        changed = bytearray(filter)
        changed[-4 + bit // 8] |= 1 << bit % 8
        changed = seal(bytes(changed[:-2]))
        yield match_case("zero_bits/columns/%d" % bit, changed, keys[:3] + probes_for(random, changed))
    for bit in range(6):
        changed = bytearray(filter)
        changed[-12] |= 1 << bit
        changed = seal(bytes(changed[:-2]))
        yield match_case("zero_bits/last_seed/%d" % bit, changed, keys[:3] + random.small_keys(3))


FAMILIES = [example, numbers, settings, many, column, left, few_bytes, rounded, duplicates, edges, seeds, bloom,
            bloom_of_many, check_byte, flip, payload_flip, cut, short, last_byte, bounds_of_one, bounds_of_many,
            random_one, random_many, built_one, built_many, zero_bits]

if __name__ == "__main__":
    main("usage: ribbon.py > ribbon.jsonl, or ribbon.py check < ribbon.jsonl", RIBBON, FAMILIES)
