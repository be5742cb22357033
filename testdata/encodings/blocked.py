#!/usr/bin/env python3
"""Blocked Bloom filters, written from the text in policy/doc.go alone: the second opinion on the Go code.

    python3 blocked.py > blocked.jsonl            writes the pinned cases
    python3 blocked.py check < blocked.jsonl      computes the answers of all cases anew and compares

README.md in this folder explains the cases. XXH3 is written from doc/xxhash_spec.md of github.com/Cyan4973/xxHash.
"""

import hashlib
import json
import math
import sys

M32 = (1 << 32) - 1
M64 = (1 << 64) - 1


# ---- XXH3, 64 bits, seed 0, the default secret ----

PRIME32_1, PRIME32_2, PRIME32_3 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
PRIME64_1, PRIME64_2, PRIME64_3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
PRIME64_4, PRIME64_5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
PRIME_MX1, PRIME_MX2 = 0x165667919E3779F9, 0x9FB21C651E98DF25

SECRET = bytes.fromhex("""
    b8fe6c3923a44bbe7c01812cf721ad1c ded46de9839097db7240a4a4b7b3671f
    cb79e64eccc0e578825ad07dccff7221 b8084674f743248ee03590e6813a264c
    3c2852bb91c300cb88d0658b1b532ea3 71644897a20df94e3819ef46a9deacd8
    a8fa763fe39c343ff9dcbbc7c70b4f1d 8a51e04bcdb45931c89f7ec9d9787364
    eac5ac8334d3ebc3c581a0fffa1363eb 170ddd51b7f0da49d316552629d4689e
    2b16be587d47a1fc8ff8b8d17ad031ce 45cb3a8f95160428afd7fbcabb4b407e
""")


def u32(b, at):
    return int.from_bytes(b[at:at + 4], "little")


def u64(b, at):
    return int.from_bytes(b[at:at + 8], "little")


def bswap64(x):
    return int.from_bytes(x.to_bytes(8, "little"), "big")


def rotl64(x, n):
    return (x << n | x >> (64 - n)) & M64


def fold(a, b):
    """The 128-bit product's two halves, one xor the other."""
    product = a * b
    return product & M64 ^ product >> 64


def avalanche(x):
    x ^= x >> 37
    x = x * PRIME_MX1 & M64
    return x ^ x >> 32


def avalanche_xxh64(x):
    x ^= x >> 33
    x = x * PRIME64_2 & M64
    x ^= x >> 29
    x = x * PRIME64_3 & M64
    return x ^ x >> 32


def mix_step(data, at, secret_at):
    return fold(u64(data, at) ^ u64(SECRET, secret_at), u64(data, at + 8) ^ u64(SECRET, secret_at + 8))


def xxh3_0(data):
    return avalanche_xxh64(u64(SECRET, 56) ^ u64(SECRET, 64))


def xxh3_1to3(data):
    n = len(data)
    combined = data[n - 1] | n << 8 | data[0] << 16 | data[n >> 1] << 24
    return avalanche_xxh64(u32(SECRET, 0) ^ u32(SECRET, 4) ^ combined)


def xxh3_4to8(data):
    n = len(data)
    x = u64(SECRET, 8) ^ u64(SECRET, 16) ^ (u32(data, n - 4) | u32(data, 0) << 32)
    x ^= rotl64(x, 49) ^ rotl64(x, 24)
    x = x * PRIME_MX2 & M64
    x ^= (x >> 35) + n
    x = x * PRIME_MX2 & M64
    return x ^ x >> 28


def xxh3_9to16(data):
    n = len(data)
    low = u64(SECRET, 24) ^ u64(SECRET, 32) ^ u64(data, 0)
    high = u64(SECRET, 40) ^ u64(SECRET, 48) ^ u64(data, n - 8)
    return avalanche((n + bswap64(low) + high + fold(low, high)) & M64)


def xxh3_17to128(data):
    n = len(data)
    acc = n * PRIME64_1
    for i in range(((n - 1) >> 5) + 1):
        acc += mix_step(data, 16 * i, 32 * i)
        acc += mix_step(data, n - 16 * i - 16, 32 * i + 16)
    return avalanche(acc & M64)


def xxh3_129to240(data):
    n = len(data)
    acc = n * PRIME64_1
    for i in range(8):
        acc += mix_step(data, 16 * i, 16 * i)
    acc = avalanche(acc & M64)
    for i in range(8, n >> 4):
        acc += mix_step(data, 16 * i, 16 * (i - 8) + 3)
    acc += mix_step(data, n - 16, 119)
    return avalanche(acc & M64)


def accumulate(acc, data, at, secret_at):
    for i in range(8):
        lane = u64(data, at + 8 * i)
        value = lane ^ u64(SECRET, secret_at + 8 * i)
        acc[i ^ 1] = (acc[i ^ 1] + lane) & M64
        acc[i] = (acc[i] + (value & M32) * (value >> 32)) & M64


def scramble(acc):
    for i in range(8):
        acc[i] ^= acc[i] >> 47
        acc[i] ^= u64(SECRET, len(SECRET) - 64 + 8 * i)
        acc[i] = acc[i] * PRIME32_1 & M64


def xxh3_241on(data):
    n = len(data)
    acc = [PRIME32_3, PRIME64_1, PRIME64_2, PRIME64_3, PRIME64_4, PRIME32_2, PRIME64_5, PRIME32_1]
    stripes_per_block = (len(SECRET) - 64) // 8
    at = 0
    while n - at > 64 * stripes_per_block:
        for i in range(stripes_per_block):
            accumulate(acc, data, at + 64 * i, 8 * i)
        scramble(acc)
        at += 64 * stripes_per_block
    for i in range((n - at - 1) // 64):
        accumulate(acc, data, at + 64 * i, 8 * i)
    accumulate(acc, data, n - 64, len(SECRET) - 71)
    result = n * PRIME64_1
    for i in range(4):
        result += fold(acc[2 * i] ^ u64(SECRET, 11 + 16 * i), acc[2 * i + 1] ^ u64(SECRET, 19 + 16 * i))
    return avalanche(result & M64)


def xxh3(data):
    for longest, hash_of in ((0, xxh3_0), (3, xxh3_1to3), (8, xxh3_4to8), (16, xxh3_9to16),
                             (128, xxh3_17to128), (240, xxh3_129to240)):
        if len(data) <= longest:
            return hash_of(data)
    return xxh3_241on(data)


# ---- Blocked Bloom ----

ENCODING, VERSION = 0x42, 0x01
LONGEST_SINGLE_LINE = 1280
LINE = 64

K_FROM = (0, 2.5, 4, 5.5, 7.5, 9, 11, 13, 15.5, 18, 20.5, 23.5, 27, 30.5, 35, 40)


def probes_for(bits_per_key):
    return sum(1 for least in K_FROM if bits_per_key >= least)


def payload_length(n, bits_per_key):
    length = max(1, -(-math.ceil(n * bits_per_key) // 8))
    if length > LONGEST_SINGLE_LINE:
        length = -(-length // LINE) * LINE
    return length


def positions(key, length, k):
    """The bits of a payload of that length that belong to the key, counted through the whole payload."""
    h = xxh3(key)
    first, bits = 0, 8 * length
    if length > LONGEST_SINGLE_LINE:
        first, bits = ((h >> 32) * (length // LINE) >> 32) * 8 * LINE, 8 * LINE
    x = h & M32
    for _ in range(k):
        yield first + (x * bits >> 32)
        x = x * 0x9E3779B9 & M32


def make_filter(keys, bits_per_key):
    k = probes_for(bits_per_key)
    payload = bytearray(payload_length(len(keys), bits_per_key))
    for key in keys:
        for p in positions(key, len(payload), k):
            payload[p // 8] |= 1 << p % 8
    return bytes(payload) + bytes([k, VERSION, ENCODING])


def all_set(payload, bits):
    return all(payload[p // 8] >> p % 8 & 1 for p in bits)


def blocked_may_contain(filter, key):
    length = len(filter) - 3
    if length < 1 or filter[-2] != VERSION or length > LONGEST_SINGLE_LINE and length % LINE != 0:
        return True
    return all_set(filter, positions(key, length, filter[-3]))


# ---- LevelDB's own encoding: a filter that is cut off may end in a byte that says so ----

def leveldb_hash(key):
    whole = len(key) // 4 * 4
    h = 0xbc9f1d34 ^ len(key) * 0xc6a4a793 & M32
    for at in range(0, whole, 4):
        h = (h + u32(key, at)) * 0xc6a4a793 & M32
        h ^= h >> 16
    if whole < len(key):
        h = (h + u32(key, whole)) * 0xc6a4a793 & M32
        h ^= h >> 24
    return h


def leveldb_positions(key, bits, k):
    h = leveldb_hash(key)
    delta = (h >> 17 | h << 15) & M32
    for _ in range(k):
        yield h % bits
        h = (h + delta) & M32


def may_contain(filter, key):
    if len(filter) < 2:
        return False
    if filter[-1] == ENCODING:
        return blocked_may_contain(filter, key)
    if filter[-1] > 30:
        return True
    return all_set(filter, leveldb_positions(key, 8 * (len(filter) - 1), filter[-1]))


# ---- Inputs ----

def sm(x):
    """SplitMix64's number x of a sequence."""
    x = (x + 0x9e3779b97f4a7c15) & M64
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9 & M64
    x = (x ^ x >> 27) * 0x94d049bb133111eb & M64
    return x ^ x >> 31


def stream(x, length):
    """The first bytes of sm(x+1), sm(x+2), ..."""
    return b"".join(sm(x + j).to_bytes(8, "little") for j in range(1, length // 8 + 2))[:length]


def varlen(seed, i):
    x = sm(seed + i)
    return i.to_bytes(8, "little") + stream(x, x % 33)


def length(seed, i):
    return stream(sm(seed + i), i)


def sanity(seed, i):
    key, x = bytearray(), 2654435761
    for _ in range(i):
        key.append(x >> 56)
        x = x * 11400714785074694797 & M64
    return bytes(key)


RECIPES = {
    "splitmix_le64": lambda seed, i: sm(seed + i).to_bytes(8, "little"),
    "user_dec16": lambda seed, i: b"user%016d" % (seed + i),
    "dec": lambda seed, i: b"%d" % (seed + i),
    "varlen": varlen,
    "length": length,
    "sanity": sanity,
}


class Random:
    def __init__(self, seed):
        self.state = seed

    def number(self, below):
        self.state += 1
        return sm(self.state) % below

    def bytes(self, count):
        self.state += 1
        return stream(sm(self.state), count)

    def key(self):
        """Mostly random bytes of 0 to 24, sometimes longer, sometimes a number in decimal."""
        kind = self.number(8)
        if kind == 0:
            return b"key%09d" % self.number(10**9)
        return self.bytes(self.number(300) if kind == 1 else self.number(25))

    def keys(self, count):
        return [self.key() for _ in range(count)]

    def small_keys(self, count):
        return [self.bytes(3 + self.number(6)) for _ in range(count)]


# ---- Cases: inputs in, the same with answers out ----

def answer_hash(case):
    case["hash"] = "%016x" % xxh3(RECIPES[case["recipe"]](case["seed"], case["number"]))


def answer_filter(case):
    keys = [bytes.fromhex(key) for key in case["keys"]]
    filter = make_filter(keys, case["bits_per_key"])
    assert all(may_contain(filter, key) for key in keys), case["name"]
    case["filter"] = filter.hex()
    answer_match(case)


def answer_digest(case):
    key = RECIPES[case["recipe"]]
    keys = [key(case["seed"], i) for i in range(case["start"], case["start"] + case["n"])]
    filter = make_filter(keys, case["bits_per_key"])
    assert all(may_contain(filter, key) for key in keys), case["name"]
    case["filter_len"] = len(filter)
    case["filter_sha256"] = hashlib.sha256(filter).hexdigest()
    absent = [key(case["seed"], i) for i in range(case["absent_start"], case["absent_start"] + case["absent_count"])]
    assert not set(keys) & set(absent), case["name"]
    case["false_positives"] = sum(may_contain(filter, key) for key in absent)


def answer_match(case):
    filter = bytes.fromhex(case["filter"])
    for probe in case["probes"]:
        probe["may_contain"] = may_contain(filter, bytes.fromhex(probe["key"]))


ANSWERS = {"hash": answer_hash, "filter": answer_filter, "digest": answer_digest, "match": answer_match}


def probes_of(keys):
    return [{"key": key.hex()} for key in keys]


def hash_case(recipe, seed, number):
    return {"kind": "hash", "name": "hash/%s/%d" % (recipe, number), "recipe": recipe, "seed": seed, "number": number}


def filter_case(name, bits_per_key, keys, probes):
    return {"kind": "filter", "name": name, "bits_per_key": bits_per_key, "keys": [key.hex() for key in keys],
            "probes": probes_of(probes)}


def digest_case(recipe, bits_per_key, n, seed=0, start=0, absent_count=1000):
    return {"kind": "digest", "name": "digest/%s/b%s/n%d" % (recipe, bits_per_key, n), "bits_per_key": bits_per_key,
            "recipe": recipe, "seed": seed, "start": start, "n": n, "absent_start": start + n,
            "absent_count": absent_count}


def match_case(name, filter, probes):
    return {"kind": "match", "name": name, "filter": filter.hex(), "probes": probes_of(probes)}


def hash_cases(random):
    for i in [*range(261), 300, 303, 304, 319, 320, 321, 383, 384, 385, 403, 511, 512, 513,
              1023, 1024, 1025, 1087, 1088, 1089, 2047, 2048, 2049, 2099, 2112, 2240, 2367, 4095, 4096, 4097, 9000]:
        yield hash_case("sanity", 0, i)
    seed = random.number(1 << 40)
    for i in [*range(34), 63, 64, 65, 127, 128, 129, 239, 240, 241, 256, 1024, 1025, 5000]:
        yield hash_case("length", seed, i)


def filter_cases(random):
    yield filter_case("hello", 10, [b"hello"], [b"hello", b"", b"world"])

    for bits_per_key in (1, 2.5, 9.5, 10, 13.7, 16, 20, 100):
        for n in (0, 1, 2, 3, 20, 51, 52, 100):
            keys = random.keys(n) if n <= 3 else random.small_keys(n)
            yield filter_case("grid/b%s/n%d" % (bits_per_key, n), bits_per_key, keys, random.small_keys(5) + keys[:1])

    for threshold in K_FROM[1:]:
        for bits_per_key in (math.nextafter(threshold, 0), threshold, math.nextafter(threshold, 100)):
            yield filter_case("threshold/b%s" % bits_per_key, bits_per_key, random.small_keys(5), random.small_keys(3))
    for bits_per_key in (0.001, 0.1, 0.5, 3, 3.99, 5, 6, 8, 12, 14, 24, 29.99, 33, 39.5, 50, 400):
        yield filter_case("setting/b%s" % bits_per_key, bits_per_key, random.small_keys(4), random.small_keys(4))

    # The number of bits near a multiple of 8, and products that a double rounds to a whole number.
    for bits_per_key, n in ((0.1, 79), (0.1, 80), (0.1, 81), (2.2, 40), (1.1, 80), (7.999, 1), (8, 1), (8.001, 1),
                            (3.2, 5), (0.7, 80)):
        yield filter_case("round/b%s/n%d" % (bits_per_key, n), bits_per_key, random.small_keys(n), random.small_keys(4))

    # Settings that make one line and many of a single key or of few.
    for bits_per_key, n in ((10240, 1), (10240.5, 1), (10241, 1), (5121, 2), (1000, 3)):
        yield filter_case("wide/b%s/n%d" % (bits_per_key, n), bits_per_key, random.keys(n), random.small_keys(4))

    for lengths in ((0,), (1, 2, 3), (4, 8), (9, 16), (17, 128), (129, 240), (241, 300), (1024, 1025)):
        keys = [random.bytes(count) for count in lengths]
        yield filter_case("lengths/" + "-".join(map(str, lengths)), 10, keys, [key[1:] for key in keys[:1]])

    once, twice = random.keys(2)
    for keys in ([once] * 2, [once] * 9, [once, twice, twice, once, twice], [b""] * 3):
        yield filter_case("duplicates/%dof%d" % (len(set(keys)), len(keys)), 10, keys, random.small_keys(4))


def digest_cases(random):
    # One line and the first of two lengths of many: 1280 bytes are the last of one line.
    for bits_per_key, counts in ((1, (10239, 10240, 10241)), (10, (1022, 1023, 1024, 1025, 1075, 1076)),
                                 (9.5, (1077, 1078)), (13.7, (747, 748)), (16, (640, 641)), (20, (511, 512, 513)),
                                 (40, (256, 257)), (2.5, (4096, 4097)), (100, (102, 103))):
        for n in counts:
            yield digest_case("splitmix_le64", bits_per_key, n, seed=random.number(1 << 40))

    for recipe, bits_per_key, n in (
            ("splitmix_le64", 10, 2000), ("splitmix_le64", 10, 40000), ("splitmix_le64", 3, 5000),
            ("splitmix_le64", 16, 3000), ("splitmix_le64", 20, 3000), ("splitmix_le64", 30, 2000),
            ("splitmix_le64", 1000000, 1), ("user_dec16", 10, 20000), ("user_dec16", 13.7, 3000), ("dec", 9.5, 3000),
            ("dec", 50, 1000), ("varlen", 10, 5000), ("varlen", 12, 1000), ("varlen", 8, 100)):
        yield digest_case(recipe, bits_per_key, n, seed=random.number(1 << 40))

    # Keys of every length up to 300, in one line and in many; then some of several KiB.
    yield digest_case("length", 10, 301, seed=random.number(1 << 40), absent_count=200)
    yield digest_case("length", 60, 301, seed=random.number(1 << 40), absent_count=200)
    yield digest_case("length", 10, 40, seed=random.number(1 << 40), start=4080, absent_count=40)


def match_cases(random):
    def trailer(k=6, version=VERSION, encoding=ENCODING):
        return bytes([k, version, encoding])

    def probes():
        return random.small_keys(4)

    # Nothing is set: only a reader that does not read the payload says "may contain". 0x46 is missing, since
    # it is kept for another encoding.
    for encoding in range(0x1f, 0x100):
        if encoding not in (ENCODING, 0x46):
            yield match_case("encoding/%02x" % encoding, bytes(4) + trailer(encoding=encoding), random.small_keys(1))
    for version in [0, *range(2, 33), 0x42, 0x7f, 0x80, 0x81, 0xfe, 0xff]:
        yield match_case("version/%02x" % version, bytes(4) + trailer(version=version), random.small_keys(1))
    yield match_case("version/02/lines", bytes(1344) + trailer(version=2), probes())

    for filter in (b"", b"\x42", b"\x01\x42", b"\x42\x42", b"\x00\x42", b"\x06\x01\x42", b"\x00\x01\x42", b"\x42\x42\x42",
                   b"\x00\x06\x01\x42", b"\xff\x06\x01\x42", b"\x42\x42\x42\x42", b"\x00\x00\x01\x42"):
        yield match_case("short/" + filter.hex(), filter, probes() + [b""])

    for k in (*range(0, 33), 63, 64, 65, 100, 127, 128, 129, 254, 255):
        yield match_case("k/%d/zeros" % k, bytes(8) + trailer(k), random.small_keys(1))
        # Every probe is set but those that fall on one bit, or in one byte: the last probes decide.
        holes = bytearray(b"\xff" * 25)
        holes[random.number(25)] ^= 1 << random.number(8)
        holes[random.number(25)] = 0
        yield match_case("k/%d/holes" % k, bytes(holes) + trailer(k), random.small_keys(10))
    for k in (1, 5, 17, 255):
        half = bytes(a | b for a, b in zip(random.bytes(1344), random.bytes(1344)))
        yield match_case("k/%d/lines" % k, half + trailer(k), random.small_keys(30))
    yield match_case("k/0/lines", bytes(1344) + trailer(0), probes())

    for count in (1, 2, 7, 31, 63, 64, 65, 127, 128, 129, 1279, 1280):
        payload = bytes(a | b for a, b in zip(random.bytes(count), random.bytes(count)))
        yield match_case("payload/%d" % count, payload + trailer(3), random.small_keys(12))
    for count in (1281, 1343, 1345):
        yield match_case("payload/%d/unfit" % count, bytes(count) + trailer(), probes())
    for count in (1344, 1408):
        yield match_case("payload/%d" % count, bytes(count) + trailer(), probes())

    keys = random.small_keys(20)
    filter = make_filter(keys, 10)
    for cut in (1, 2, 3, 4, 10):
        yield match_case("cut/end/%d" % cut, filter[:-cut], keys[:4] + probes())
        yield match_case("cut/start/%d" % cut, filter[cut:], keys[:4] + probes())
    for more in (b"\x00", b"\xff", b"\x42", b"\x01\x42", b"\x06\x01\x42"):
        yield match_case("longer/start/" + more.hex(), more + filter, keys[:4] + probes())
        yield match_case("longer/end/" + more.hex(), filter + more, keys[:4] + probes())


def cases():
    for family in (hash_cases, filter_cases, digest_cases, match_cases):
        yield from family(Random(int.from_bytes(family.__name__.encode()[:6], "little")))


def write():
    names = set()
    for case in cases():
        assert case["name"] not in names, case["name"]
        names.add(case["name"])
        ANSWERS[case["kind"]](case)
        print(json.dumps(case, separators=(",", ":")))


def check():
    count = 0
    for line in sys.stdin:
        case = json.loads(line)
        ANSWERS[case["kind"]](case)
        if json.dumps(case, separators=(",", ":")) != line.rstrip("\n"):
            sys.exit("%s: differs; computed: %s" % (case["name"], json.dumps(case, separators=(",", ":"))))
        count += 1
    if count == 0:
        sys.exit("no cases")
    print("%d cases agree" % count)


if __name__ == "__main__":
    if sys.argv[1:] == []:
        write()
    elif sys.argv[1:] == ["check"]:
        check()
    else:
        sys.exit(__doc__)
