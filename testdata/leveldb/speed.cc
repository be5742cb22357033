// Times C++ LevelDB's Bloom policy, through its public API alone, for the benchmark of filters.
//
//   speed < commands
//
// Answers every command, a line of standard input that records may follow, with one line. README.md describes the commands.

#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdint>
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

  void End() const {
    if (!rest_.empty()) throw std::invalid_argument("too many words: " + rest_);
  }

 private:
  std::string rest_;
};

// Numbers are 32 bits, little-endian, in records and in filters.
uint32_t Number(const char* bytes) {
  uint32_t number = 0;
  for (int i = 3; i >= 0; --i) number = number << 8 | static_cast<unsigned char>(bytes[i]);
  return number;
}

std::string Number(uint32_t number) {
  std::string bytes;
  for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(number >> shift);
  return bytes;
}

// Byte strings that lie one behind the other in memory.
class Strings {
 public:
  // Reads so many records from standard input: each is its length, as a number, and its bytes.
  void Read(int records) {
    bytes_.clear();
    std::vector<size_t> ends;
    for (; records > 0; --records) {
      char length[4];
      std::cin.read(length, sizeof length);
      if (!std::cin) throw std::runtime_error("the input ends within the records");
      const size_t start = bytes_.size();
      bytes_.resize(start + Number(length));
      if (!std::cin.read(bytes_.data() + start, bytes_.size() - start)) {
        throw std::runtime_error("the input ends within the records");
      }
      ends.push_back(bytes_.size());
    }
    Slices(ends, 1);
  }

  // Repeats all strings, one round behind the other.
  void Repeat(int times) {
    std::vector<size_t> ends;
    for (const Slice& s : slices_) ends.push_back(s.data() + s.size() - bytes_.data());
    const size_t once = bytes_.size();
    bytes_.resize(times * once);
    for (int i = 1; i < times; ++i) std::copy_n(bytes_.begin(), once, bytes_.begin() + i * once);
    Slices(ends, times);
  }

  size_t size() const { return slices_.size(); }
  const Slice& operator[](size_t i) const { return slices_[i]; }

 private:
  void Slices(const std::vector<size_t>& ends, int times) {
    slices_.clear();
    const char* start = bytes_.data();
    for (; times > 0; --times) {
      size_t before = 0;
      for (const size_t end : ends) {
        slices_.emplace_back(start, end - before);
        start += end - before;
        before = end;
      }
    }
  }

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
      copies_ = command.Number(1);
      filters_.Read(command.Number(0));
      distinct_ = filters_.size();
      filters_.Repeat(copies_);
    } else if (name == "queries") {
      queries_.Read(command.Number(0));
    } else if (name == "lookup") {
      const int pass = command.Number(0);
      reply = TimeLookups(pass, command.Number(0));
    } else if (name == "answers") {
      reply = Answers();
    } else if (name == "keys") {
      keys_.Read(command.Number(0));
    } else if (name == "build") {
      const int each = command.Number(1);
      reply = TimeBuilding(each, command.Number(0));
    } else if (name == "filtersof") {
      reply = Filters(command.Number(1));
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

  const Slice& Filter(size_t query, uint64_t copy) const {
    if (queries_[query].size() < 4) throw std::invalid_argument("a query names no filter");
    const uint32_t asked = Number(queries_[query].data());
    if (asked >= distinct_) throw std::out_of_range("there is no filter " + std::to_string(asked));
    return filters_[copy * distinct_ + asked];
  }

  Slice Key(size_t query) const { return Slice(queries_[query].data() + 4, queries_[query].size() - 4); }

  // All queries, each to one of the copies of its filter. Another pass asks other copies.
  std::vector<Lookup> Lookups(uint64_t pass) const {
    std::vector<Lookup> lookups;
    lookups.reserve(queries_.size());
    for (size_t i = 0; i < queries_.size(); ++i) {
      lookups.push_back({Filter(i, SplitMix(i + (pass << 32)) % copies_), Key(i)});
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
    for (size_t i = 0; i < queries_.size(); ++i) {
      answers += policy_->KeyMayMatch(Key(i), Filter(i, 0)) ? '1' : '0';
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
    const auto drop = [](const std::string&) {};
    // A large filter does not stay in the caches, and takes long: once, so that its memory is there, is enough.
    const size_t longest = std::min(each, keys_.size());
    if (each < 1000000 || longest > longest_) Build(each, drop);
    longest_ = std::max(longest, longest_);

    const auto start = Clock::now();
    for (int i = 0; i < repeat; ++i) Build(each, drop);
    const auto end = Clock::now();
    return Nanoseconds(end - start);
  }

  // The number of filters, a line, and then each filter as `filters` reads it.
  std::string Filters(size_t each) {
    std::string reply = std::to_string((keys_.size() + each - 1) / each) + '\n';
    Build(each, [&](const std::string& filter) { reply += Number(static_cast<uint32_t>(filter.size())) + filter; });
    return reply;
  }

  // Reading takes the number of probes from the filter, so the setting matters only to building.
  std::unique_ptr<const leveldb::FilterPolicy> policy_{leveldb::NewBloomFilterPolicy(10)};
  size_t distinct_ = 0;  // filters, without the copies
  size_t copies_ = 1;
  Strings filters_;      // copy c of filter f is number c * distinct_ + f
  Strings queries_;      // each is the number of a filter and a key
  Strings keys_;         // to build filters of
  std::string filter_;   // keeps its memory from one filter to the next
  size_t longest_ = 0;   // the most keys that one filter was timed with: it has the memory for them
};

}  // namespace

int main() {
  std::signal(SIGINT, SIG_IGN);  // the end of its input ends it
  std::ios::sync_with_stdio(false);
  Speed speed;
  try {
    ForEachLine([&](const std::string& line) { std::cout << speed.Reply(Command(line)) << std::endl; });
  } catch (const std::exception& e) {
    std::cerr << "speed: " << e.what() << '\n';
    return 1;
  }
}
