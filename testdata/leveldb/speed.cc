// Times C++ LevelDB's Bloom policy, through its public API alone, in Go's benchmark format.
//
//   speed WORK LOOKUPS FILTERS N LENGTH BITS MEMORY
//
// Every line of standard input, whatever it says, is a turn: the work is done once, and a line is printed. README.md has the rest.

#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <iostream>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <leveldb/db.h>
#include <leveldb/filter_policy.h>
#include <leveldb/slice.h>

namespace {

using leveldb::Slice;

constexpr uint64_t kQueries = 1 << 16;
constexpr uint64_t kFirstAbsent = uint64_t{1} << 40;
constexpr uint64_t kLarge = 1000000;  // keys, whose filter leaves nothing in the caches that the next one would find there

uint64_t SplitMix(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// Keys of one length that lie one behind the other in memory.
class Keys {
 public:
  void Append(uint64_t index, size_t length) {
    size_t left = length;
    for (uint64_t x = SplitMix(index); left > 0; x = SplitMix(x)) {
      for (int shift = 0; shift < 64 && left > 0; shift += 8, --left) bytes_ += static_cast<char>(x >> shift);
    }
    length_ = length;
  }

  // Sorts every n keys.
  void Sort(size_t n) {
    std::vector<Slice> sorted = Slices();
    for (size_t i = 0; i < sorted.size(); i += n) {
      std::sort(sorted.begin() + i, sorted.begin() + i + n, [](Slice a, Slice b) { return a.compare(b) < 0; });
    }
    std::string bytes;
    bytes.reserve(bytes_.size());
    for (const Slice& key : sorted) bytes.append(key.data(), key.size());
    bytes_ = std::move(bytes);
  }

  std::vector<Slice> Slices() const {
    std::vector<Slice> slices;
    for (size_t i = 0; i < bytes_.size(); i += length_) slices.emplace_back(bytes_.data() + i, length_);
    return slices;
  }

 private:
  std::string bytes_;
  size_t length_ = 0;
};

struct Cell {
  std::string work, lookups;  // "build" or another; "hit" or "miss"
  uint64_t filters, n, length;
  int bits;
  uint64_t memory;  // of the filters and their copies
};

class Speed {
 public:
  explicit Speed(const Cell& cell) : cell_(cell), policy_(leveldb::NewBloomFilterPolicy(cell.bits)) {
    for (uint64_t i = 0; i < cell.filters * cell.n; ++i) key_bytes_.Append(i, cell.length);
    key_bytes_.Sort(cell.n);
    keys_ = key_bytes_.Slices();
    Build([this](const std::string& filter) { filters_.push_back(filter); });
    if (cell.work == "build") return;

    uint64_t size = 0;
    for (const std::string& filter : filters_) size += filter.size();
    copies_ = std::max<uint64_t>(1, cell.memory / size);
    filters_.reserve(copies_ * cell.filters);
    for (uint64_t i = cell.filters; i < copies_ * cell.filters; ++i) filters_.push_back(filters_[i - cell.filters]);
    MakeQueries();
  }

  std::string Turn() { return cell_.work == "build" ? TimeBuilding() : TimeLookups(); }

 private:
  struct Query {
    Slice filter, key;
  };

  // Each present key as often as another, or absent keys that are all different; in random order.
  void MakeQueries() {
    const uint64_t all = cell_.filters * cell_.n;
    std::vector<uint64_t> order(kQueries);
    for (uint64_t i = 0; i < kQueries; ++i) order[i] = i;
    std::shuffle(order.begin(), order.end(), std::mt19937_64(1));
    for (const uint64_t i : order) {
      uint64_t index = kFirstAbsent + i;
      if (cell_.lookups == "hit") index = all > kQueries ? i * all / kQueries : i % all;
      query_bytes_.Append(index, cell_.length);
      asked_.push_back(cell_.lookups == "hit" ? index / cell_.n : SplitMix(index) % cell_.filters);
    }
    queries_ = query_bytes_.Slices();
  }

  // Each query, to one of the copies of its filter: in each pass to other ones.
  std::vector<Query> NextPass() {
    std::vector<Query> pass;
    for (uint64_t i = 0; i < queries_.size(); ++i) {
      const uint64_t copy = SplitMix(i + (pass_ << 32)) % copies_;
      pass.push_back({filters_[copy * cell_.filters + asked_[i]], queries_[i]});
    }
    ++pass_;
    return pass;
  }

  uint64_t Matches(const std::vector<Query>& pass) const {
    uint64_t matches = 0;
    for (const Query& query : pass) matches += policy_->KeyMayMatch(query.key, query.filter);
    return matches;
  }

  std::string TimeLookups() {
    const std::vector<Query> timed = NextPass();
    Matches(copies_ == 1 ? timed : NextPass());  // untimed; of many filters it must leave none of the timed ones in the caches
    const auto start = Clock::now();
    const uint64_t matches = Matches(timed);
    return Line(Clock::now() - start, timed.size(), matches);
  }

  // Makes one filter of every n keys and calls use with it.
  template <typename Use>
  void Build(Use use) {
    for (size_t i = 0; i < keys_.size(); i += cell_.n) {
      filter_.clear();
      policy_->CreateFilter(&keys_[i], static_cast<int>(cell_.n), &filter_);
      use(filter_);
    }
  }

  std::string TimeBuilding() {
    const auto drop = [](const std::string&) {};
    if (cell_.n < kLarge) Build(drop);  // untimed
    const auto start = Clock::now();
    Build(drop);
    const auto time = Clock::now() - start;
    uint32_t hash = 2166136261;  // FNV-1a
    for (const std::string& filter : filters_) {
      for (const unsigned char byte : filter) hash = (hash ^ byte) * 16777619;
    }
    return Line(time, keys_.size(), hash);
  }

  using Clock = std::chrono::steady_clock;

  std::string Line(Clock::duration time, size_t keys, uint64_t check) const {
    const double ns = std::chrono::duration<double, std::nano>(time).count() / keys;
    std::string name = cell_.work + "/filter=cpp";
    name[0] -= 'a' - 'A';
    if (cell_.work != "build") name += "/keys=" + cell_.lookups;
    return "Benchmark" + name + "/n=" + std::to_string(cell_.n) + "/len=" + std::to_string(cell_.length) + '\t' +
           std::to_string(keys) + '\t' + std::to_string(ns) + " ns/op\t" + std::to_string(check) + " check";
  }

  const Cell cell_;
  const std::unique_ptr<const leveldb::FilterPolicy> policy_;
  Keys key_bytes_, query_bytes_;
  std::vector<Slice> keys_, queries_;
  std::vector<std::string> filters_;  // copy c of filter f is number c * cell_.filters + f
  std::vector<uint64_t> asked_;       // the filter that each query asks
  uint64_t copies_ = 1, pass_ = 0;
  std::string filter_;  // keeps its memory from one filter to the next
};

uint64_t Number(const std::string& word, uint64_t min) {
  uint64_t number = 0;
  const char* const end = word.data() + word.size();
  if (std::from_chars(word.data(), end, number).ptr != end || number < min || number > 1 << 30) {
    throw std::invalid_argument("want a whole number from " + std::to_string(min) + " to 2^30: " + word);
  }
  return number;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGINT, SIG_IGN);  // the end of its input ends it
  try {
    const std::vector<std::string> words(argv + 1, argv + argc);
    if (words.size() != 7) throw std::invalid_argument("want WORK LOOKUPS FILTERS N LENGTH BITS MEMORY");
    const Cell cell{words[0], words[1], Number(words[2], 1), Number(words[3], 1), Number(words[4], 8),
                    static_cast<int>(Number(words[5], 0)), Number(words[6], 0)};
    std::cout << "leveldb: " << leveldb::kMajorVersion << '.' << leveldb::kMinorVersion
              << " (" LIBRARY "), the loop by " COMPILER " " __VERSION__ " " OPTIMIZATION << std::endl;
    Speed speed(cell);
    for (std::string line; std::getline(std::cin, line);) std::cout << speed.Turn() << std::endl;
  } catch (const std::exception& e) {
    std::cerr << "speed: " << e.what() << '\n';
    return 1;
  }
}
