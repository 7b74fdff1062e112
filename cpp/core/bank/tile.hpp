// As many models of a bank as fit the registers, with their numbers of all features.
#pragma once

#include <span>

#include "../simd.hpp"
#include "learned.hpp"
#include "learners.hpp"

LOPSIDED_ISA_BEGIN

// Scores are handed on a line of the cache at a time: those of one row go to as many places as there are models, and
// these may be places that push each other out of the cache.
inline constexpr Count together = 8;

template <class Real, int parts, class Learner>
class alignas(128) Tile {  // and so in no line of the cache that another thread writes to
 public:
  static constexpr int places = models_in<Real> * parts;

  explicit Tile(std::span<Banked> all) : all_(all.first(std::min<std::size_t>(all.size(), places))) {
    for (std::size_t l = 0; l < all_.size(); ++l) {
      scores_[l] = all_[l].pass.scores;
      alive_[part(l)][place(l)] = -1;
    }
  }
  std::span<Banked> models() const { return all_; }
  Learner& learner(std::size_t l) { return learners_[part(l)]; }
  static int part(std::size_t l) { return static_cast<int>(l) / models_in<Real>; }
  static int place(std::size_t l) { return static_cast<int>(l) % models_in<Real>; }
  double* number(std::size_t feature, std::size_t i, std::size_t l) {
    return table_.get() + (feature * Learner::width + i) * places + l;
  }

  // Room for so many features, of which none has begun.
  void reserve(std::size_t features) {
    size_ = features * Learner::width * places;
    table_ = {LineAllocator<double>().allocate(size_), Free{size_}};
  }
  void begin(std::size_t feature) {
    for (std::size_t i = 0; i < Learner::width; ++i) std::fill_n(number(feature, i, 0), places, Learner::initial[i]);
  }

  // The features of the row that comes next are looked up; while this one is met, they are brought near.
  [[gnu::always_inline]] void expect(const SparseRow& x, Count visit) {
    constexpr std::size_t far = std::size_t{1} << 20;
    std::vector<double*>& found = found_[visit % 2];
    look_up(x, found);
    next_ = {found.data(), size_ * sizeof(double) < far ? 0 : x.size};
  }

  template <class Row>
  [[gnu::always_inline]] void observe(const Row& x, const Target& t, Count visit, Count row) {
    const Beside<Real, parts, Learner::width> beside{table_.get(), found_[visit % 2].data()};
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
    for_each_part<parts>([&](auto p) { some |= lost[p] = (scores[p] - scores[p] != 0.0) & alive_[p]; });
    if (any(some)) [[unlikely]]
      lose(lost, row);
    for_each_part<parts>([&](auto p) { recent_[visit % together][p] = scores[p]; });
    for_each_part<parts>([&](auto p) {
      const Mask<Real> wrong = t.y > 0 ? scores[p] < 0.0 : scores[p] >= 0.0;
      Real& wrongs = t.y > 0 ? missed_[p] : alarms_[p];
      wrongs += choose<Real>(wrong, all<Real>(t.weight), Real{});
      updates_[p] -= learners_[p].learn(x, t, scores[p], alive_[p], [=](Index k) { return at(k, p); });
    });
  }

  // What the models say of a row that is not learned, at `row` of `out`. False if it is not finite.
  template <class Row>
  [[gnu::always_inline]] bool score(const Row& x, std::vector<double*>& found, std::span<double* const> out,
                                    Count row) const {
    if constexpr (std::same_as<Row, SparseRow>) look_up(x, found);
    const Beside<Real, parts, Learner::width> beside{table_.get(), found.data()};
    const auto at = [=](Index k, int p) { return beside.template at<Row>(k, p); };
    const Pack<Real, parts> scores = Learner::template score<Real, parts>(learners_, x, at, near);
    bool finite = true;
    for (std::size_t l = 0; l < all_.size(); ++l)
      if (out[l]) {
        const double score = out[l][row] = scores[part(l)][place(l)];
        finite &= std::isfinite(score);
      }
    return finite;
  }

  bool scores() const { return learners_[0].scores(); }

  // How many of some features have a weight, by model.
  void nonzeros(std::size_t first, std::size_t last, Count* out) const {
    const Beside<Real, parts, Learner::width> beside{table_.get(), nullptr};
    Pack<Mask<Real>, parts> counts{};
    for_each_part<parts>([&](auto p) {
      const auto weighs = learners_[p].weighs();
      for (std::size_t j = first; j < last; ++j)
        counts[p] -= weighs(beside.template at<DenseRow>(static_cast<Index>(j), p));
    });
    for (std::size_t l = 0; l < all_.size(); ++l) out[l] = static_cast<Count>(counts[part(l)][place(l)]);
  }

  void skip(Count visit) {
    recent_[visit % together].fill(lopsided::all<Real>(std::numeric_limits<double>::quiet_NaN()));
  }

  // What the models said of the last rows.
  void hand_on(Count first, Count count) {
    if (count == together) hand_on(first, std::integral_constant<Count, together>{});
    else hand_on<Count>(first, count);
  }

  // What has happened so far is `shared` and what each model has of its own.
  void tell(Tally shared) {
    for (std::size_t l = 0; l < all_.size(); ++l) {
      Tally& tally = all_[l].pass.tally = shared;
      tally.false_negatives = missed_[part(l)][place(l)];
      tally.false_positives = alarms_[part(l)][place(l)];
      tally.updates = updates(l);
    }
  }
  // The scores are in their places: what they mean is learned from those.
  void calibrate(const Pass& pass) {
    calibrations_.resize(all_.size());
    for (std::size_t l = 0; l < all_.size(); ++l)
      for (Count i = 0; scores_[l] && !all_[l].failure && i < pass.size; ++i)
        if (const double weight = pass.weight(pass.at(i)); weight != 0)
          calibrations_[l].record(scores_[l][i], pass.labels[pass.at(i)], weight);
  }
  const Calibration& calibration(std::size_t l) const { return calibrations_[l]; }
  Count updates(std::size_t l) const { return static_cast<Count>(updates_[part(l)][place(l)]); }
  void mark() {
    for (Banked& one : all_) one.pass.curve.push_back(one.pass.tally);
  }

 private:
  [[gnu::always_inline]] void look_up(const SparseRow& x, std::vector<double*>& found) const {
    if (found.size() < static_cast<std::size_t>(x.size) + 3) found.resize(static_cast<std::size_t>(x.size) + 3);
    double* const table = table_.get();
    double** const out = found.data();
    for (Index k = 0; k < x.size; ++k)
      out[k] = table + static_cast<std::size_t>(x.indices[k]) * (Learner::width * places);
    std::fill_n(out + x.size, 3, table);  // for Next
  }
  template <class Size>
  void hand_on(Count first, Size count) {
    for (std::size_t l = 0; l < all_.size(); ++l)
      if (scores_[l]) {
        const auto here = reinterpret_cast<std::uintptr_t>(scores_[l] + first);
        __builtin_prefetch(reinterpret_cast<const void*>(here + 2 * together * sizeof(double)),
                           1);  // there may be no more
        for (Count i = 0; i < count; ++i) scores_[l][first + i] = recent_[i][part(l)][place(l)];
      }
  }
  [[gnu::noinline, gnu::cold]] void lose(const Pack<Mask<Real>, parts>& lost, Count row) {
    for (std::size_t l = 0; l < all_.size(); ++l)
      if (lost[part(l)][place(l)]) {
        alive_[part(l)][place(l)] = 0;
        try {
          refuse_score(row);
        } catch (const DataError& error) {
          all_[l].failure = error;
        }
      }
  }

  struct Free {
    std::size_t size;
    void operator()(double* p) const { LineAllocator<double>().deallocate(p, size); }
  };

  std::span<Banked> all_;
  Pack<Learner, parts> learners_;
  std::size_t size_ = 0;
  std::unique_ptr<double[], Free> table_{nullptr, Free{0}};
  std::array<std::vector<double*>, 2> found_;  // what is kept of the features of this row and of the next
  Next<Learner::width * places> next_;
  std::array<double*, places> scores_{};
  std::array<Pack<Real, parts>, together> recent_{};
  Pack<Mask<Real>, parts> alive_{}, updates_{};
  Pack<Real, parts> missed_{}, alarms_{};
  std::vector<Calibration> calibrations_;
};

LOPSIDED_ISA_END
