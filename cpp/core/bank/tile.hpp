// As many models of a bank as fit into registers: `parts` vectors.
#pragma once

#include "../simd.hpp"
#include "any_tile.hpp"
#include "learners.hpp"

LOPSIDED_ISA_BEGIN

// The part that does not depend on the learner: the outcome for each model.
template <class Real, int parts>
class TileOf : public AnyTile {
 public:
  static constexpr int slots = models_in<Real> * parts;

  TileOf(std::span<Banked> all, std::span<const double> initial)
      : AnyTile(all.first(std::min<std::size_t>(all.size(), slots)), slots, initial) {
    for (std::size_t l = 0; l < models_.size(); ++l) {
      scores_[l] = models_[l].pass.scores;
      alive_[part(l)][at(l)] = -1;
    }
  }

  int place(std::size_t l) const final { return at(l); }
  Count updates(std::size_t l) const final { return static_cast<Count>(updates_[part(l)][at(l)]); }
  void skip(Count visit) final {
    recent_[visit % together].fill(lopsided::all<Real>(std::numeric_limits<double>::quiet_NaN()));
  }
  void hand_over(Count first, Count count) final {
    if (count == together) hand_over_some(first, std::integral_constant<Count, together>{});
    else hand_over_some(first, count);
  }
  void tell(const Tally& shared) final {
    for (std::size_t l = 0; l < models_.size(); ++l) {
      Tally& tally = models_[l].pass.tally = shared;
      tally.false_negatives = missed_[part(l)][at(l)];
      tally.false_positives = alarms_[part(l)][at(l)];
      tally.updates = updates(l);
    }
  }

 protected:
  static int part(std::size_t l) { return static_cast<int>(l) / models_in<Real>; }
  static int at(std::size_t l) { return static_cast<int>(l) % models_in<Real>; }

  // Models whose score is not finite learn nothing more.
  [[gnu::noinline, gnu::cold]] void lose(const Pack<Mask<Real>, parts>& lost, Count row) {
    for (std::size_t l = 0; l < models_.size(); ++l)
      if (lost[part(l)][at(l)]) {
        alive_[part(l)][at(l)] = 0;
        try {
          refuse_score(row);
        } catch (const DataError& error) {
          models_[l].failure = error;
        }
      }
  }

  std::array<double*, slots> scores_{};
  std::array<Pack<Real, parts>, together> recent_{};
  Pack<Mask<Real>, parts> alive_{}, updates_{};
  Pack<Real, parts> missed_{}, alarms_{};

 private:
  void hand_over_some(Count first, auto count) {
    for (std::size_t l = 0; l < models_.size(); ++l)
      if (scores_[l]) {
        const auto here = reinterpret_cast<std::uintptr_t>(scores_[l] + first);
        __builtin_prefetch(reinterpret_cast<const void*>(here + 2 * together * sizeof(double)),
                           1);  // there may be no more
        for (Count i = 0; i < count; ++i) scores_[l][first + i] = recent_[i][part(l)][at(l)];
      }
  }
};

template <class Real, int parts, class Learner>
class alignas(128) Tile final : public TileOf<Real, parts> {  // shares no cache line with another thread
  using Base = TileOf<Real, parts>;

 public:
  explicit Tile(std::span<Banked> all) : Base(all, Learner::initial) {}

  void options(std::size_t l, GiveOptions& give) override { learners_[this->part(l)].options(give); }
  void state(std::size_t l, StateList& list) override { learners_[this->part(l)].state(list); }
  bool banks(std::size_t l) const override { return learners_[this->part(l)].banks(); }
  bool scores() const override { return learners_[0].scores(); }

  void begin(std::size_t feature) override {
    double* const first = this->table_.get() + feature * (Learner::width * Base::slots);
    for (std::size_t i = 0; i < Learner::width; ++i)
      std::fill_n(first + i * Base::slots, Base::slots, Learner::initial[i]);
  }
  void expect(const SparseRow& x, Count visit) override {
    constexpr std::size_t far = std::size_t{1} << 20;
    std::vector<double*>& found = found_[visit % 2];
    look_up(x, found);
    next_ = {found.data(), this->size_ * sizeof(double) < far ? 0 : x.size};
  }
  LOPSIDED_FLATTEN void observe(const DenseRow& x, const Target& t, Count visit, Count row) override {
    observe_row(x, t, visit, row);
  }
  LOPSIDED_FLATTEN void observe(const SparseRow& x, const Target& t, Count visit, Count row) override {
    observe_row(x, t, visit, row);
  }
  bool score(const DenseRow& x, std::vector<double*>& found, std::span<double* const> out, Count row) const override {
    return score_row(x, found, out, row);
  }
  bool score(const SparseRow& x, std::vector<double*>& found, std::span<double* const> out, Count row) const override {
    look_up(x, found);
    return score_row(x, found, out, row);
  }

  void nonzeros(std::size_t first, std::size_t last, Count* out) const override {
    const Beside<Real, parts, Learner::width> beside{this->table_.get(), nullptr};
    Pack<Mask<Real>, parts> counts{};
    for_each_part<parts>([&](auto p) {
      const auto weighs = learners_[p].weighs();
      for (std::size_t j = first; j < last; ++j)
        counts[p] -= weighs(beside.template at<DenseRow>(static_cast<Index>(j), p));
    });
    for (std::size_t l = 0; l < this->models_.size(); ++l)
      out[l] = static_cast<Count>(counts[this->part(l)][this->at(l)]);
  }

 private:
  template <class Row>
  LOPSIDED_INLINE void observe_row(const Row x, const Target& t, Count visit, Count row) {
    const Beside<Real, parts, Learner::width> beside{this->table_.get(), found_[visit % 2].data()};
    const auto at = [=](Index k, int p) { return beside.template at<Row>(k, p); };
    const auto met = [&](auto next) __attribute__((always_inline)) {
      return Learner::template score<Real, parts>(learners_, x, at, next);
    };
    if constexpr (Learner::takes_in) Learner::template take_in<Real, parts>(learners_, x, at);
    Pack<Real, parts> scores;
    if (std::same_as<Row, DenseRow> || next_.size == 0) {
      scores = met(near);
    } else if constexpr (std::same_as<Row, SparseRow>) {
      scores = met(next_);
      next_.rest(x.size);
    }
    Pack<Mask<Real>, parts> lost;  // not finite
    Mask<Real> some{};
    for_each_part<parts>([&](auto p) { some |= lost[p] = (scores[p] - scores[p] != 0.0) & this->alive_[p]; });
    if (any(some)) [[unlikely]]
      this->lose(lost, row);
    for_each_part<parts>([&](auto p) { this->recent_[visit % together][p] = scores[p]; });
    for_each_part<parts>([&](auto p) {
      const Mask<Real> wrong = t.y > 0 ? scores[p] < 0.0 : scores[p] >= 0.0;
      Real& wrongs = t.y > 0 ? this->missed_[p] : this->alarms_[p];
      wrongs += choose<Real>(wrong, all<Real>(t.weight), Real{});
      this->updates_[p] -= learners_[p].learn(x, t, scores[p], this->alive_[p], [=](Index k) { return at(k, p); });
    });
  }
  template <class Row>
  LOPSIDED_INLINE bool score_row(const Row& x, const std::vector<double*>& found, std::span<double* const> out,
                                 Count row) const {
    const Beside<Real, parts, Learner::width> beside{this->table_.get(), found.data()};
    const auto at = [=](Index k, int p) { return beside.template at<Row>(k, p); };
    const Pack<Real, parts> scores = Learner::template score<Real, parts>(learners_, x, at, near);
    bool finite = true;
    for (std::size_t l = 0; l < this->models_.size(); ++l)
      if (out[l]) {
        const double score = out[l][row] = scores[this->part(l)][this->at(l)];
        finite &= std::isfinite(score);
      }
    return finite;
  }
  LOPSIDED_INLINE void look_up(const SparseRow& x, std::vector<double*>& found) const {
    if (found.size() < static_cast<std::size_t>(x.size) + 3) found.resize(static_cast<std::size_t>(x.size) + 3);
    double* const table = this->table_.get();
    double** const out = found.data();
    for (Index k = 0; k < x.size; ++k)
      out[k] = table + static_cast<std::size_t>(x.indices[k]) * (Learner::width * Base::slots);
    std::fill_n(out + x.size, 3, table);  // for Next
  }

  Pack<Learner, parts> learners_;
  std::array<std::vector<double*>, 2> found_;  // where the values of this row's and the next row's features are
  Next<Learner::width * Base::slots> next_;
};

template <template <class> class Learner>
std::unique_ptr<AnyTile> make_tile(std::span<Banked> models) {
  using One = Learner<Widest>;
  if (models.size() > 2 * models_in<Widest>) return std::make_unique<Tile<Widest, 3, One>>(models);
  if (models.size() > models_in<Widest>) return std::make_unique<Tile<Widest, 2, One>>(models);
  return std::make_unique<Tile<Widest, 1, One>>(models);
}

LOPSIDED_ISA_END
