// Six learners that differ in step size, scaling and covariance learn from one stream, and their
// votes are weighted by the cost of their past mistakes.
//
// Members 0 to 2 see standard scores, member 3 raw values, all as rows of unit length. They are diagonal ACOG-II or
// AROW, with interleaved state: one visit to a feature serves all. As long as there are few features, members 4 and 5
// are AROW with a full covariance, over standard scores that are not centred and over raw values; after a trial period
// at most one of them is kept: the one that leads all others. If there are many features from the start, members 0, 2
// and 3 use other step sizes, and only member 2 has a constant. A vote is s / sqrt(1 + s^2), its weight (1 + x / 12)^-8,
// where x is the cost of the member's mistakes beyond that of the best member, in units of the more expensive kind of
// mistake.
//
// Standard scores are centred. In sparse rows only the first features are, and none if there are many from the start.
#pragma once

#include <array>
#include <cstring>
#include <utility>

#include "../linear/arow.hpp"
#include "../numbers/real.hpp"
#include "../numbers/vectors.hpp"
#include "../simd.hpp"
#include "../stream/scaling.hpp"
#include "../validate.hpp"

LOPSIDED_ISA_BEGIN

class WeightedMajority {
 public:
  static constexpr Hooks hooks{.observe = true,
                               .keep = true,
                               .coefficients = true,
                               .reserve = true,
                               .grow = true,
                               .dense = true,
                               .scales = true};

  static constexpr std::size_t diagonals = 4, seats = 2, members = diagonals + seats;
  static constexpr Index few = 64;  // features that are centred and have a full covariance
  static constexpr Count early = 32;  // rows that decide whether a stream is wide

  WeightedMajority() : table_(width) {
    centred_.standard = centred_.centred = uncentred_.standard = true;
    weigh();
  }

  bool scales() const { return scales_; }
  bool dense() const { return dense_; }  // needs dense rows

  // Takes the row into the running statistics and returns its score.
  template <RowLike Row>
  double observe(const Row& raw) {
    if constexpr (std::same_as<Row, DenseRow>)
      if (!dense_) return observe(as_sparse(raw));
    if (narrow_ && !fits(raw)) {
      narrow_ = 0;
      wide_ = scales_ && rows_ < early;
      weigh();
    }
    ++rows_;
    if (left_ == 0) {
      if (static_cast<double>(values_met_) >= trial_) {
        const std::size_t best = leader();
        left_ = best < diagonals ? seats + 1 : best - diagonals + 1;
        weigh();
      }
      values_met_ += static_cast<Count>(raw.size - std::count(raw.values, raw.values + raw.size, 0.0));
    }
    return vote(see(raw, features(), true));
  }

  // What `observe` would return, unless the row is the first wide one. Features from `known` on count
  // in the length only.
  template <RowLike Row>
  double score(const Row& raw, Index known) const {
    if constexpr (std::same_as<Row, DenseRow>)
      if (!dense_) return score(as_sparse(raw), known);
    return vote(see(raw, known, false));
  }

  // Learns from the row observed last.
  bool learn(const RowLike auto&, const Target& t, double) { return step_by(t); }

  // Stores the row observed last for a label that arrives later; observes that row again.
  void keep(Kept& out) {
    out.sparse = seen_.at != nullptr;
    kept_.clear();
    for (std::size_t v = 0; v < views(out.sparse); ++v) {
      const double* row = values_[v].data() + 1;
      kept_.insert(kept_.end(), row, row + seen_.size);
    }
    out.values = kept_;
    if (seen_.at) out.indices = {seen_.at, static_cast<std::size_t>(seen_.size)};
  }
  double recall(const Kept& kept) {
    const std::size_t n = kept.values.size() / views(kept.sparse);
    make_room(static_cast<Index>(n));
    for (std::size_t v = 0; v < views(kept.sparse); ++v)
      std::copy_n(kept.values.data() + v * n, n, values_[v].data() + 1);
    std::copy_n(kept.indices.data(), kept.indices.size(), at_.data());
    return vote({kept.sparse ? at_.data() : nullptr, static_cast<Index>(n)});
  }
  bool fits(const Kept& kept) const {
    const std::size_t n = kept.values.size() / views(kept.sparse), most = table_.size();
    if (kept.values.size() % views(kept.sparse) != 0 || kept.indices.size() != (kept.sparse ? n : 0)) return false;
    return kept.sparse ? std::all_of(kept.indices.begin(), kept.indices.end(),
                                     [=](Index j) { return static_cast<std::size_t>(j) < most; })
                       : n < most;
  }

  // Those of the member whose mistakes cost least; the constant comes first.
  Vector coefficients() const {
    const std::size_t best = leader();
    Vector out;
    out.grow(table_.size());
    if (best < diagonals)
      for (std::size_t j = 0; j < out.size(); ++j) out[j] = table_[j][best];
    else std::copy_n(full_[best - diagonals].mean.data(), full_[best - diagonals].mean.size(), out.data() + !constant_);
    return out;
  }

  void reserve(std::size_t features) {
    centred_.reserve(in_centre(features));
    uncentred_.reserve(features);
    table_.reserve(features + 1);
    for (auto& one : full_) one.state([&](const char*, auto& values) { values.reserve(in_full(features)); });
  }
  void grow(std::size_t features) {
    centred_.grow(in_centre(features));
    uncentred_.grow(features);
    table_.grow(features + 1);
    for (auto& one : full_) one.state([&](const char*, auto& values) { values.grow(in_full(features)); });
  }
  std::size_t bytes() const { return table_.bytes(); }

  void options(auto&& visit) {
    visit("scales", scales_);
    visit("dense", dense_);
    visit("constant", constant_);
    for (std::size_t k = 0; k < diagonals; ++k) {
      narrow_members_[k].options(visit, k, "");
      wide_members_[k].options(visit, k, "wide.");
    }
    for (std::size_t k = 0; k < seats; ++k)
      visit(numbered("regularization", diagonals + k).c_str(), full_[k].regularization);
    visit("trial", trial_);
  }
  void state(auto&& visit) {
    visit("rows", rows_);
    visit("narrow", narrow_);
    visit("wide", wide_);
    visit("values", values_met_);
    visit("left", left_);
    validate(narrow_ <= 1, "narrow");
    validate(wide_ + narrow_ <= 1, "wide");
    validate(left_ <= seats + 1, "left");
    if (scales_) centred_.state(visit);
    if (scales_ && scores_uncentred()) uncentred_.state(named("uncentred.", visit));
    visit("rho", rho_);
    validate(rho_ > 0 && std::isfinite(rho_), "rho");
    for (std::size_t k = 0; k < members; ++k) {
      visit(numbered("missed", k).c_str(), missed_[k]);
      visit(numbered("alarmed", k).c_str(), alarmed_[k]);
      validate(missed_[k] >= 0 && std::isfinite(missed_[k]), numbered("missed", k));
      validate(alarmed_[k] >= 0 && std::isfinite(alarmed_[k]), numbered("alarmed", k));
    }
    visit("members", table_);
    for (std::size_t k = diagonals; k < members; ++k)
      if (votes(k)) full_[k - diagonals].state(named(numbered("full", k) + ".", visit));
    weigh();
  }

 private:
  // A member with a diagonal.
  struct Diagonal {
    enum class Update { acog, arow };
    Update rule = Update::arow;
    double learning_rate = 1;  // of ACOG
    double regularization = 1;  // of AROW

    void options(auto&& visit, std::size_t k, const std::string& prefix) {
      visit((prefix + numbered("rule", k)).c_str(), rule, {"acog", "arow"});
      visit((prefix + numbered("learning_rate", k)).c_str(), learning_rate);
      visit((prefix + numbered("regularization", k)).c_str(), regularization);
    }
  };

  static constexpr std::size_t width = 2 * diagonals;  // of the table
  static auto named(std::string prefix, auto& visit) {
    return [prefix, &visit](const char* name, auto& value) { visit((prefix + name).c_str(), value); };
  }
  static std::string numbered(const char* name, std::size_t k) { return std::string(name) + "." + std::to_string(k); }

  Index features() const { return static_cast<Index>(table_.size()) - 1; }
  std::size_t in_centre(std::size_t features) const { return dense_ ? features : std::min<std::size_t>(features, few); }
  std::size_t in_full(std::size_t features) const { return std::min<std::size_t>(features, few) + constant_; }

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
    return {found_.indices.data(), found_.values.data(), static_cast<Index>(found_.indices.size()), row.square,
            row.scale};
  }

  // Which members vote, and whether one of them uses standard scores that are not centred.
  bool votes(std::size_t k) const { return k < diagonals || (narrow_ && (left_ == 0 || left_ == k - diagonals + 1)); }
  bool scores_uncentred() const { return !dense_ || votes(diagonals); }

  // A row as the members see it, in values_ and, unless feature k - 1 stands at k, at_.
  enum View { standard, raw, uncentred, all };
  static std::size_t views(bool sparse) { return sparse ? uncentred : all; }
  struct Seen {
    const Index* at;
    Index size;
    const double *standard = nullptr, *raw = nullptr;

    std::size_t place(Index k) const { return width * static_cast<std::size_t>(at ? at[k] : k + 1); }
    Double4 values(Index k) const { return Double4{standard[k], standard[k], standard[k], raw[k]}; }
  };
  static double inverse_root(double square) { return square > 0 ? 1 / std::sqrt(square) : 1; }
  void make_room(Index size) const {
    at_.resize(static_cast<std::size_t>(size));
    for (auto& row : values_) {
      row.resize(static_cast<std::size_t>(size) + 1);
      row[0] = 1;
    }
  }
  double* seen(View view) const { return values_[view].data() + 1; }

  LOPSIDED_FLATTEN Seen see(const DenseRow& row, Index known, bool keep) const {
    const Index n = std::min(row.size, known);
    make_room(n);
    const double length = scales_ ? inverse_root(row.square) : row.scale;
    for (Index j = 0; j < n; ++j) seen(raw)[j] = length * row.values[j];
    if (scales_) {
      const auto take = [&](Prepare& prepare, View view) {
        const DenseRow scored = prepare.row(row, known, keep, scratch_);
        const double scale = inverse_root(scored.square + prepare.outside());
        for (Index j = 0; j < n; ++j) seen(view)[j] = scale * scored.values[j];
      };
      take(centred_, standard);
      if (scores_uncentred()) take(uncentred_, uncentred);
      else std::fill_n(seen(uncentred), n, 0.0);
    } else {
      share_raw(n);
    }
    return {nullptr, n};
  }

  LOPSIDED_FLATTEN Seen see(const SparseRow& row, Index known, bool keep) const {
    const double length = scales_ ? inverse_root(row.square) : row.scale;
    const Index block = (scales_ ? !wide_ : narrow_ != 0) ? std::min(known, few) : 0;
    make_room(block + row.size);
    std::fill_n(seen(raw), block, 0.0);
    Index n = block;
    for (Index k = 0; k < row.size; ++k) {
      const Index j = row.indices[k];
      if (j < block) {
        seen(raw)[j] = length * row.values[k];
      } else if (j < known) {
        at_[n] = j + 1;
        seen(raw)[n] = length * row.values[k];
        __builtin_prefetch(table_[static_cast<std::size_t>(j) + 1], 0, 2);
        ++n;
      }
    }
    for (Index j = 0; j < block; ++j) at_[j] = j + 1;
    if (scales_) standardise(row, block, n, known, keep);
    else share_raw(n);
    return {n == block ? nullptr : at_.data(), n};
  }
  // Without their own scaling all members see the same values.
  void share_raw(Index n) const {
    for (const View view : {standard, uncentred}) std::copy_n(seen(raw), n, seen(view));
  }
  // The scores of a sparse row: centred in the block, and behind it those that are present.
  void standardise(const SparseRow& row, Index block, Index n, Index known, bool keep) const {
    const SparseRow scored = uncentred_.row(row, known, keep, scratch_);
    double square = uncentred_.outside();
    const double length = inverse_root(scored.square + square);
    std::fill_n(seen(uncentred), block, 0.0);
    Index at = block;
    for (Index k = 0; k < scored.size; ++k)
      if (scored.indices[k] >= block) {
        square += scored.values[k] * scored.values[k];
        seen(standard)[at++] = scored.values[k];
      } else {
        seen(uncentred)[scored.indices[k]] = length * scored.values[k];
      }
    if (block > 0) {
      block_.assign(static_cast<std::size_t>(block), 0.0);
      for (Index k = 0; k < row.size; ++k)
        if (row.indices[k] < block) block_[row.indices[k]] = row.scale * row.values[k];
      const DenseRow centred = centred_.row({block_.data(), block, 0}, block, keep, scratch_);
      square += centred.square;
      std::copy_n(centred.values, block, seen(standard));
    }
    const double scale = inverse_root(square);
    for (Index k = 0; k < n; ++k) seen(standard)[k] *= scale;
  }
  // The row with its constant, for a member with a full covariance.
  DenseRow whole(std::size_t k) const {
    return {seen(k == diagonals ? uncentred : raw) - constant_, std::min(seen_.size, few) + constant_, 0};
  }

  LOPSIDED_FLATTEN double vote(Seen row) const {
    row.standard = seen(standard), row.raw = seen(raw);
    seen_ = row;
    const double* rows = table_.data();
    const auto term = [=](Index k) { return load4(rows + row.place(k)) * row.values(k); };
    Double4 a{}, b{}, c{}, d{};
    Index k = 0;
    for (; k + 4 <= row.size; k += 4) {
      a += term(k);
      b += term(k + 1);
      c += term(k + 2);
      d += term(k + 3);
    }
    // Each term keeps its accumulator: zeros appended for features of other rows must not change a bit.
    if (k < row.size) a += term(k);
    if (k + 1 < row.size) b += term(k + 1);
    if (k + 2 < row.size) c += term(k + 2);
    const Double4 side_by_side = (a + b) + (c + d) + load4(rows) * constants();
    store4(scores_.data(), side_by_side);
    const Double4 voices = load4(weights_.data()) * (side_by_side / root(1 + side_by_side * side_by_side));
    double sum = ((voices[0] + voices[1]) + voices[2]) + voices[3];
    for (std::size_t m = diagonals; m < members; ++m) {
      const double score = scores_[m] = votes(m) ? full_[m - diagonals].score(whole(m)) : 0;
      if (votes(m)) sum += weights_[m] * (score / std::sqrt(1 + score * score));
    }
    return sum;
  }

  // The means move along the variances before (AROW) or `after` the row (ACOG).
  struct Moves {
    Double4 share, after;  // gain of the precisions, times the squared value
    Double4 gain(Double4 v) const { return share * (v * v); }
    Double4 along(const double* m, Double4 v) const { return v / (1 + load4(m + diagonals) + after * gain(v)); }
    void take(double* m, Double4 v, Double4 by) const {
      store4(m + diagonals, load4(m + diagonals) + gain(v));
      store4(m, load4(m) + by);
    }
  };
  LOPSIDED_FLATTEN bool step_by(const Target& t) {
    blame(t);
    Double4 step{}, r{};
    Moves moves{};
    bool any = false, arow = false;
    for (std::size_t k = 0; k < diagonals; ++k) {
      if (!(t.y * scores_[k] < 1)) continue;
      any = true;
      step[k] = t.cost * t.weight * t.y;
      const Diagonal& lane = wide_ ? wide_members_[k] : narrow_members_[k];
      if (lane.rule == Diagonal::Update::acog) {
        step[k] *= lane.learning_rate;
        moves.share[k] = moves.after[k] = 1;
      } else {
        r[k] = lane.regularization;
        moves.share[k] = 1 / r[k];
        arow = true;
      }
    }
    if (arow)
      move(moves, [&](Double4 variance) {
        for (std::size_t k = 0; k < diagonals; ++k)
          if (r[k] > 0) step[k] *= (1 - t.y * scores_[k]) / (variance[k] + r[k]);
        return step;
      });
    else if (any) move(moves, step);
    for (std::size_t k = diagonals; k < members; ++k)
      if (votes(k)) any |= full_[k - diagonals].learn(whole(k), t, scores_[k]);
    return any;
  }
  void move(const Moves moves, Double4 step) {
    const Seen row = seen_;  // a local copy: the compiler must assume that writes to the table change members
    double* rows = table_.data();
    const auto take = [&](double* m, Double4 v) { moves.take(m, v, step * moves.along(m, v)); };
    for (Index k = 0; k < row.size; ++k) take(rows + row.place(k), row.values(k));
    if (constant_) take(rows, constants());
  }
  // The same for steps that depend on the variance of the row, which uses the same quotients.
  void move(const Moves moves, auto step_for) {
    const Seen row = seen_;
    double* rows = table_.data();
    along_.resize(static_cast<std::size_t>(row.size) * diagonals);
    const auto along = [first = along_.data()](Index k) { return first + static_cast<std::size_t>(k) * diagonals; };
    const Double4 constant = moves.along(rows, constants());
    Double4 variance = constants() * constant;
    for (Index k = 0; k < row.size; ++k) {
      const Double4 v = row.values(k), u = moves.along(rows + row.place(k), v);
      store4(along(k), u);
      variance += v * u;
    }
    const Double4 step = step_for(variance);
    for (Index k = 0; k < row.size; ++k) moves.take(rows + row.place(k), row.values(k), step * load4(along(k)));
    if (constant_) moves.take(rows, constants(), step * constant);
  }
  Double4 constants() const {
    if (!constant_) return Double4{};
    return wide_ ? Double4{0, 0, 1, 0} : Double4{1, 1, 1, 1};
  }

  // Adds the cost of the mistakes of this round.
  void blame(const Target& t) {
    const bool positive = t.y > 0;
    auto& account = positive ? missed_ : alarmed_;
    bool changed = positive;
    if (positive) rho_ = t.cost;
    for (std::size_t k = 0; k < members; ++k)
      if (votes(k) && (scores_[k] >= 0) != positive) {
        account[k] += t.weight;
        changed = true;
      }
    if (changed) weigh();
  }
  double price(std::size_t k) const { return (rho_ * missed_[k] + alarmed_[k]) / std::max(rho_, 1.0); }
  std::size_t leader() const {
    std::size_t best = 0;
    for (std::size_t k = 1; k < members; ++k)
      if (votes(k) && price(k) < price(best)) best = k;
    return best;
  }
  void weigh() {
    const double least = price(leader());
    double sum = 0;
    for (std::size_t k = 0; k < members; ++k) {
      const double x = 1 + (price(k) - least) / 12, x2 = x * x, x4 = x2 * x2;
      weights_[k] = votes(k) ? 1 / (x4 * x4) : 0;
      sum += weights_[k];
    }
    for (double& w : weights_) w /= sum;
  }

  bool scales_ = true, dense_ = false, constant_ = true;
  std::array<Diagonal, diagonals> narrow_members_, wide_members_;
  Count rows_ = 0;
  Count narrow_ = 1;  // until a row has more than a few features
  Count wide_ = 0;  // whether that row was among the first
  double trial_ = 1 << 17;  // length of the trial period, in nonzero values
  Count values_met_ = 0;
  Count left_ =
      0;  // after the trial: the full member that is kept, from 1, or one more than there are if none is; 0 during the trial
  mutable Prepare centred_, uncentred_;
  Table table_;  // for the constant and each feature: the members' weights, then their precisions - 1
  std::array<Arow<FullCovariance, double, CostIn::step>, seats> full_;
  std::array<double, members> missed_{}, alarmed_{};
  double rho_ = 1;
  std::array<double, members> weights_ = {};

  mutable std::array<double, members> scores_{};
  mutable Seen seen_{};
  std::vector<double> kept_;
  mutable Scratch scratch_, found_;
  mutable std::array<std::vector<double>, all> values_;  // each preceded by a 1
  mutable std::vector<double> block_;
  mutable std::vector<Index> at_;
  Aligned along_;
};

LOPSIDED_ISA_END
