// Times C++ LevelDB's Bloom policy, through its public API alone, for the benchmark of filters.
//
//   speed < commands
//
// Answers every line of standard input, one command, with one line. README.md tells the commands and the files they name.

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <leveldb/db.h>
#include <leveldb/filter_policy.h>
#include <leveldb/slice.h>

#include "text.h"

namespace {

using leveldb::Slice;
using Clock = std::chrono::steady_clock;

std::string Nanoseconds(Clock::duration time) {
  return std::to_string(std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
}

// A command line, taken word by word.
class Command {
 public:
  explicit Command(std::string line) : rest_(std::move(line)) {}

  std::string Word() {
    const size_t end = std::min(rest_.find(' '), rest_.size());
    const std::string word = rest_.substr(0, end);
    rest_.erase(0, end + 1);
    return word;
  }

  int Number(int min) {
    const std::string word = Word();
    int number = -1;
    const char* const end = word.data() + word.size();
    if (std::from_chars(word.data(), end, number).ptr != end || number < min) {
      throw std::invalid_argument("want a whole number, " + std::to_string(min) + " or more: " + word);
    }
    return number;
  }

  // All that is left: a file's path may contain spaces.
  std::string Path() { return std::exchange(rest_, ""); }

  void End() const {
    if (!rest_.empty()) throw std::invalid_argument("too many words: " + rest_);
  }

 private:
  std::string rest_;
};

// The content of a file: numbers (32 bits, little-endian) and byte strings (the length as such a number, then the bytes).
class Input {
 public:
  explicit Input(const std::string& path) : bytes_(std::filesystem::file_size(path)) {
    std::ifstream file(path, std::ios::binary);
    if (!file.read(bytes_.data(), bytes_.size())) throw std::runtime_error("cannot read " + path);
    left_ = Slice(bytes_.data(), bytes_.size());
  }

  size_t size() const { return bytes_.size(); }

  uint32_t Number() {
    uint32_t number = 0;
    const Slice bytes = Take(4);
    for (int i = 3; i >= 0; --i) number = number << 8 | static_cast<unsigned char>(bytes[i]);
    return number;
  }

  Slice String() { return Take(Number()); }

  void End() const {
    if (!left_.empty()) throw std::runtime_error("the file is longer than it says");
  }

 private:
  Slice Take(size_t n) {
    if (n > left_.size()) throw std::runtime_error("the file is shorter than it says");
    const Slice taken(left_.data(), n);
    left_.remove_prefix(n);
    return taken;
  }

  std::vector<char> bytes_;
  Slice left_;
};

void WriteNumber(std::ofstream& file, uint32_t number) {
  for (int shift = 0; shift < 32; shift += 8) file.put(static_cast<char>(number >> shift));
}

// Byte strings that lie one behind the other in memory.
class Strings {
 public:
  // Forgets the strings, and makes room for that many bytes: more would move what the slices point to.
  void Reset(size_t bytes) {
    slices_.clear();
    bytes_.clear();
    bytes_.reserve(bytes);
  }

  void Append(const Slice& s) {
    if (bytes_.capacity() - bytes_.size() < s.size()) throw std::logic_error("no room left");
    slices_.emplace_back(bytes_.data() + bytes_.size(), s.size());
    bytes_.insert(bytes_.end(), s.data(), s.data() + s.size());
  }

  size_t size() const { return slices_.size(); }
  size_t bytes() const { return bytes_.size(); }
  const std::vector<Slice>& slices() const { return slices_; }
  const Slice& operator[](size_t i) const { return slices_[i]; }

 private:
  std::vector<char> bytes_;
  std::vector<Slice> slices_;
};

uint64_t SplitMix(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

struct Lookup {
  Slice filter, key;
};

class Speed {
 public:
  std::string Reply(Command command) {
    const std::string name = command.Word();
    std::string reply = "ok";
    if (name == "version") {
      reply = Version();
    } else if (name == "bits") {
      policy_.reset(leveldb::NewBloomFilterPolicy(command.Number(0)));  // LevelDB crashes on negative settings
    } else if (name == "filters") {
      ReadStrings(command.Path(), &distinct_);
      Copy(1);
    } else if (name == "copies") {
      Copy(command.Number(1));
    } else if (name == "queries") {
      ReadQueries(command.Path());
    } else if (name == "lookup") {
      const int pass = command.Number(0);
      reply = TimeLookups(pass, command.Number(0));
    } else if (name == "answers") {
      reply = Answers();
    } else if (name == "keys") {
      ReadStrings(command.Path(), &keys_);
    } else if (name == "build") {
      const int each = command.Number(1);
      reply = TimeBuilding(each, command.Number(0));
    } else if (name == "buildto") {
      const int each = command.Number(1);
      WriteFilters(each, command.Path());
    } else {
      throw std::invalid_argument("unknown command " + name);
    }
    command.End();
    return reply;
  }

 private:
  static std::string Version() {
    return "C++ LevelDB " + std::to_string(leveldb::kMajorVersion) + '.' + std::to_string(leveldb::kMinorVersion) +
           " (" LIBRARY "), the loop by " COMPILER " " __VERSION__ " " OPTIMIZATION;
  }

  static void ReadStrings(const std::string& path, Strings* strings) {
    Input in(path);
    strings->Reset(in.size());
    for (uint32_t left = in.Number(); left > 0; --left) strings->Append(in.String());
    in.End();
  }

  void ReadQueries(const std::string& path) {
    Input in(path);
    asked_.clear();
    query_keys_.Reset(in.size());
    for (uint32_t left = in.Number(); left > 0; --left) {
      asked_.push_back(in.Number());
      query_keys_.Append(in.String());
    }
    in.End();
  }

  void Copy(size_t copies) {
    copies_ = copies;
    filters_.Reset(copies * distinct_.bytes());
    for (size_t c = 0; c < copies; ++c) {
      for (const Slice& filter : distinct_.slices()) filters_.Append(filter);
    }
  }

  const Slice& Filter(size_t query, uint64_t copy) const {
    const uint32_t asked = asked_[query];
    if (asked >= distinct_.size()) throw std::out_of_range("there is no filter " + std::to_string(asked));
    return filters_[copy * distinct_.size() + asked];
  }

  // All queries, each to one of the copies of its filter. Another pass asks other copies.
  std::vector<Lookup> Lookups(uint64_t pass) const {
    std::vector<Lookup> lookups;
    lookups.reserve(asked_.size());
    for (size_t i = 0; i < asked_.size(); ++i) {
      lookups.push_back({Filter(i, SplitMix(i + (pass << 32)) % copies_), query_keys_[i]});
    }
    return lookups;
  }

  uint64_t Matches(const std::vector<Lookup>& lookups) const {
    uint64_t matches = 0;
    for (const Lookup& lookup : lookups) matches += policy_->KeyMayMatch(lookup.key, lookup.filter);
    return matches;
  }

  std::string TimeLookups(uint64_t pass, uint64_t repeat) const {
    // With one copy all passes are the same. With more, what the untimed pass leaves in the caches must not help the others.
    const uint64_t passes = copies_ == 1 ? 1 : repeat;
    std::vector<std::vector<Lookup>> timed;
    for (uint64_t i = 0; i < passes; ++i) timed.push_back(Lookups(pass + i));
    Matches(copies_ == 1 ? timed[0] : Lookups(pass + repeat));

    uint64_t matches = 0;
    const auto start = Clock::now();
    for (uint64_t i = 0; i < repeat; ++i) matches += Matches(timed[i % passes]);
    const auto end = Clock::now();
    return Nanoseconds(end - start) + ' ' + std::to_string(matches);
  }

  std::string Answers() const {
    std::string answers;
    for (size_t i = 0; i < asked_.size(); ++i) {
      answers += policy_->KeyMayMatch(query_keys_[i], Filter(i, 0)) ? '1' : '0';
    }
    return answers;
  }

  // Makes one filter for every `each` keys and calls use with it.
  template <typename Use>
  void Build(size_t each, Use use) {
    for (size_t i = 0; i < keys_.size(); i += each) {
      filter_.clear();
      policy_->CreateFilter(&keys_[i], static_cast<int>(std::min(each, keys_.size() - i)), &filter_);
      use(filter_);
    }
  }

  std::string TimeBuilding(size_t each, int repeat) {
    uint64_t bytes = 0;
    const auto count = [&](const std::string& filter) { bytes += filter.size(); };
    // A large filter does not stay in the caches, and takes long: once, so that its memory is there, is enough.
    const size_t longest = std::min(each, keys_.size());
    if (each < 1000000 || longest > longest_) Build(each, count);
    longest_ = std::max(longest, longest_);

    bytes = 0;
    const auto start = Clock::now();
    for (int i = 0; i < repeat; ++i) Build(each, count);
    const auto end = Clock::now();
    return Nanoseconds(end - start) + ' ' + std::to_string(repeat == 0 ? 0 : bytes / repeat);
  }

  void WriteFilters(size_t each, const std::string& path) {
    std::ofstream file(path, std::ios::binary);
    WriteNumber(file, static_cast<uint32_t>((keys_.size() + each - 1) / each));
    Build(each, [&](const std::string& filter) {
      WriteNumber(file, static_cast<uint32_t>(filter.size()));
      file << filter;
    });
    file.close();
    if (!file) throw std::runtime_error("cannot write " + path);
  }

  // Reading takes the number of probes from the filter, so the setting matters only to building.
  std::unique_ptr<const leveldb::FilterPolicy> policy_{leveldb::NewBloomFilterPolicy(10)};
  Strings distinct_;             // the filters that the queries name by number
  size_t copies_ = 1;
  Strings filters_;              // copy c of filter f is number c * distinct_.size() + f
  std::vector<uint32_t> asked_;  // the filter of each query
  Strings query_keys_;           // the key of each query
  Strings keys_;                 // to build filters of
  std::string filter_;           // keeps its memory from one filter to the next
  size_t longest_ = 0;           // the most keys that one filter was timed with: it has the memory for them
};

}  // namespace

int main() {
  Speed speed;
  try {
    ForEachLine([&](const std::string& line) { std::cout << speed.Reply(Command(line)) << std::endl; });
  } catch (const std::exception& e) {
    std::cerr << "speed: " << e.what() << '\n';
    return 1;
  }
}
