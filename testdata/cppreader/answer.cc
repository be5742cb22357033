// Answers questions about filters, for the Go test. Standard input has any number of questions:
//
//   length of the filter, number of keys (4 bytes each, little-endian), the filter,
//   then for each key its length (4 bytes) and the key
//
// Standard output gets a byte for each key, in order: 1 if the filter may contain it, else 0. They
// are written after each question, so their number tells which question ended the program.

#include <cstdint>
#include <cstdio>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "levelbloom.h"

namespace {

// Bytes from standard input in memory of exactly their length, so that the address sanitizer sees a
// byte that is read outside of them.
class Exact {
 public:
  explicit Exact(size_t n) : n_(n), bytes_(new char[n]) {
    if (!std::cin.read(bytes_.get(), static_cast<std::streamsize>(n))) {
      throw std::runtime_error("the input ends within a question");
    }
  }
  std::string_view view() const { return {bytes_.get(), n_}; }

 private:
  const size_t n_;
  const std::unique_ptr<char[]> bytes_;
};

size_t Length() { return levelbloom::internal::Number(Exact(4).view(), 0, 4); }

}  // namespace

int main() {
  std::ios::sync_with_stdio(false);
  try {
    std::string answers;
    while (std::cin.peek() != EOF) {
      const size_t length = Length(), keys = Length();
      const Exact filter(length);
      answers.clear();
      for (size_t i = 0; i < keys; i++) {
        const Exact key(Length());
        answers += levelbloom::MayContain(filter.view(), key.view()) ? '\1' : '\0';
      }
      std::cout << answers << std::flush;
    }
  } catch (const std::exception& e) {
    std::cerr << "answer: " << e.what() << '\n';
    return 1;
  }
}
