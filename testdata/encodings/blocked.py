#!/usr/bin/env python3
"""Blocked Bloom filters, written from the text in policy/FORMAT.md alone: the second opinion on the Go code.

    python3 blocked.py > blocked.jsonl            writes the pinned cases
    python3 blocked.py check < blocked.jsonl      computes the answers of all cases anew and compares

README.md in this folder explains the cases.
"""

import math

from cases import Encoding, digest_case, filter_case, hash_case, main, match_case
from xxh3 import M32, xxh3

ENCODING = 0x62
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


def positions(h, length, k):
    """The bits of a payload of that length that belong to the hash, counted through the whole payload."""
    first, bits = 0, 8 * length
    if length > LONGEST_SINGLE_LINE:
        first, bits = ((h >> 32) * (length // LINE) >> 32) * 8 * LINE, 8 * LINE
    x = h & M32
    for _ in range(k):
        yield first + (x * bits >> 32)
        x = x * 0x9E3779B9 & M32


def trailer(length, k, encoding=ENCODING, damage=0):
    """The trailer of a payload of that length. damage is XORed to its check byte."""
    check = (length * 0x9E3779B1 & M32) >> 24
    return bytes([k, check ^ k ^ encoding ^ damage, encoding])


def filter_of_hashes(hashes, bits_per_key):
    k = probes_for(bits_per_key)
    payload = bytearray(payload_length(len(hashes), bits_per_key))
    for h in hashes:
        for p in positions(h, len(payload), k):
            payload[p // 8] |= 1 << p % 8
    return bytes(payload) + trailer(len(payload), k)


def make_filter(keys, bits_per_key):
    return filter_of_hashes([xxh3(key) for key in keys], bits_per_key)


def may_contain(filter, key):
    length = len(filter) - 3
    if length < 1 or length > LONGEST_SINGLE_LINE and length % LINE != 0:
        return True
    if filter[length:] != trailer(length, filter[length]):
        return True
    return all(filter[p // 8] >> p % 8 & 1 for p in positions(xxh3(key), length, filter[-3]))


# ---- Cases ----

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
    def frame(payload, k=6, **options):
        return payload + trailer(len(payload), k, **options)

    def probes():
        return random.small_keys(4)

    # Nothing is set: only a reader that does not read the payload says "may contain".
    for encoding in range(0x1f, 0x100):
        if encoding != ENCODING:
            yield match_case("encoding/%02x" % encoding, frame(bytes(4), encoding=encoding), random.small_keys(1))
    for damage in range(1, 0x100):
        yield match_case("check/%02x" % damage, frame(bytes(4), damage=damage), random.small_keys(1))
    yield match_case("check/lines", frame(bytes(1344), damage=1), probes())
    for count in (1, 9, 1280, 1344, 6400):
        for bit in range(24):
            filter = bytearray(frame(bytes(count)))
            filter[count + bit // 8] ^= 1 << bit % 8
            yield match_case("flip/%d/%d" % (count, bit), bytes(filter), random.small_keys(1))
    # The check byte depends on the length: a trailer that fits one payload fits few others.
    for count in range(1, 65):
        if count != 9:
            yield match_case("length/%d" % count, bytes(count) + trailer(9, 6), random.small_keys(1))

    for filter in (b"", b"\x62", b"\x01\x62", b"\x62\x62", b"\x00\x62", trailer(0, 6), trailer(0, 0), b"\x62\x62\x62",
                   frame(b"\x00"), frame(b"\xff"), b"\x62\x62\x62\x62", frame(b"\x00", 0)):
        yield match_case("short/" + filter.hex(), filter, probes() + [b""])

    for k in (*range(0, 33), 63, 64, 65, 100, 127, 128, 129, 254, 255):
        yield match_case("k/%d/zeros" % k, frame(bytes(8), k), random.small_keys(1))
        # Every probe is set but those that fall on one bit, or in one byte: the last probes decide.
        holes = bytearray(b"\xff" * 25)
        holes[random.number(25)] ^= 1 << random.number(8)
        holes[random.number(25)] = 0
        yield match_case("k/%d/holes" % k, frame(bytes(holes), k), random.small_keys(10))
    for k in (1, 5, 17, 255):
        half = bytes(a | b for a, b in zip(random.bytes(1344), random.bytes(1344)))
        yield match_case("k/%d/lines" % k, frame(half, k), random.small_keys(30))
    yield match_case("k/0/lines", frame(bytes(1344), 0), probes())

    for count in (1, 2, 7, 31, 63, 64, 65, 127, 128, 129, 1279, 1280):
        payload = bytes(a | b for a, b in zip(random.bytes(count), random.bytes(count)))
        yield match_case("payload/%d" % count, frame(payload, 3), random.small_keys(12))
    for count in (1281, 1343, 1345):
        yield match_case("payload/%d/unfit" % count, frame(bytes(count)), probes())
    for count in (1344, 1408):
        yield match_case("payload/%d" % count, frame(bytes(count)), probes())

    keys = random.small_keys(20)
    filter = make_filter(keys, 10)
    for cut in (1, 2, 3, 4, 10):
        yield match_case("cut/end/%d" % cut, filter[:-cut], keys[:4] + probes())
        yield match_case("cut/start/%d" % cut, filter[cut:], keys[:4] + probes())
    for more in (b"\x00", b"\xff", b"\x62", b"\x06\x62", b"\x06\x62\x62"):
        yield match_case("longer/start/" + more.hex(), more + filter, keys[:4] + probes())
        yield match_case("longer/end/" + more.hex(), filter + more, keys[:4] + probes())


if __name__ == "__main__":
    main(__doc__, Encoding(make_filter, {ENCODING: may_contain}), (hash_cases, filter_cases, digest_cases, match_cases))
