// Reads the filters of levelbloom: LevelDB's Bloom filters, and ribbon filters.
//
// Written from policy/FORMAT.md alone. Names and letters are those of that text, which says what
// they are and why: read this beside it. Needs C++17 and XXH3 (xxHash 0.8 or newer, -lxxhash).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <xxhash.h>

namespace levelbloom {

// Tells whether key may be one of the keys that filter was made of: LevelDB's KeyMayMatch, for all
// encodings. False means that it is not one of them. Any bytes may be passed as filter. Those that
// are in no known encoding, or recognizably damaged, may contain every key. It neither allocates
// nor throws, and any number of threads may call it.
inline bool MayContain(std::string_view filter, std::string_view key);

namespace internal {

// The little-endian number in the n bytes of s from byte at on.
inline uint64_t Number(std::string_view s, uint64_t at, uint64_t n) {
  uint64_t number = 0;
  for (uint64_t i = 0; i < n; i++) {
    number |= uint64_t{static_cast<unsigned char>(s[at + i])} << 8 * i;
  }
  return number;
}

inline uint64_t Byte(std::string_view s, uint64_t at) { return Number(s, at, 1); }

inline uint64_t Bit(std::string_view s, uint64_t p) { return Byte(s, p / 8) >> p % 8 & 1; }

inline uint64_t Parity(uint64_t bits) {
  for (int half = 32; half > 0; half /= 2) bits ^= bits >> half;
  return bits & 1;
}

// a * b / 2^64, by halves of 32 bits. No sum here exceeds 64 bits.
inline uint64_t HighHalf(uint64_t a, uint64_t b) {
  const uint64_t low = 0xffffffff;
  const uint64_t middle = (a >> 32) * (b & low) + ((a & low) * (b & low) >> 32);
  const uint64_t other = (a & low) * (b >> 32) + (middle & low);
  return (a >> 32) * (b >> 32) + (middle >> 32) + (other >> 32);
}

// ---- LevelDB's Bloom filter

inline uint32_t Hash(std::string_view key) {
  const uint32_t multiplier = 0xc6a4a793;
  uint32_t h = 0xbc9f1d34 ^ static_cast<uint32_t>(key.size()) * multiplier;
  for (; key.size() >= 4; key.remove_prefix(4)) {
    h = (h + static_cast<uint32_t>(Number(key, 0, 4))) * multiplier;
    h ^= h >> 16;
  }
  if (!key.empty()) {
    h = (h + static_cast<uint32_t>(Number(key, 0, key.size()))) * multiplier;
    h ^= h >> 24;
  }
  return h;
}

// filter has 2 bytes or more.
inline bool MayContainBloom(std::string_view filter, std::string_view key) {
  const uint64_t bits = 8 * (uint64_t{filter.size()} - 1);
  const uint64_t k = Byte(filter, filter.size() - 1);
  uint32_t h = Hash(key);
  const uint32_t delta = h >> 17 | h << 15;
  for (uint64_t i = 0; i < k; i++, h += delta) {
    if (Bit(filter, h % bits) == 0) return false;
  }
  return true;
}

// ---- Ribbon

// A shard of m slots, at least 8, with the seed s, in P bytes. C, below, is at most 41.
class Shard {
 public:
  Shard(std::string_view bytes, uint64_t m, uint64_t s) : bytes_(bytes), m_(m), s_(s) {
    P_ = bytes.size();
    b_ = m / 8;
    r_ = m % 8;
    C_ = 8 * P_ / m;
    G_ = C_ / 8;
    D_ = C_ % 8;
    const uint64_t others = G_ * m + D_ * b_ + ((D_ + 1) * r_ + 7) / 8;
    Q_ = P_ > others ? P_ - others : 0;
  }

  // Tells whether a key with the hash H may be in the shard.
  bool MayContain(uint64_t H) const {
    const uint64_t M = 0x9e3779b97f4a7c15 * (8 * (s_ / 8) + 7) | uint64_t{0xff} << 56;
    const uint64_t V = H * M;
    const uint64_t F = HighHalf(H, M) ^ V;
    return s_ == 63 ? MayContainBits(V, F) : MayHold(V, F);
  }

 private:
  // Seed 63: the shard is a Bloom filter.
  bool MayContainBits(uint64_t V, uint64_t F) const {
    const uint64_t steps = (11 * P_ + m_) / (2 * m_);
    uint64_t Y = F;
    for (uint64_t i = 0; i < steps; i++, Y += V) {
      if (Bit(bytes_, HighHalf(Y, 8 * P_)) == 0) return false;
    }
    return true;
  }

  // Any other seed: tells whether the key's equation holds in every column that the key has.
  bool MayHold(uint64_t V, uint64_t F) const {
    const uint64_t last = m_ > 57 ? (m_ - 57) / 8 : 0;
    const int64_t d = static_cast<int64_t>((F >> 52) * (last + 7) / 4096) - 3;
    const uint64_t start = std::clamp<int64_t>(d, 0, static_cast<int64_t>(last));
    const uint64_t E = 8 * start + 64 > m_ ? 8 * start + 64 - m_ : 0;  // below 64: m is 8 or more
    uint64_t coefficients = V >> E;
    if (d < 0) coefficients ^= F >> (41 + s_ % 8) & 15;

    const uint64_t columns = start + 8 <= Q_ ? C_ + 1 : C_;
    for (uint64_t column = 0; column < columns; column++) {
      const uint64_t sum = Parity(coefficients & Slots(start, column));
      if (sum != (F >> column & 1)) return false;
    }
    return true;
  }

  // The bits of the 64 slots from octet start on in a column, those beyond the last slot 0. The
  // column is below C, or it is column C and has all of these slots.
  uint64_t Slots(uint64_t start, uint64_t column) const {
    uint64_t slots = 0;
    for (uint64_t i = 0; i < 8; i++) {
      const uint64_t octet = start + i;
      if (octet < b_) slots |= Octet(octet, column) << 8 * i;
      if (octet == b_) slots |= Rest(column) << 8 * i;
    }
    return slots;
  }

  // The bits of a whole octet in a column.
  uint64_t Octet(uint64_t octet, uint64_t column) const {
    if (column < 8 * G_) return Byte(bytes_, column / 8 * m_ + 8 * octet + column % 8);
    return Byte(bytes_, G_ * m_ + (column - 8 * G_) * b_ + octet);
  }

  // The bits of the r slots that remain in a column below C.
  uint64_t Rest(uint64_t column) const {
    uint64_t slots = 0;
    for (uint64_t i = 0; i < r_; i++) {
      const uint64_t slot = column < 8 * G_
          ? Byte(bytes_, column / 8 * m_ + 8 * b_ + i) >> column % 8 & 1
          : Bit(bytes_, 8 * P_ - (column - 8 * G_ + 1) * r_ + i);
      slots |= slot << i;
    }
    return slots;
  }

  const std::string_view bytes_;
  const uint64_t m_, s_;
  uint64_t P_, b_, r_, C_, G_, D_, Q_;
};

// T mod 1024 is not 0.
inline bool MayContainInOneShard(std::string_view filter, uint64_t T, uint64_t H) {
  const std::string_view shard = filter.substr(0, filter.size() - 4);
  const uint64_t m = T % 1024, s = T / 1024;
  if (m < 8 || 8 * uint64_t{shard.size()} / m > 40) return true;
  return Shard(shard, m, s).MayContain(H);
}

// T mod 1024 is 0.
inline bool MayContainInShards(std::string_view filter, uint64_t T, uint64_t H) {
  const uint64_t L = filter.size(), A = T / 1024;
  const uint64_t S = Number(filter, L - 8, 4);
  if (S == 0 || A > 40 || 8 + 4 * (S + 1) > L) return true;
  const uint64_t N = L - 8 - 4 * (S + 1);
  const auto index = [&](uint64_t i) { return Number(filter, N + 4 * i, 4); };

  const uint64_t B = index(S) / 64;
  if (A * B > N) return true;
  const uint64_t W = N - A * B;
  const auto begin = [&](uint64_t octet) { return A * octet + std::min(octet, W); };

  const uint64_t shard = (H & 0xffffffff) * S >> 32;
  const uint64_t f = index(shard) / 64, next = index(shard + 1) / 64, s = index(shard) % 64;
  if (next < f + 8 || next > B) return true;
  const std::string_view bytes = filter.substr(begin(f), begin(next) - begin(f));
  return Shard(bytes, 8 * (next - f), s).MayContain(H);
}

// filter has 2 bytes or more.
inline bool MayContainRibbon(std::string_view filter, std::string_view key) {
  const uint64_t L = filter.size();
  if (L < 12) return true;
  uint64_t sum = 0;
  for (uint64_t i = L - 8; i < L; i++) sum ^= Byte(filter, i);
  if (sum != static_cast<uint32_t>(L) * uint32_t{0x9e3779b1} >> 24) return true;

  const uint64_t H = XXH3_64bits(key.data(), key.size());
  const uint64_t T = Number(filter, L - 4, 2);
  return T % 1024 != 0 ? MayContainInOneShard(filter, T, H) : MayContainInShards(filter, T, H);
}

}  // namespace internal

inline bool MayContain(std::string_view filter, std::string_view key) {
  if (filter.size() < 2) return false;
  const uint64_t encoding = internal::Byte(filter, filter.size() - 1);
  if (encoding <= 30) return internal::MayContainBloom(filter, key);
  if (encoding == 0x73) return internal::MayContainRibbon(filter, key);
  return true;
}

}  // namespace levelbloom
