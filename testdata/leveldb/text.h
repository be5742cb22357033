// Lines and hex: the text that the programs here read and print.
#pragma once

#include <charconv>
#include <cstddef>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>

inline std::string ToHex(std::string_view bytes) {
  std::string hex;
  hex.reserve(2 * bytes.size());
  for (const unsigned char b : bytes) {
    hex += "0123456789abcdef"[b >> 4];
    hex += "0123456789abcdef"[b & 15];
  }
  return hex;
}

inline std::string FromHex(std::string_view hex) {
  if (hex.size() % 2 != 0) throw std::invalid_argument("odd number of hex digits");
  std::string bytes;
  bytes.reserve(hex.size() / 2);
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    const char* const end = hex.data() + i + 2;
    unsigned char b = 0;
    if (std::from_chars(hex.data() + i, end, b, 16).ptr != end) {
      throw std::invalid_argument("not hex: " + std::string(hex.substr(i, 2)));
    }
    bytes += static_cast<char>(b);
  }
  return bytes;
}

// Calls use with every line of standard input; its errors gain the line's number.
template <typename Use>
void ForEachLine(Use use) {
  std::size_t number = 0;
  for (std::string line; std::getline(std::cin, line);) {
    ++number;
    try {
      use(line);
    } catch (const std::exception& e) {
      throw std::runtime_error("line " + std::to_string(number) + ": " + e.what());
    }
  }
}
