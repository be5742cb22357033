// Asks C++ LevelDB for filters and answers, through its public API alone.
//
//   generate vectors|match|digests [--all] < stored.jsonl
//
// Takes the inputs from every stored line, and prints the line anew with what LevelDB says to them.
// Cases of more than a million keys, or marked huge, are copied as they are unless --all is given.

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <leveldb/filter_policy.h>
#include <leveldb/slice.h>
#include <nlohmann/json.hpp>
#include <openssl/sha.h>

#include "text.h"

namespace {

using Json = nlohmann::ordered_json;  // prints the fields in the order in which they are set

std::unique_ptr<const leveldb::FilterPolicy> Bloom(int bits_per_key) {
  return std::unique_ptr<const leveldb::FilterPolicy>(leveldb::NewBloomFilterPolicy(bits_per_key));
}

std::string CreateFilter(int bits_per_key, const std::vector<std::string>& keys) {
  const std::vector<leveldb::Slice> slices(keys.begin(), keys.end());
  std::string filter;
  Bloom(bits_per_key)->CreateFilter(slices.data(), static_cast<int>(slices.size()), &filter);
  return filter;
}

// Reading takes the number of probes from the filter, so one policy reads the filters of all settings.
bool KeyMayMatch(const std::string& key, const std::string& filter) {
  static const auto reader = Bloom(10);
  return reader->KeyMayMatch(key, filter);
}

Json Probes(const Json& probes, const std::string& filter) {
  Json answered = Json::array();
  for (const Json& probe : probes) {
    const std::string key = probe.at("key");
    answered.push_back({{"key", key}, {"match", KeyMayMatch(FromHex(key), filter)}});
  }
  return answered;
}

Json Vector(const Json& in) {
  std::vector<std::string> keys;
  for (const std::string key : in.at("keys")) keys.push_back(FromHex(key));
  const std::string filter = CreateFilter(in.at("bits_per_key"), keys);
  return {{"name", in.at("name")},
          {"bits_per_key", in.at("bits_per_key")},
          {"keys", in.at("keys")},
          {"filter", ToHex(filter)},
          {"probes", Probes(in.at("probes"), filter)}};
}

Json Match(const Json& in) {
  const std::string filter = in.at("filter");
  return {{"name", in.at("name")}, {"filter", filter}, {"probes", Probes(in.at("probes"), FromHex(filter))}};
}

uint64_t SplitMix(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

std::string LittleEndian(uint64_t x) {
  std::string bytes;
  for (int shift = 0; shift < 64; shift += 8) bytes += static_cast<char>(x >> shift);
  return bytes;
}

std::string User(uint64_t x) {
  char key[32];
  std::snprintf(key, sizeof key, "user%016" PRIu64, x);
  return key;
}

// The number i, then 0 to 32 random bytes: distinct keys of every length.
std::string VariableLength(uint64_t seed, uint64_t i) {
  const uint64_t x = SplitMix(seed + i);
  const size_t length = x % 33;
  std::string tail;
  for (uint64_t j = 1; tail.size() < length; ++j) tail += LittleEndian(SplitMix(x + j));
  return LittleEndian(i) + tail.substr(0, length);
}

std::string Key(const std::string& recipe, uint64_t seed, uint64_t i, uint64_t mod) {
  if (recipe == "splitmix_le64") return LittleEndian(SplitMix(seed + i));
  if (recipe == "user_dec16") return User(seed + i);
  if (recipe == "dec") return std::to_string(seed + i);
  if (recipe == "dup_mod") return LittleEndian(SplitMix(seed + i % mod));
  if (recipe == "varlen") return VariableLength(seed, i);
  throw std::invalid_argument("unknown recipe " + recipe);
}

std::string Sha256(const std::string& bytes) {
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
         reinterpret_cast<unsigned char*>(digest.data()));
  return digest;
}

Json Digest(const Json& in) {
  const uint64_t seed = in.at("seed"), mod = in.at("mod"), n = in.at("n");
  const std::string recipe = in.at("recipe");
  std::vector<std::string> keys;
  keys.reserve(n);
  for (uint64_t i = 0; i < n; ++i) keys.push_back(Key(recipe, seed, i, mod));
  const std::string filter = CreateFilter(in.at("bits_per_key"), keys);

  const std::string absent_recipe = in.at("absent_recipe");
  const uint64_t start = in.at("absent_start"), count = in.at("absent_count");
  uint64_t false_positives = 0;
  for (uint64_t i = start; i < start + count; ++i) {
    false_positives += KeyMayMatch(Key(absent_recipe, seed, i, mod), filter);
  }
  return {{"name", in.at("name")},
          {"recipe", recipe},
          {"seed", seed},
          {"mod", mod},
          {"n", n},
          {"bits_per_key", in.at("bits_per_key")},
          {"filter_len", filter.size()},
          {"filter_sha256", ToHex(Sha256(filter))},
          {"absent_recipe", absent_recipe},
          {"absent_start", start},
          {"absent_count", count},
          {"false_positives", false_positives},
          {"huge", in.at("huge")}};
}

bool IsLarge(const Json& in) { return in.value("huge", false) || in.value("n", uint64_t{0}) > 1000000; }

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  const std::map<std::string, Json (*)(const Json&)> kinds = {
      {"vectors", Vector}, {"match", Match}, {"digests", Digest}};
  const bool all = args.size() == 2 && args[1] == "--all";
  if (args.size() != (all ? 2 : 1) || kinds.count(args[0]) == 0) {
    std::cerr << "usage: generate vectors|match|digests [--all] < stored.jsonl\n";
    return 2;
  }
  const auto compute = kinds.at(args[0]);
  int copied = 0;
  try {
    ForEachLine([&](const std::string& line) {
      const Json in = Json::parse(line);
      if (IsLarge(in) && !all) {
        ++copied;
        std::cout << line << '\n';
      } else {
        std::cout << compute(in) << '\n';
      }
    });
  } catch (const std::exception& e) {
    std::cerr << "generate: " << args[0] << ": " << e.what() << '\n';
    return 1;
  }
  if (copied > 0) std::cerr << "generate: " << copied << " large cases copied, not computed: --all computes them\n";
}
