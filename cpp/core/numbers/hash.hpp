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
    for (; n > 0 && length_ % 8 != 0; ++p, --n) one(*p);  // complete the pending word
    length_ += n;
    for (; n >= 8; p += 8, n -= 8) mix(word(p, 8));
    if (n > 0) begun_ = word(p, n);
    return *this;
  }
  std::uint64_t value() const {
    const std::uint64_t end = length_ % 8 ? fold(state_ ^ begun_, step) : state_;
    return fold(end ^ length_, 0xa0761d6478bd642f);
  }

 private:
  static std::uint64_t word(const char* p, std::size_t n) {  // little-endian on every machine
    std::uint64_t w = 0;
    for (std::size_t k = 0; k < n; ++k) w |= std::uint64_t(static_cast<unsigned char>(p[k])) << (8 * k);
    return w;
  }
  static constexpr std::uint64_t step = 0xe7037ed1a0b428db;

  static std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
    const auto product = static_cast<unsigned __int128>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  }
  void mix(std::uint64_t w) { state_ = fold(state_ ^ w, step); }
  void one(char c) {
    begun_ |= std::uint64_t(static_cast<unsigned char>(c)) << (8 * (length_ % 8));
    if (++length_ % 8 == 0) {
      mix(begun_);
      begun_ = 0;
    }
  }

  std::uint64_t state_ = 0x8ebc6af09c88c6e3;
  std::uint64_t length_ = 0;
  std::uint64_t begun_ = 0;  // the incomplete word
};

}  // namespace lopsided
