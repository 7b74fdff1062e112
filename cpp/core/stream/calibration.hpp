// Scores as probabilities: a table of how often each score was followed by each label, and a curve through it.
//
// Scores are those that were made before the label was seen. A bin is a quarter of a power of two: sign, exponent
// (clamped to 2^-16 .. 2^16) and two bits of the mantissa. An entry is the weight of a label, divided by the
// probability of asking for it. Older labels count less: the memory is a quarter of all labels, at most 2^15.
//
// The curve is made of the table as it was at the last checkpoint. Checkpoints depend on the number of labels alone, so
// however a stream is cut and whoever asks in between, the probabilities have the same bits. It is Platt's sigmoid
// with his targets, a >= 0, which is then pulled towards the share of positives in each bin, made increasing by pooling
// adjacent violators, and linear in the log odds between the middles of the bins.
#pragma once

#include <array>
#include <bit>

#include "../base.hpp"
#include "../simd.hpp"
#include "../state.hpp"

namespace lopsided {

class Calibration {
 public:
  static constexpr std::size_t bins = 256;  // the first half for scores of at least 0
  static constexpr double heaviest = 0x1p64;  // weight of a label

  LOPSIDED_INLINE void record(double score, double y, double weight) {
    now_[static_cast<std::size_t>(y > 0) * bins + bin(score)] += unit_ * std::min(weight, heaviest);
    if (++labels_ == next_) [[unlikely]]
      reach_checkpoint();
  }
  // ln(p / (1 - p)) of the positive class; 0 while no label is known.
  double log_odds(double score) {
    if (!fitted_) fit();
    return look_up(score);
  }
  Count labels() const { return labels_; }

  void state(auto&& visit) {
    visit("calibration.labels", labels_);
    visit("calibration.checkpoint", checkpoint_);
    visit("calibration.unit", unit_);
    visit("calibration.mass", mass_);
    visit_table(visit, "calibration.now", now_);
    visit_table(visit, "calibration.before", before_);
    resume();
  }

  LOPSIDED_INLINE static std::size_t bin(double score) {
    // In this order NaN, which only a damaged file can hold, is the smallest.
    const double size = std::min(std::max(smallest, std::abs(score)), largest);
    const auto place = static_cast<std::size_t>((std::bit_cast<std::uint64_t>(size) >> 50) - first);
    return place + (score < 0 ? bins / 2 : 0);
  }
  static double middle(std::size_t bin);

 private:
  using Entries = std::array<double, 2 * bins>;  // those of the negative class, then those of the positive one
  static constexpr double smallest = 0x1p-16, largest = 0x1.fffffffffffffp15;
  static constexpr std::uint64_t first = std::bit_cast<std::uint64_t>(smallest) >> 50;

  [[gnu::noinline]] void reach_checkpoint();
  void fit();
  double look_up(double score) const;
  void resume();
  static void pack(const Entries& entries, Series& out);
  static void unpack(const char* name, const Series& from, Entries& out);
  void visit_table(auto&& visit, const char* name, Entries& entries) {
    Series all;
    pack(entries, all);
    visit(name, all);
    unpack(name, all, entries);
  }

  Entries now_{}, before_{};  // before_: at the last checkpoint
  double unit_ = 1;  // weight of the next label; that of earlier ones is less
  double mass_ = 0;  // labels that count at the last checkpoint: earlier ones less than one each
  Count labels_ = 0, checkpoint_ = 0, next_ = 1;
  // The curve: log odds at the middles of the bins that are not empty, and how it is extrapolated outside of them.
  bool fitted_ = false;
  double slope_ = 0, offset_ = 0;
  std::vector<double> at_, value_;
};

}  // namespace lopsided
