"""XXH3, 64 bits, seed 0, the default secret: written from doc/xxhash_spec.md of github.com/Cyan4973/xxHash."""

M32 = (1 << 32) - 1
M64 = (1 << 64) - 1

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
