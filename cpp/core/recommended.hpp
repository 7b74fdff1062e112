// The learner for those who name none: five learners that differ in step, scaling and memory see one
// stream, and their votes weigh by what their mistakes have cost so far.
//
// Members 0 to 2 see standard scores, member 3 raw values, all as rows of unit length. They are
// diagonal ACOG-II or AROW, side by side: one visit to a feature serves all. Member 4 has a full
// covariance and the cost in its margin (ACOG-I), as long as there are few features. With more,
// members 2 and 3 take other steps, and 1 and 3 have no constant. A vote is s / sqrt(1 + s^2), its
// weight (1 + x / 12)^-8, where x is how much more the member's mistakes have cost than those of
// the cheapest one, in units of the dearer kind of mistake.
#pragma once

#include <array>
#include <cstring>

#include "linear/acog.hpp"
#include "prepare.hpp"
#include "query.hpp"
#include "table.hpp"

namespace lopsided {

class Recommended {
 public:
  static constexpr std::size_t lanes = 4, members = lanes + 1;
  static constexpr Index narrow_limit = 64;

  Recommended() : table_(width) {
    prepare_.unit = prepare_.standard = prepare_.centred = true;
    full_.surrogate.loss = Loss::I;
    weigh();
  }

  // The row has come: it enters the running statistics, and its score is returned.
  template <RowLike Row>
  double meet(const Row& raw) {
    if (widens(raw)) widen(raw);
    return vote(see(raw, features(), true));
  }

  bool scales() const { return scales_; }

  // What `meet` would return. Features from `known` on count in the length only.
  template <RowLike Row>
  double score(const Row& raw, Index known) const {
    if (widens(raw)) {
      Recommended next = *this;  // once in a lifetime: the first wide row would change the model
      next.widen(raw);
      return next.score(raw, known);
    }
    return vote(see(raw, known, false));
  }

  // From the row that was just met.
  bool learn(const RowLike auto&, const Target& t, double) {
    blame(t);
    const Seen& row = seen_;
    Four step{}, share{}, after{};
    bool any = false, arow = false;
    for (std::size_t k = 0; k < lanes; ++k) {
      if (!(t.y * scores_[k] < 1)) continue;
      any = share[k] = 1;
      step[k] = t.cost * t.weight * t.y;
      const double rate = narrow_ ? rates_[k] : wide_rates_[k];
      if (rate > 0) {
        step[k] *= rate;
        after[k] = 1;
      } else {
        arow = true;
      }
    }
    if (arow) {
      const Four variance = variances(row);
      for (std::size_t k = 0; k < lanes; ++k)
        if (share[k] > after[k]) step[k] *= (1 - t.y * scores_[k]) / (variance[k] + 1);
    }
    if (any) move(row, step, share, after);
    if (narrow_) any |= full_.learn(whole(row), t, scores_[lanes]);
    return any;
  }

  // The row that was just met, for a label that comes later; and that row once more.
  void keep(Kept& out) const {
    const Seen& row = seen_;
    out.sparse = row.at != nullptr;
    out.values.assign(row.standard - 1, row.standard + row.size);
    out.values[0] = 1;
    out.values.insert(out.values.end(), row.plain, row.plain + row.size);
    if (row.at) out.indices.assign(row.at, row.at + row.size);
  }
  double recall(const Kept& kept) {
    standard_.assign(kept.values.begin(), kept.values.begin() + (kept.values.size() + 1) / 2);
    plain_.assign(kept.values.begin() + (kept.values.size() + 1) / 2, kept.values.end());
    at_ = kept.indices;
    const auto n = static_cast<Index>(plain_.size());
    return vote({kept.sparse ? at_.data() : nullptr, standard_.data() + 1, plain_.data(), n});
  }
  bool fits(const Kept& kept) const {
    const std::size_t n = kept.values.size() / 2, most = table_.size();
    if (kept.values.size() % 2 == 0 || kept.indices.size() != (kept.sparse ? n : 0)) return false;
    return kept.sparse ? std::all_of(kept.indices.begin(), kept.indices.end(),
                                     [=](Index j) { return static_cast<std::size_t>(j) < most; })
                       : n < most;
  }

  // Those of the member whose mistakes cost least, the constant's first.
  Vector coefficients() const {
    const std::size_t best = leader();
    if (best == lanes && constant_) return full_.mean;
    Vector out;
    out.grow(table_.size());
    for (std::size_t j = 0; j < table_.size(); ++j)
      out[j] = best < lanes ? table_[j][best] : j > 0 && j <= full_.mean.size() ? full_.mean[j - 1] : 0;
    return out;
  }

  void reserve(std::size_t features) {
    prepare_.reserve(features);
    table_.reserve(features + 1);
  }
  void grow(std::size_t features) {
    prepare_.grow(features);
    table_.grow(features + 1);
    const std::size_t few = std::min<std::size_t>(features, narrow_limit) + constant_;
    full_.state([&](const char*, auto& values) { values.grow(few); });
  }
  std::size_t bytes() const { return table_.bytes(); }

  void options(auto&& visit) {
    visit("scales", scales_);
    visit("constant", constant_);
    for (std::size_t k = 0; k < lanes; ++k) {
      visit(numbered("rate", k).c_str(), rates_[k]);
      visit(numbered("rate.wide", k).c_str(), wide_rates_[k]);
    }
    visit("rate.full", full_.learning_rate);
  }
  void state(auto&& visit) {
    visit("narrow", narrow_);
    visit("centred", centred_);
    prepare_.centred = centred_ != 0;
    if (scales_) prepare_.state(visit);
    visit("rho", rho_);
    for (std::size_t k = 0; k < members; ++k) {
      visit(numbered("missed", k).c_str(), missed_[k]);
      visit(numbered("alarmed", k).c_str(), alarmed_[k]);
    }
    visit("members", table_);
    if (narrow_) full_.state(visit);
    weigh();
  }

 private:
  static constexpr std::size_t width = 2 * lanes;  // of the table
  using Four = double __attribute__((vector_size(32)));

  // A row as the members see it. Without `at`, feature j stands at j + 1; the constant at 0.
  struct Seen {
    const Index* at;
    const double *standard, *plain;
    Index size;
  };

  static Four load(const double* p) {
    Four out;
    std::memcpy(&out, p, sizeof out);
    return out;
  }
  static void store(double* p, Four v) { std::memcpy(p, &v, sizeof v); }
  static std::string numbered(const char* name, std::size_t k) {
    return std::string(name) + "." + std::to_string(k);
  }

  Index features() const { return static_cast<Index>(table_.size()) - 1; }

  static bool fits(const DenseRow& row) { return row.size <= narrow_limit; }
  static bool fits(const SparseRow& row) {
    return std::all_of(row.indices, row.indices + row.size, [](Index j) { return j < narrow_limit; });
  }
  template <class Row>
  bool widens(const Row& row) const {
    return (narrow_ || (std::same_as<Row, SparseRow> && centred_)) && !fits(row);
  }
  template <class Row>
  void widen(const Row&) {
    narrow_ = 0;
    if (std::same_as<Row, SparseRow>) {
      prepare_.uncentre();
      centred_ = 0;
    }
    weigh();
  }

  Seen see(const DenseRow& raw, Index known, bool keep) const {
    const Index n = std::min(raw.size, known);
    standard_.resize(static_cast<std::size_t>(n) + 1);
    standard_[0] = 1;
    double* z = standard_.data() + 1;
    if (!scales_) {
      for (Index j = 0; j < n; ++j) z[j] = raw.scale * raw.values[j];
      return {nullptr, z, z, n};
    }
    const DenseRow scored = prepare_.row(raw, known, keep, scratch_);
    const double length = unit(raw);
    plain_.resize(static_cast<std::size_t>(n));
    for (Index j = 0; j < n; ++j) {
      z[j] = scored.scale * scored.values[j];
      plain_[j] = length * raw.values[j];
    }
    return {nullptr, z, plain_.data(), n};
  }

  Seen see(const SparseRow& raw, Index known, bool keep) const {
    if (narrow_ || (scales_ && centred_)) {
      dense_.assign(narrow_limit, 0.0);
      raw.add_to(dense_.data(), 1);
      return see(DenseRow{dense_.data(), std::max(std::min(known, narrow_limit), widest(raw)),
                          raw.squared_norm()},
                 known, keep);
    }
    standard_.resize(static_cast<std::size_t>(raw.size) + 1);
    plain_.resize(static_cast<std::size_t>(raw.size));
    at_.resize(static_cast<std::size_t>(raw.size));
    double* z = standard_.data() + 1;
    const double length = scales_ ? unit(raw) : raw.scale;
    Index n = 0;
    for (Index k = 0; k < raw.size; ++k) {
      if (raw.indices[k] >= known) continue;
      at_[n] = raw.indices[k] + 1;
      __builtin_prefetch(table_[static_cast<std::size_t>(at_[n])], 1);
      z[n] = plain_[n] = length * raw.values[k];
      ++n;
    }
    if (scales_) {
      const SparseRow scored = prepare_.row(raw, known, keep, scratch_);
      for (Index k = 0; k < n; ++k) z[k] = scored.scale * scored.values[k];
    }
    return {at_.data(), z, plain_.data(), n};
  }

  static double unit(const RowLike auto& raw) { return raw.square > 0 ? 1 / std::sqrt(raw.square) : 1; }
  static Index widest(const SparseRow& row) {
    Index out = 0;
    for (Index k = 0; k < row.size; ++k) out = std::max(out, row.indices[k] + 1);
    return out;
  }
  // With the constant, for the member with the full covariance.
  DenseRow whole(const Seen& row) const {
    const double* first = row.standard - constant_;
    const Index n = std::min(row.size, narrow_limit) + constant_;
    return {first, n, 0};
  }

  double vote(Seen row) const {
    seen_ = row;
    const double* rows = table_.data();
    Four a{}, b{};
    const auto part = [&](Index k) { return load(rows + place(row, k)) * values(row, k); };
    Index k = 0;
    for (; k + 2 <= row.size; k += 2) {
      a += part(k);
      b += part(k + 1);
    }
    if (k < row.size) a += part(k);
    store(scores_.data(), a + b + load(rows) * constants());
    scores_[lanes] = narrow_ ? full_.score(whole(row)) : 0;
    double sum = 0;
    for (std::size_t m = 0; m < lanes + narrow_; ++m)
      sum += weights_[m] * (scores_[m] / std::sqrt(1 + scores_[m] * scores_[m]));
    return sum;
  }

  // The mean moves along the variances of before (AROW) or `after` the row (ACOG).
  void move(const Seen& row, Four step, Four share, Four after) {
    double* rows = table_.data();
    const auto take = [&](double* m, Four v) {
      const Four before = load(m + lanes), gain = share * (v * v);
      store(m + lanes, before + gain);
      store(m, load(m) + step * v / (1 + before + after * gain));
    };
    for (Index k = 0; k < row.size; ++k) take(rows + place(row, k), values(row, k));
    if (constant_) take(rows, constants());
  }
  Four variances(const Seen& row) const {
    const double* rows = table_.data();
    Four sum{};
    const auto take = [&](const double* m, Four v) { sum += v * v / (1 + load(m + lanes)); };
    for (Index k = 0; k < row.size; ++k) take(rows + place(row, k), values(row, k));
    take(rows, constants());
    return sum;
  }
  static std::size_t place(const Seen& row, Index k) {
    return width * static_cast<std::size_t>(row.at ? row.at[k] : k + 1);
  }
  static Four values(const Seen& row, Index k) {
    const double z = row.standard[k];
    return Four{z, z, z, row.plain[k]};
  }
  Four constants() const {
    if (!constant_) return Four{};
    return narrow_ ? Four{1, 1, 1, 1} : Four{1, 0, 1, 0};
  }

  // Charges the members that were wrong.
  void blame(const Target& t) {
    const bool positive = t.y > 0;
    auto& account = positive ? missed_ : alarmed_;
    bool changed = positive;
    if (positive) rho_ = t.cost;
    for (std::size_t k = 0; k < members; ++k)
      if ((scores_[k] >= 0) != positive) {
        account[k] += t.weight;
        changed = true;
      }
    if (changed) weigh();
  }
  double price(std::size_t k) const { return (rho_ * missed_[k] + alarmed_[k]) / std::max(rho_, 1.0); }
  std::size_t leader() const {
    std::size_t best = 0;
    for (std::size_t k = 1; k < lanes + narrow_; ++k)
      if (price(k) < price(best)) best = k;
    return best;
  }
  void weigh() {
    const double least = price(leader());
    double sum = 0;
    for (std::size_t k = 0; k < lanes + narrow_; ++k) {
      const double x = 1 + (price(k) - least) / 12, x2 = x * x, x4 = x2 * x2;
      weights_[k] = 1 / (x4 * x4);
      sum += weights_[k];
    }
    for (double& w : weights_) w /= sum;
  }

  bool scales_ = true, constant_ = true;
  std::array<double, lanes> rates_{}, wide_rates_{};  // of ACOG; 0: AROW, r = 1
  Count narrow_ = 1;   // 1 until a row of more features than the limit
  Count centred_ = 1;  // 1 until a sparse row of that kind
  mutable Prepare prepare_;
  Table table_;  // for the constant and each feature: the members' weights, then their precisions - 1
  Acog<FullCovariance> full_;
  std::array<double, members> missed_{}, alarmed_{};
  double rho_ = 1;
  std::array<double, members> weights_ = {};

  mutable std::array<double, members> scores_{};
  mutable Seen seen_{};
  mutable Scratch scratch_;
  mutable std::vector<double> dense_, standard_, plain_;
  mutable std::vector<Index> at_;
};

}  // namespace lopsided
