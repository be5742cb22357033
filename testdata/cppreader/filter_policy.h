// A leveldb::FilterPolicy that reads the filters of levelbloom, ribbon filters among them.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <leveldb/filter_policy.h>

#include "levelbloom.h"

class LevelbloomPolicy : public leveldb::FilterPolicy {
 public:
  // LevelDB finds a table's filters by the policy's name, so it must be the one that the Go program
  // gave: policy.NameLevelDB, "leveldb.BuiltinBloomFilter2", unless that used WithName.
  explicit LevelbloomPolicy(std::string name) : name_(std::move(name)) {}

  const char* Name() const override { return name_.c_str(); }

  bool KeyMayMatch(const leveldb::Slice& key, const leveldb::Slice& filter) const override {
    return levelbloom::MayContain({filter.data(), filter.size()}, {key.data(), key.size()});
  }

  // New tables get LevelDB's own filters, which KeyMayMatch reads too.
  void CreateFilter(const leveldb::Slice* keys, int n, std::string* dst) const override {
    bloom_->CreateFilter(keys, n, dst);
  }

 private:
  const std::string name_;
  const std::unique_ptr<const leveldb::FilterPolicy> bloom_{leveldb::NewBloomFilterPolicy(10)};
};
