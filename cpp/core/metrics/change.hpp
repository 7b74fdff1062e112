// Whether the mean of a stream has changed: ADWIN (Bifet and Gavalda 2007, Learning from time-changing data with adaptive
// windowing).
//
// The window holds all values since the last change, as buckets whose sizes double towards the past. With n values of
// variance v in it, cut into n0 older and n1 newer ones, it is too long if the means of the two parts differ by more than
//
//   sqrt(2 v c / m) + 2 c / (3 m),   1/m = 1/n0 + 1/n1,   c = log(2 log(n) / delta)
//
// for any cut between buckets; then the oldest bucket goes. Values are at most 1 apart, as those between 0 and 1 are.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "../base.hpp"
#include "../validate.hpp"

namespace lopsided {

class ChangeDetector {
 public:
  // Values in the smallest bucket, and after how many of those to look for a change.
  ChangeDetector(double delta, double block, Count every) : delta_(delta), block_(block), every_(every) {}

  // Returns whether the window was cut. The means before and after are then up to date.
  bool add(double value) {
    const double away = value - open_.mean();
    ++open_.size, open_.sum += value;
    open_.spread += away * (value - open_.mean());
    if (open_.size < block_) return false;
    window_.push_back(open_);
    open_ = {};
    merge();
    return ++blocks_ % every_ == 0 && cut();
  }
  double before() const { return before_; }  // the mean of what was cut off last
  double after() const { return total().mean(); }
  Count size() const { return static_cast<Count>(total().size); }

  // Buckets from the oldest on, each as size, sum and spread; the last one is still open.
  std::vector<double> state() const {
    std::vector<double> out{static_cast<double>(blocks_), before_};
    for (const Bucket& b : window_) out.insert(out.end(), {b.size, b.sum, b.spread});
    out.insert(out.end(), {open_.size, open_.sum, open_.spread});
    return out;
  }
  void restore(std::span<const double> from) {
    const auto check = [](bool valid) { validate(valid, "changes"); };
    check(from.size() >= 5 && from.size() % 3 == 2 && all_finite(from) && is_whole(from[0], 0x1p53));
    ChangeDetector read(delta_, block_, every_);
    read.blocks_ = static_cast<Count>(from[0]), read.before_ = from[1];
    for (std::size_t k = 2; k < from.size(); k += 3) {
      const Bucket b{from[k], from[k + 1], from[k + 2]};
      const bool last = k + 3 == from.size();
      check(is_whole(b.size, last ? block_ : 0x1p53) && b.spread >= 0);
      check(last || (b.size >= block_ && (read.window_.empty() || b.size <= read.window_.back().size)));
      if (last) read.open_ = b;
      else read.window_.push_back(b);
    }
    *this = std::move(read);
  }

 private:
  static constexpr std::size_t same_size = 5;  // buckets, before two of them become one

  struct Bucket {
    double size = 0, sum = 0, spread = 0;  // spread: squared distances from the mean
    double mean() const { return size > 0 ? sum / size : 0; }
    void add(const Bucket& b) {
      const double away = mean() - b.mean(), all = size + b.size;
      spread += b.spread + away * away * size * b.size / all;
      size = all, sum += b.sum;
    }
  };

  // Two of more than `same_size` buckets of one size become one, the oldest first.
  void merge() {
    for (std::size_t last = window_.size(); last > same_size;) {
      std::size_t first = last;
      while (first > 0 && window_[first - 1].size == window_[last - 1].size) --first;
      if (last - first <= same_size) return;
      window_[first].add(window_[first + 1]);
      window_.erase(window_.begin() + static_cast<std::ptrdiff_t>(first) + 1);
      last = first + 1;
    }
  }
  Bucket total() const {
    Bucket out;
    for (const Bucket& b : window_) out.add(b);
    return out;
  }
  bool too_long(const Bucket& all) const {
    const double c = std::log(2 * std::log(all.size) / delta_), v = all.spread / all.size;
    Bucket old;
    for (std::size_t k = 0; k + 1 < window_.size(); ++k) {
      old.size += window_[k].size, old.sum += window_[k].sum;
      const double rest = all.size - old.size, over = 1 / old.size + 1 / rest;
      const double apart = std::abs(old.sum / old.size - (all.sum - old.sum) / rest);
      if (apart > std::sqrt(2 * v * c * over) + 2.0 / 3 * c * over) return true;
    }
    return false;
  }
  bool cut() {
    Bucket gone;
    while (window_.size() > 1 && too_long(total())) {
      gone.add(window_.front());
      window_.erase(window_.begin());
    }
    if (gone.size > 0) before_ = gone.mean();
    return gone.size > 0;
  }

  double delta_, block_;
  Count every_;
  std::vector<Bucket> window_;  // the oldest first
  Bucket open_;
  Count blocks_ = 0;
  double before_ = 0;
};

// The same for the ranking: of each positive event, the share of recent negative ones with lower scores. Its mean is the
// AUC, whatever the scores are and however many events are positive.
class RankingDetector {
 public:
  RankingDetector(double delta, double block, Count every) : detector(delta, block, every) {}

  bool add(double score, bool positive) {
    if (!positive) {
      if (recent_.size() < most) recent_.push_back(score);
      else recent_[next_] = score;
      next_ = (next_ + 1) % most;
      return false;
    }
    if (recent_.size() < least) return false;
    double below = 0, same = 0;
    for (const double other : recent_) below += other < score, same += other == score;
    return detector.add((below + 0.5 * same) / static_cast<double>(recent_.size()));
  }
  // The recent scores from the oldest on.
  std::vector<double> recent() const {
    std::vector<double> out = recent_;
    if (out.size() == most) std::rotate(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(next_), out.end());
    return out;
  }
  void restore(std::span<const double> recent, std::span<const double> from) {
    validate(recent.size() <= most && all_finite(recent), "changes");
    detector.restore(from);
    recent_.assign(recent.begin(), recent.end());
    next_ = recent_.size() % most;
  }

  ChangeDetector detector;

 private:
  static constexpr std::size_t most = 256, least = 32;
  std::vector<double> recent_;  // scores of negative events, in a ring
  std::size_t next_ = 0;
};

}  // namespace lopsided
