// Compares the reader with stored filters: those of C++ LevelDB, and those computed from FORMAT.md,
// sound and damaged. Standard input has the lines of testdata/leveldb/vectors.jsonl and match.jsonl
// and of testdata/encodings/ribbon.jsonl. Lines without a filter are left out.

#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "../leveldb/text.h"
#include "levelbloom.h"

namespace {

// Copies bytes to memory of exactly their length, so that the address sanitizer sees a byte that is
// read outside of them.
std::vector<char> Exact(const std::string& hex) {
  const std::string bytes = FromHex(hex);
  return {bytes.begin(), bytes.end()};
}

std::string_view View(const std::vector<char>& bytes) { return {bytes.data(), bytes.size()}; }

}  // namespace

int main() {
  int answers = 0;
  try {
    ForEachLine([&](const std::string& line) {
      const auto stored = nlohmann::json::parse(line);
      if (!stored.contains("filter")) return;
      const auto filter = Exact(stored["filter"]);
      const auto require = [&](const std::string& key, bool want) {
        if (levelbloom::MayContain(View(filter), View(Exact(key))) != want) {
          throw std::runtime_error(stored["name"].get<std::string>() + ", key " + key);
        }
        answers++;
      };
      for (const auto& key : stored.value("keys", nlohmann::json::array())) require(key, true);
      for (const auto& probe : stored["probes"]) {
        require(probe["key"], probe[probe.contains("match") ? "match" : "may_contain"]);
      }
    });
  } catch (const std::exception& e) {
    std::cerr << "check: " << e.what() << '\n';
    return 1;
  }
  std::cout << answers << " answers are as stored\n";
}
