// A 64-bit hash of a feature's name. Hashed models depend on it: it never changes.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace lopsided {

class NameHash {
 public:
  NameHash& add(std::string_view text) {
    const char* p = text.data();
    std::size_t n = text.size();
    for (; n >= 8; p += 8, n -= 8) mix(word(p, 8));
    if (n > 0) mix(word(p, n));
    length_ += text.size();
    return *this;
  }
  std::uint64_t value() const { return fold(state_ ^ length_, 0xa0761d6478bd642f); }

 private:
  static std::uint64_t word(const char* p, std::size_t n) {  // little end first on every machine
    std::uint64_t w = 0;
    for (std::size_t k = 0; k < n; ++k) w |= std::uint64_t(static_cast<unsigned char>(p[k])) << (8 * k);
    return w;
  }
  static std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
    const auto product = static_cast<unsigned __int128>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  }
  void mix(std::uint64_t w) { state_ = fold(state_ ^ w, 0xe7037ed1a0b428db); }

  std::uint64_t state_ = 0x8ebc6af09c88c6e3;
  std::uint64_t length_ = 0;
};

}  // namespace lopsided
