"""What the cases of all encodings share: inputs made from seeds, and the answers computed from the inputs."""

import hashlib
import json
import math
import sys

from xxh3 import M32, M64, u32, xxh3


# ---- LevelDB's own encoding: the filter of no keys has it, and one that is cut off may end in a byte that says so ----

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


def leveldb_probes(filter, key):
    bits = 8 * (len(filter) - 1)
    h = leveldb_hash(key)
    delta = (h >> 17 | h << 15) & M32
    for _ in range(filter[-1]):
        yield h % bits
        h = (h + delta) & M32


def leveldb_filter(keys, n, bits_per_key):
    length = -(-max(64, math.ceil(n * bits_per_key)) // 8)
    filter = bytearray(length + 1)
    filter[-1] = min(max(1, math.floor(bits_per_key * 0.69)), 30)
    for key in keys:
        for p in leveldb_probes(filter, key):
            filter[p // 8] |= 1 << p % 8
    return bytes(filter)


def leveldb_may_contain(filter, key):
    return all(filter[p // 8] >> p % 8 & 1 for p in leveldb_probes(filter, key))


class Encoding:
    """A way to make filters (make_filter takes keys and bits per key), and readers of the reserved range, by last byte."""

    def __init__(self, make_filter, readers):
        self.make_filter = make_filter
        self.readers = readers

    def may_contain(self, filter, key):
        if len(filter) < 2:
            return False
        if filter[-1] <= 30:
            return leveldb_may_contain(filter, key)
        reader = self.readers.get(filter[-1])
        return reader is None or reader(filter, key)


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
    "pairs_le64": lambda seed, i: sm(seed + i // 2).to_bytes(8, "little"),
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

def answer_hash(encoding, case):
    case["hash"] = "%016x" % xxh3(RECIPES[case["recipe"]](case["seed"], case["number"]))


def answer_filter(encoding, case):
    keys = [bytes.fromhex(key) for key in case["keys"]]
    filter = encoding.make_filter(keys, case["bits_per_key"])
    assert all(encoding.may_contain(filter, key) for key in keys), case["name"]
    case["filter"] = filter.hex()
    answer_match(encoding, case)


def filter_of_recipe(encoding, case):
    """The filter of a case whose keys are made by a recipe, and how many of the case's absent keys it may contain."""
    key = RECIPES[case["recipe"]]
    keys = [key(case["seed"], i) for i in range(case["start"], case["start"] + case["n"])]
    filter = encoding.make_filter(keys, case["bits_per_key"])
    assert all(encoding.may_contain(filter, key) for key in keys), case["name"]
    absent = [key(case["seed"], i) for i in range(case["absent_start"], case["absent_start"] + case["absent_count"])]
    assert not set(keys) & set(absent), case["name"]
    return filter, sum(encoding.may_contain(filter, key) for key in absent)


def answer_digest(encoding, case):
    filter, false_positives = filter_of_recipe(encoding, case)
    case["filter_len"] = len(filter)
    case["filter_sha256"] = hashlib.sha256(filter).hexdigest()
    case["false_positives"] = false_positives


def answer_match(encoding, case):
    filter = bytes.fromhex(case["filter"])
    for probe in case["probes"]:
        probe["may_contain"] = encoding.may_contain(filter, bytes.fromhex(probe["key"]))


ANSWERS = {"hash": answer_hash, "filter": answer_filter, "digest": answer_digest,
           "match": answer_match}


def probes_of(keys):
    return [{"key": key.hex()} for key in keys]


def hash_case(recipe, seed, number):
    return {"kind": "hash", "name": "hash/%s/%d" % (recipe, number), "recipe": recipe, "seed": seed, "number": number}


def filter_case(name, bits_per_key, keys, probes):
    return {"kind": "filter", "name": name, "bits_per_key": bits_per_key, "keys": [key.hex() for key in keys],
            "probes": probes_of(probes)}


def recipe_case(kind, recipe, bits_per_key, n, seed=0, start=0, absent_count=1000, name="%s/b%s/n%d"):
    return {"kind": kind, "name": kind + "/" + name % (recipe, bits_per_key, n), "bits_per_key": bits_per_key,
            "recipe": recipe, "seed": seed, "start": start, "n": n, "absent_start": start + n,
            "absent_count": absent_count}


def digest_case(*args, **options):
    return recipe_case("digest", *args, **options)


def match_case(name, filter, probes):
    return {"kind": "match", "name": name, "filter": filter.hex(), "probes": probes_of(probes)}


def write(encoding, families, answers):
    names = set()
    for family in families:
        for case in family(Random(int.from_bytes(family.__name__.encode()[:6], "little"))):
            assert case["name"] not in names, case["name"]
            names.add(case["name"])
            answers[case["kind"]](encoding, case)
            print(json.dumps(case, separators=(",", ":")))


def check(encoding, answers):
    count = 0
    for line in sys.stdin:
        case = json.loads(line)
        answers[case["kind"]](encoding, case)
        if json.dumps(case, separators=(",", ":")) != line.rstrip("\n"):
            sys.exit("%s: differs; computed: %s" % (case["name"], json.dumps(case, separators=(",", ":"))))
        count += 1
    if count == 0:
        sys.exit("no cases")
    print("%d cases agree" % count)


def main(usage, encoding, families, answers=ANSWERS):
    if sys.argv[1:] == []:
        write(encoding, families, answers)
    elif sys.argv[1:] == ["check"]:
        check(encoding, answers)
    else:
        sys.exit(usage)
