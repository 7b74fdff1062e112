// Numbers pairs of tokens in the order in which they are first met, up to a limit.
#pragma once

#include <limits>
#include <vector>

#include "../base.hpp"
#include "../numbers/random.hpp"

namespace lopsided {

class PairIndex {
 public:
  static constexpr std::uint32_t limit = 1u << 16, none = std::numeric_limits<std::uint32_t>::max();

  std::uint32_t size() const { return static_cast<std::uint32_t>(keys_.size()); }
  std::uint64_t key(std::uint32_t k) const { return keys_[k]; }
  static std::uint64_t key(std::uint32_t a, std::uint32_t b) {
    return std::uint64_t{std::min(a, b)} << 32 | std::max(a, b);
  }

  // A key with its place in the table, to be fetched ahead of a search.
  struct Hashed {
    std::uint64_t key, hash;
  };
  static Hashed hashed(std::uint64_t key) { return {key, splitmix64(key)}; }
  void prefetch(const Hashed& pair) const {
    if (!slots_.empty()) __builtin_prefetch(&slots_[pair.hash & (slots_.size() - 1)]);
  }
  // The number of a pair, or none.
  std::uint32_t find(const Hashed& pair) const { return slots_.empty() ? none : slots_[slot(pair)].number; }
  // The same; a pair that is not there is added, unless the limit is reached.
  std::uint32_t add(const Hashed& pair) {
    if (2 * (keys_.size() + 1) > slots_.size()) enlarge();
    Slot& at = slots_[slot(pair)];
    if (at.number == none && size() < limit) append(at, pair.key);
    return at.number;
  }
  void clear() { keys_.clear(), slots_.clear(); }
  std::size_t bytes() const { return keys_.size() * sizeof(std::uint64_t) + slots_.size() * sizeof(Slot); }

 private:
  struct Slot {
    std::uint64_t key = 0;
    std::uint32_t number = none;
  };
  std::size_t slot(const Hashed& pair) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t k = pair.hash & mask;
    while (slots_[k].number != none && slots_[k].key != pair.key) k = (k + 1) & mask;
    return k;
  }
  [[gnu::noinline]] void append(Slot& at, std::uint64_t key) {
    at = {key, size()};
    keys_.push_back(key);
  }
  [[gnu::noinline]] void enlarge() {
    slots_.assign(std::max<std::size_t>(64, 2 * slots_.size()), {});
    for (std::uint32_t k = 0; k < size(); ++k) slots_[slot(hashed(keys_[k]))] = {keys_[k], k};
  }

  std::vector<std::uint64_t> keys_;
  std::vector<Slot> slots_;  // at most half of them in use; a power of two
};

}  // namespace lopsided
