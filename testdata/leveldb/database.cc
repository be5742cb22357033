// Reads and writes databases with C++ LevelDB, its Bloom policy under any name. Keys and values are hex, empty ones included.
//
//   database read DIR NAME [ours] < lines of "key"
//     prints "key<TAB>found<TAB>value" or "key<TAB>absent" for every line, at the end "checks=N absent=M":
//     how often LevelDB asked a filter, and how often the filter spared it the read. LevelDB may modify DIR: give it a copy.
//     With "ours" the filters are read by LevelbloomPolicy, which knows more encodings than LevelDB.
//   database write DIR NAME BITS < lines of "key value"
//     makes the new database DIR, BITS bits per key, and compacts it, so that everything lies in tables.

#include <charconv>
#include <cstdint>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <leveldb/db.h>
#include <leveldb/filter_policy.h>

#include "../cppreader/filter_policy.h"
#include "text.h"

namespace {

// A policy under the given name, with its answers counted.
class NamedPolicy : public leveldb::FilterPolicy {
 public:
  NamedPolicy(std::string name, const leveldb::FilterPolicy* owned) : name_(std::move(name)), policy_(owned) {}

  const char* Name() const override { return name_.c_str(); }

  void CreateFilter(const leveldb::Slice* keys, int n, std::string* dst) const override {
    policy_->CreateFilter(keys, n, dst);
  }

  bool KeyMayMatch(const leveldb::Slice& key, const leveldb::Slice& filter) const override {
    const bool may_match = policy_->KeyMayMatch(key, filter);
    ++checks_;
    if (!may_match) ++absent_;
    return may_match;
  }

  uint64_t checks() const { return checks_; }
  uint64_t absent() const { return absent_; }

 private:
  const std::string name_;
  const std::unique_ptr<const leveldb::FilterPolicy> policy_;
  // Not atomic: only DB::Get asks filters, and one thread calls it.
  mutable uint64_t checks_ = 0;
  mutable uint64_t absent_ = 0;
};

void Check(const leveldb::Status& status) {
  if (!status.ok()) throw std::runtime_error(status.ToString());
}

std::unique_ptr<leveldb::DB> Open(const std::string& dir, const NamedPolicy& policy, bool create) {
  leveldb::Options options;
  options.filter_policy = &policy;
  options.create_if_missing = create;
  options.error_if_exists = create;
  leveldb::DB* db = nullptr;
  Check(leveldb::DB::Open(options, dir, &db));
  return std::unique_ptr<leveldb::DB>(db);
}

void Read(const std::string& dir, const NamedPolicy& policy) {
  const auto db = Open(dir, policy, /*create=*/false);
  leveldb::ReadOptions options;
  options.verify_checksums = true;
  ForEachLine([&](const std::string& key) {
    std::string value;
    const leveldb::Status status = db->Get(options, FromHex(key), &value);
    if (status.IsNotFound()) {
      std::cout << key << "\tabsent\n";
      return;
    }
    Check(status);
    std::cout << key << "\tfound\t" << ToHex(value) << '\n';
  });
  std::cout << "checks=" << policy.checks() << " absent=" << policy.absent() << '\n';
}

int BitsPerKey(const std::string& text) {
  int bits = -1;
  const char* const end = text.data() + text.size();
  // LevelDB crashes on negative settings.
  if (std::from_chars(text.data(), end, bits).ptr != end || bits < 0) {
    throw std::invalid_argument("BITS must be a whole number, 0 or more: " + text);
  }
  return bits;
}

void Write(const std::string& dir, const std::string& name, const std::string& bits) {
  const NamedPolicy policy(name, leveldb::NewBloomFilterPolicy(BitsPerKey(bits)));
  const auto db = Open(dir, policy, /*create=*/true);
  ForEachLine([&](const std::string& line) {
    const size_t space = line.find(' ');
    if (space == std::string::npos) throw std::invalid_argument("want a key, a space and a value");
    Check(db->Put(leveldb::WriteOptions(), FromHex(line.substr(0, space)), FromHex(line.substr(space + 1))));
  });
  db->CompactRange(nullptr, nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  try {
    if (args.size() == 3 && args[0] == "read") {
      // Any setting reads all filters.
      Read(args[1], NamedPolicy(args[2], leveldb::NewBloomFilterPolicy(10)));
    } else if (args.size() == 4 && args[0] == "read" && args[3] == "ours") {
      const auto ours = new LevelbloomPolicy(args[2]);
      Read(args[1], NamedPolicy(ours->Name(), ours));
    } else if (args.size() == 4 && args[0] == "write") {
      Write(args[1], args[2], args[3]);
    } else {
      std::cerr << "usage: database read DIR NAME [ours] | database write DIR NAME BITS\n";
      return 2;
    }
  } catch (const std::exception& e) {
    std::cerr << "database: " << e.what() << '\n';
    return 1;
  }
}
