// The learner for those who name none: five learners that differ in step, scaling and memory see one
// stream, and their votes weigh by what their mistakes have cost so far.
//
// Members 0 to 2 see standard scores, member 3 raw values, all as rows of unit length. They are
// diagonal ACOG-II or AROW, side by side: one visit to a feature serves all. Member 4 has a full
// covariance and the cost in its margin (ACOG-I), as long as there are few features. If there are
// more from the start, members 2 and 3 take other steps, and 1 and 3 have no constant. A vote is
// s / sqrt(1 + s^2), its weight (1 + x / 12)^-8, where x is how much more the member's mistakes have
// cost than those of the cheapest one, in units of the dearer kind of mistake.
//
// Standard scores are centred. Of sparse rows only the first features are, and none if there are many
// from the start.
#pragma once

#include <array>
#include <cstring>
#include <utility>

#include "linear/acog.hpp"
#include "prepare.hpp"
#include "query.hpp"
#include "table.hpp"

namespace lopsided {

class Recommended {
 public:
  static constexpr std::size_t lanes = 4, members = lanes + 1;
  static constexpr Index few = 64;      // features with centre and full covariance
  static constexpr Count early = 32;    // rows that show whether a stream is wide

  Recommended() : table_(width) {
    centred_.standard = centred_.centred = uncentred_.standard = true;
    full_.surrogate.loss = Loss::I;
    weigh();
  }

  bool scales() const { return scales_; }
  bool dense() const { return dense_; }  // rows are wanted dense

  // The row has come: it enters the running statistics, and its score is returned.
  template <RowLike Row>
  double meet(const Row& raw) {
    if constexpr (std::same_as<Row, DenseRow>)
      if (!dense_) return meet(as_sparse(raw));
    if (narrow_ && !fits(raw)) {
      narrow_ = 0;
      wide_ = scales_ && rows_ < early;
      weigh();
    }
    ++rows_;
    return vote(see(raw, features(), true));
  }

  // What `meet` would return, unless the row is the first wide one. Features from `known` on count
  // in the length only.
  template <RowLike Row>
  double score(const Row& raw, Index known) const {
    if constexpr (std::same_as<Row, DenseRow>)
      if (!dense_) return score(as_sparse(raw), known);
    return vote(see(raw, known, false));
  }

  // From the row that was just met.
  bool learn(const RowLike auto&, const Target& t, double) {
    blame(t);
    Four step{}, share{}, after{};
    bool any = false, arow = false;
    for (std::size_t k = 0; k < lanes; ++k) {
      if (!(t.y * scores_[k] < 1)) continue;
      any = true;
      share[k] = 1;
      step[k] = t.cost * t.weight * t.y;
      const double rate = wide_ ? wide_rates_[k] : rates_[k];
      if (rate > 0) {
        step[k] *= rate;
        after[k] = 1;
      } else {
        arow = true;
      }
    }
    if (arow) {
      const Four variance = variances();
      for (std::size_t k = 0; k < lanes; ++k)
        if (share[k] > after[k]) step[k] *= (1 - t.y * scores_[k]) / (variance[k] + 1);
    }
    if (any) move(step, share, after);
    if (narrow_) any |= full_.learn(whole(), t, scores_[lanes]);
    return any;
  }

  // The row that was just met, for a label that comes later; and that row once more.
  void keep(Kept& out) const {
    const auto n = seen_.size;
    out.sparse = seen_.at != nullptr;
    out.values.assign(standard_.begin(), standard_.begin() + n + 1);
    out.values.insert(out.values.end(), raw_.begin(), raw_.begin() + n);
    if (seen_.at) out.indices.assign(seen_.at, seen_.at + n);
  }
  double recall(const Kept& kept) {
    const std::size_t n = kept.values.size() / 2;
    standard_.assign(kept.values.begin(), kept.values.begin() + n + 1);
    raw_.assign(kept.values.begin() + n + 1, kept.values.end());
    at_ = kept.indices;
    return vote({kept.sparse ? at_.data() : nullptr, static_cast<Index>(n)});
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
    Vector out;
    out.grow(table_.size());
    if (best < lanes)
      for (std::size_t j = 0; j < out.size(); ++j) out[j] = table_[j][best];
    else
      std::copy_n(full_.mean.data(), full_.mean.size(), out.data() + !constant_);
    return out;
  }

  void reserve(std::size_t features) {
    centred_.reserve(in_centre(features));
    if (!dense_) uncentred_.reserve(features);
    table_.reserve(features + 1);
    full_.state([&](const char*, auto& values) { values.reserve(in_full(features)); });
  }
  void grow(std::size_t features) {
    centred_.grow(in_centre(features));
    if (!dense_) uncentred_.grow(features);
    table_.grow(features + 1);
    full_.state([&](const char*, auto& values) { values.grow(in_full(features)); });
  }
  std::size_t bytes() const { return table_.bytes(); }

  void options(auto&& visit) {
    visit("scales", scales_);
    visit("dense", dense_);
    visit("constant", constant_);
    for (std::size_t k = 0; k < lanes; ++k) {
      visit(numbered("rate", k).c_str(), rates_[k]);
      visit(numbered("rate.wide", k).c_str(), wide_rates_[k]);
    }
    visit("rate.full", full_.learning_rate);
  }
  void state(auto&& visit) {
    visit("rows", rows_);
    visit("narrow", narrow_);
    visit("wide", wide_);
    check(narrow_ + wide_ <= 1);
    if (scales_) centred_.state(visit);
    if (scales_ && !dense_)
      uncentred_.state([&](const char* name, auto& value) {
        visit((std::string("uncentred.") + name).c_str(), value);
      });
    visit("rho", rho_);
    check(rho_ > 0 && std::isfinite(rho_));
    for (std::size_t k = 0; k < members; ++k) {
      visit(numbered("missed", k).c_str(), missed_[k]);
      visit(numbered("alarmed", k).c_str(), alarmed_[k]);
      check(missed_[k] >= 0 && alarmed_[k] >= 0 && std::isfinite(missed_[k] + alarmed_[k]));
    }
    visit("members", table_);
    if (narrow_) full_.state(visit);
    weigh();
  }

 private:
  static constexpr std::size_t width = 2 * lanes;  // of the table
  using Four = double __attribute__((vector_size(32)));

  static Four load(const double* p) {
    Four out;
    std::memcpy(&out, p, sizeof out);
    return out;
  }
  static void store(double* p, Four v) { std::memcpy(p, &v, sizeof v); }
  static void check(bool sound) {
    if (!sound) throw std::invalid_argument("state of the members is not possible");
  }
  static std::string numbered(const char* name, std::size_t k) {
    return std::string(name) + "." + std::to_string(k);
  }

  Index features() const { return static_cast<Index>(table_.size()) - 1; }
  std::size_t in_centre(std::size_t features) const {
    return dense_ ? features : std::min<std::size_t>(features, few);
  }
  std::size_t in_full(std::size_t features) const {
    return std::min<std::size_t>(features, few) + constant_;
  }

  static bool fits(const DenseRow& row) { return row.size <= few; }
  static bool fits(const SparseRow& row) {
    return std::all_of(row.indices, row.indices + row.size, [](Index j) { return j < few; });
  }
  SparseRow as_sparse(const DenseRow& row) const {
    found_.indices.clear();
    found_.values.clear();
    for (Index j = 0; j < row.size; ++j)
      if (row.values[j] != 0) {
        found_.indices.push_back(j);
        found_.values.push_back(row.values[j]);
      }
    return {found_.indices.data(), found_.values.data(), static_cast<Index>(found_.indices.size()),
            row.square, row.scale};
  }

  // A row as the members see it, in standard_, raw_ and, unless feature k - 1 stands at k, at_.
  struct Seen {
    const Index* at;
    Index size;
  };
  static double inverse_root(double square) { return square > 0 ? 1 / std::sqrt(square) : 1; }
  void make_room(Index size) const {
    at_.resize(static_cast<std::size_t>(size));
    raw_.resize(static_cast<std::size_t>(size));
    standard_.resize(static_cast<std::size_t>(size) + 1);
    standard_[0] = 1;
  }
  double* standard() const { return standard_.data() + 1; }

  Seen see(const DenseRow& raw, Index known, bool keep) const {
    const Index n = std::min(raw.size, known);
    make_room(n);
    const double length = scales_ ? inverse_root(raw.square) : raw.scale;
    for (Index j = 0; j < n; ++j) standard()[j] = raw_[j] = length * raw.values[j];
    if (scales_) {
      const DenseRow scored = centred_.row(raw, known, keep, scratch_);
      const double scale = inverse_root(scored.square + centred_.outside());
      for (Index j = 0; j < n; ++j) standard()[j] = scale * scored.values[j];
    }
    return {nullptr, n};
  }

  Seen see(const SparseRow& raw, Index known, bool keep) const {
    const double length = scales_ ? inverse_root(raw.square) : raw.scale;
    const Index block = (scales_ ? !wide_ : narrow_ != 0) ? std::min(known, few) : 0;
    make_room(block + raw.size);
    std::fill_n(raw_.data(), block, 0.0);
    Index n = block;
    for (Index k = 0; k < raw.size; ++k) {
      const Index j = raw.indices[k];
      if (j < block) {
        raw_[j] = length * raw.values[k];
      } else if (j < known) {
        at_[n] = j + 1;
        raw_[n] = length * raw.values[k];
        __builtin_prefetch(table_[static_cast<std::size_t>(j) + 1], 1);
        ++n;
      }
    }
    for (Index j = 0; j < block; ++j) at_[j] = j + 1;
    std::copy_n(raw_.data(), n, standard());
    if (scales_) standardise(raw, block, n, known, keep);
    return {n == block ? nullptr : at_.data(), n};
  }
  // The scores of a sparse row: centred in the block, and behind it those that are present.
  void standardise(const SparseRow& raw, Index block, Index n, Index known, bool keep) const {
    const SparseRow scored = uncentred_.row(raw, known, keep, scratch_);
    double square = uncentred_.outside();
    Index at = block;
    for (Index k = 0; k < scored.size; ++k)
      if (scored.indices[k] >= block) {
        square += scored.values[k] * scored.values[k];
        standard()[at++] = scored.values[k];
      }
    if (block > 0) {
      block_.assign(static_cast<std::size_t>(block), 0.0);
      for (Index k = 0; k < raw.size; ++k)
        if (raw.indices[k] < block) block_[raw.indices[k]] = raw.scale * raw.values[k];
      const DenseRow centred = centred_.row({block_.data(), block, 0}, block, keep, scratch_);
      square += centred.square;
      std::copy_n(centred.values, block, standard());
    }
    const double scale = inverse_root(square);
    for (Index k = 0; k < n; ++k) standard()[k] *= scale;
  }
  // With the constant, for the member with the full covariance.
  DenseRow whole() const {
    return {standard() - constant_, std::min(seen_.size, few) + constant_, 0};
  }

  double vote(Seen row) const {
    seen_ = row;
    const double* rows = table_.data();
    Four a{}, b{};
    const auto part = [&](Index k) { return load(rows + place(k)) * values(k); };
    Index k = 0;
    for (; k + 2 <= row.size; k += 2) {
      a += part(k);
      b += part(k + 1);
    }
    if (k < row.size) a += part(k);
    store(scores_.data(), a + b + load(rows) * constants());
    scores_[lanes] = narrow_ ? full_.score(whole()) : 0;
    double sum = 0;
    for (std::size_t m = 0; m < lanes + narrow_; ++m)
      sum += weights_[m] * (scores_[m] / std::sqrt(1 + scores_[m] * scores_[m]));
    return sum;
  }

  // The mean moves along the variances of before (AROW) or `after` the row (ACOG).
  void move(Four step, Four share, Four after) {
    double* rows = table_.data();
    const auto take = [&](double* m, Four v) {
      const Four before = load(m + lanes), gain = share * (v * v);
      store(m + lanes, before + gain);
      store(m, load(m) + step * v / (1 + before + after * gain));
    };
    for (Index k = 0; k < seen_.size; ++k) take(rows + place(k), values(k));
    if (constant_) take(rows, constants());
  }
  Four variances() const {
    const double* rows = table_.data();
    Four sum{};
    const auto take = [&](const double* m, Four v) { sum += v * v / (1 + load(m + lanes)); };
    for (Index k = 0; k < seen_.size; ++k) take(rows + place(k), values(k));
    take(rows, constants());
    return sum;
  }
  std::size_t place(Index k) const {
    return width * static_cast<std::size_t>(seen_.at ? seen_.at[k] : k + 1);
  }
  Four values(Index k) const {
    const double z = standard()[k];
    return Four{z, z, z, raw_[k]};
  }
  Four constants() const {
    if (!constant_) return Four{};
    return wide_ ? Four{1, 0, 1, 0} : Four{1, 1, 1, 1};
  }

  // Charges the members that were wrong.
  void blame(const Target& t) {
    const bool positive = t.y > 0;
    auto& account = positive ? missed_ : alarmed_;
    bool changed = positive;
    if (positive) rho_ = t.cost;
    for (std::size_t k = 0; k < lanes + narrow_; ++k)
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

  bool scales_ = true, dense_ = false, constant_ = true;
  std::array<double, lanes> rates_{}, wide_rates_{};  // of ACOG; 0: AROW, r = 1
  Count rows_ = 0;
  Count narrow_ = 1;  // 1 until a row of more than a few features
  Count wide_ = 0;    // 1 if that row was among the first
  mutable Prepare centred_, uncentred_;
  Table table_;  // for the constant and each feature: the members' weights, then their precisions - 1
  Acog<FullCovariance> full_;
  std::array<double, members> missed_{}, alarmed_{};
  double rho_ = 1;
  std::array<double, members> weights_ = {};

  mutable std::array<double, members> scores_{};
  mutable Seen seen_{};
  mutable Scratch scratch_, found_;
  mutable std::vector<double> block_, standard_, raw_;
  mutable std::vector<Index> at_;
};

}  // namespace lopsided
