// A target sparsity instead of a given shrinkage: after every round the shrinkage is chosen so that at most the wanted
// share of the features seen so far has a weight.
#pragma once

#include <bit>
#include <cmath>
#include <queue>
#include <stdexcept>

#include "../numbers/table.hpp"
#include "../simd.hpp"
#include "../validate.hpp"

LOPSIDED_ISA_BEGIN

struct TargetSparsity {
  double share = 0;   // wanted share of features without a weight; 0: no target
  double chosen = 0;  // current shrinkage of dual weights
  Count reach = 0;    // one more than the largest feature seen

  bool on() const { return share > 0; }
  // How many features may have a weight; 0.9 of 20 leaves 2 in spite of rounding.
  Count room() const { return reach - static_cast<Count>(std::ceil(share * static_cast<double>(reach) * (1 - 1e-12))); }
  void observe(const auto& x) {
    x.for_each([&](Index j, double v) {
      if (v != 0) reach = std::max(reach, static_cast<Count>(j) + 1);
    });
  }

  void options(auto&& visit) { visit("target_sparsity", share); }
  void state(auto&& visit) {
    visit("target.chosen", chosen);
    visit("target.reach", reach);
  }
  void check(std::size_t features) const {
    validate(chosen >= 0 && std::isfinite(chosen), "target.chosen");
    validate(reach <= features, "target.reach");
  }
};

// Histogram of magnitudes with bins at most 1.6 % wide, to find the magnitude that `room` others exceed. The result
// depends only on the magnitudes, not on their history.
class Ranks {
 public:
  void clear() { *this = {}; }
  void add(double magnitude) { change(magnitude, 1); }
  void remove(double magnitude) { change(magnitude, -1); }

  // The smallest bin edge with at most `room` magnitudes above it.
  double edge(Count room) {
    if (total_ <= room) return 0;
    while (above_ > room) above_ -= counts_[bin_++];
    while (above_ + counts_[bin_ - 1] <= room) above_ += counts_[--bin_];
    return std::bit_cast<double>(static_cast<std::uint64_t>(bin_) << shift);
  }

 private:
  static constexpr int shift = 52 - 6;
  static std::size_t bin(double m) { return std::bit_cast<std::uint64_t>(m) >> shift; }

  void change(double m, int by) {
    if (m == 0) return;
    if (counts_.empty()) counts_.resize(std::size_t{1} << (63 - shift));
    const std::size_t at = bin(m);
    counts_[at] += static_cast<std::uint32_t>(by);
    total_ += static_cast<Count>(by);
    if (at >= bin_) above_ += static_cast<Count>(by);
  }

  std::vector<std::uint32_t> counts_;
  std::size_t bin_ = bin(1);        // the edge is its lower end
  Count total_ = 0, above_ = 0;     // magnitudes; those in bin_ or above
};

// The weights of a truncated gradient, ordered by the total shrinkage at which they become zero: to find the total that
// leaves at most `room` of them.
class Survivors {
 public:
  void clear() { *this = {}; }
  void add(double level, std::size_t j) {
    if (level < std::numeric_limits<double>::infinity()) queue_.push({level, j});
  }
  // A weight has become nonzero (1) or zero (-1).
  void count(int by) { alive_ += static_cast<Count>(by); }
  // Entries of weights that have changed since are outdated; whether there are too many of them.
  bool stale() const { return queue_.size() > 1024 + 2 * alive_; }

  // The total shrinkage, at least `due`; weights that it ends are set to zero.
  template <class Rule>
  double raise(double due, Count room, const Rule& rule, Table& table) {
    while (!queue_.empty() && (alive_ > room || queue_.top().first <= due)) {
      const auto [level, j] = queue_.top();
      queue_.pop();
      double* row = table[j];
      if (row[0] == 0 || rule.level(row) != level) continue;
      row[0] = row[1] = 0;
      --alive_;
      due = std::max(due, level);
    }
    return due;
  }

 private:
  using Entry = std::pair<double, std::size_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
  Count alive_ = 0;
};

LOPSIDED_ISA_END
