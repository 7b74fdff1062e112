// KOIL: kernelized online imbalanced learning with fixed budgets (Hu et al. 2015, algorithm 1).
//
// Each class has a list of support vectors. A new row of class y is compared with V, those of the k nearest rows of
// the other class that it does not beat by 1: l_i = 1 - y (f(x) - f(x_i)) > 0. All weights shrink by
// 1 - eta; the new row gets the weight sum_V c_i and those of V lose c_i, where c_i = eta C y (hinge) or
// 2 eta C y min(l_i, 1e6) (squared). eta is constant or falls with the square root of the round. A full list drops its
// first row (fifo) or is a reservoir (rs); with ++ the row of its class nearest to the one dropped gets that one's weight.
//
// Kernel values between support vectors are cached, and so are their scores: a changed weight changes the scores by a
// row of kernel values. Weights and scores must be multiplied by `scale_`, which shrinks in their place. Cached scores
// are recomputed after a number of steps, so that rounding errors do not accumulate.
#pragma once

#include <array>

#include "../numbers/random.hpp"
#include "cut.hpp"
#include "gram.hpp"
#include "largest.hpp"
#include "support.hpp"

namespace lopsided {

class Koil {
 public:
  enum class Policy { rs, rs_plus, fifo, fifo_plus, infinite };
  enum class PairLoss { hinge, squared };
  enum class Schedule { constant, sqrt };
  static constexpr Count fresh = 4096;  // steps between recomputations of the scores
  static constexpr std::size_t remembered = 4096;  // slots up to which kernel values are cached
  static constexpr double ceiling = 1e6;  // of a squared loss

  kernel::Function kernel;

  double observe(const kernel::StoredRow& x) {
    raw_ = look(x, row_.values);
    return scale_ * raw_ - threshold();
  }
  double score(const kernel::StoredRow& x) const { return scale_ * look(x, scored_.values) - threshold(); }

  [[gnu::noinline]] bool learn(const kernel::StoredRow& x, const Target& t) {
    const std::size_t own = t.y > 0, other = 1 - own;
    const auto own_size = sides_[own].rows.size(), other_size = sides_[other].rows.size();
    ++sides_[own].seen;
    choose(t.y, other);
    const double eta = rate();
    shrink(eta);
    double step = eta * C_ * t.weight * t.y / scale_;
    if (scale_C_) step *= std::max(1.0, static_cast<double>(sides_[other].seen) / sizes_[other]);
    double weight = 0;
    changes_.clear();
    if (other_size == 0 || (own_size == 0 && chosen_.empty())) {
      weight = step;
    } else {
      for (const auto& [slot, loss] : chosen_) {
        const double change = loss_ == PairLoss::hinge ? step : 2 * step * std::min(loss, ceiling);
        weight += change;
        changes_.push_back({other, slot, -change});
      }
    }
    if (weight == 0) return false;
    keep(x, own, weight);
    if (++steps_ == fresh) sum_anew();
    return true;
  }

  void clear() {
    sides_ = {};
    for (auto& pair : grams_)
      for (kernel::Gram& gram : pair) gram.clear();
    scale_ = 1;
    draws_ = steps_ = 0;
  }
  void make_sparse() {
    for (Side& side : sides_) side.rows.make_sparse();
  }
  std::size_t bytes() const {
    std::size_t sum = 0;
    for (const Side& side : sides_) sum += side.rows.bytes() + 8 * side.scores.size();
    for (const auto& pair : grams_)
      for (const kernel::Gram& gram : pair) sum += gram.bytes();
    return sum;
  }

  void options(auto&& visit) {
    visit("policy", policy_, {"rs", "rs++", "fifo", "fifo++", "infinite"});
    visit("loss", loss_, {"hinge", "squared"});
    visit("C", C_);
    visit("learning_rate", learning_rate_);
    visit("schedule", schedule_, {"constant", "sqrt"});
    visit("size.negative", sizes_[0]);
    visit("size.positive", sizes_[1]);
    visit("neighbors.negative", neighbors_[0]);
    visit("neighbors.positive", neighbors_[1]);
    visit("violators_first", violators_first_);
    visit("scale_C", scale_C_);
    visit("fit_threshold", fit_threshold_);
    visit("seed", seed_);
  }
  void state(auto&& visit, kernel::Shape shape) {
    visit("koil.scale", scale_);
    visit("koil.draws", draws_);
    visit("koil.steps", steps_);
    validate(scale_ > 0 && scale_ <= 1, "koil.scale");
    validate(steps_ < fresh, "koil.steps");
    for (std::size_t s = 0; s < 2; ++s) {
      const std::string name = s ? "positive" : "negative";
      Side& side = sides_[s];
      visit((name + ".seen").c_str(), side.seen);
      side.rows.state(visit, name, shape);
      const std::size_t n = side.rows.slots();
      validate(side.rows.size() == n && (policy_ == Policy::infinite || static_cast<double>(n) <= sizes_[s]),
               name + ".size");
      Series scores;
      if (!visit.restores())
        scores.values.assign(side.scores.begin(), side.scores.begin() + static_cast<std::ptrdiff_t>(n));
      const std::string entry = "kept." + name + ".scores";
      visit(entry.c_str(), scores);
      if (!visit.restores()) continue;
      validate(scores.values.size() == n && all_finite(scores.values), entry);
      side.scores.assign(scores.values.begin(), scores.values.end());
      side.scores.resize(side.rows.room());
    }
    if (visit.restores()) remember_all();
  }

 private:
  struct Side {
    kernel::Support rows;
    Aligned scores;  // of the support vectors, by slot
    Count seen = 0;  // events of the class
  };
  struct Change {
    std::size_t side, slot;
    double by;
  };
  using Row = std::array<Aligned, 2>;  // kernel values with the slots of both sides

  double look(const kernel::StoredRow& x, Row& row) const {
    double sum = 0;
    for (std::size_t s = 0; s < 2; ++s) {
      const kernel::Support& rows = sides_[s].rows;
      row[s].resize(rows.room());  // new entries are 0, so that the padding stays finite
      rows.values(x, kernel, pad_.values, row[s].data());
      sum += kernel::weighted(rows.weights(), row[s].data(), rows.room());
    }
    return sum;
  }

  // V and its losses, for the row observed last.
  void choose(double y, std::size_t other) {
    const Side& side = sides_[other];
    const std::size_t n = side.rows.size();
    const double* near = row_.values[other].data();
    const auto loss = [&](std::size_t s) { return 1 - y * scale_ * (raw_ - side.scores[s]); };
    std::size_t found = n;
    nearest_.clear();
    if (violators_first_) {
      likeness_.assign(n, -std::numeric_limits<double>::infinity());
      for (std::size_t s = 0; s < n; ++s)
        if (loss(s) > 0 && side.rows.weights()[s] != 0) {
          likeness_[s] = near[s];
          nearest_.push_back(s);
        }
      near = likeness_.data();
      found = nearest_.size();
    }
    if (const double k = neighbors_[other]; static_cast<double>(found) > k) {
      kernel::largest(side.rows, near, found, static_cast<std::size_t>(k), nearest_);
    } else if (!violators_first_) {
      for (std::size_t s = 0; s < n; ++s) nearest_.push_back(s);
    }
    chosen_.clear();
    for (const std::size_t s : nearest_)
      if (const double l = loss(s); l > 0) chosen_.push_back({s, l});
  }

  // The learning rate of the present round, whose event has been counted as seen.
  double rate() const {
    if (schedule_ == Schedule::constant) return learning_rate_;
    return learning_rate_ / std::sqrt(static_cast<double>(sides_[0].seen + sides_[1].seen));
  }
  void shrink(double eta) {
    scale_ *= 1 - eta;
    if (scale_ > 0x1p-128) return;
    for (Side& side : sides_) {
      double* weights = side.rows.weights();
      for (std::size_t s = 0; s < side.rows.room(); ++s) {
        weights[s] *= scale_;
        if (std::abs(weights[s]) < 1e-300) weights[s] = 0;  // avoid slow arithmetic on subnormals
        side.scores[s] *= scale_;
      }
    }
    raw_ *= scale_;
    scale_ = 1;
  }

  // Stores the new row if its list has a free slot or drops a row, and updates weights and scores.
  void keep(const kernel::StoredRow& x, std::size_t own, double weight) {
    Side& side = sides_[own];
    const std::size_t n = side.rows.size();
    const bool full = policy_ != Policy::infinite && static_cast<double>(n) >= sizes_[own];
    const bool heirs = policy_ == Policy::rs_plus || policy_ == Policy::fifo_plus;
    const double* row = row_.values[own].data();
    std::size_t slot = n;
    bool stays = true;
    if (full) {
      slot = side.rows.first();
      if (policy_ == Policy::rs || policy_ == Policy::rs_plus) {
        stays = draw() * static_cast<double>(side.seen) < sizes_[own];
        if (stays) slot = static_cast<std::size_t>(draw() * sizes_[own]);
      }
    }
    const double itself = kernel.of_itself(x.self(kernel.form));
    double inherited = 0;  // weight inherited by the new row
    if (full && !stays) {
      if (heirs) changes_.push_back({own, heir(side.rows, row, n), weight});
    } else if (full) {
      const double dropped = side.rows.weights()[slot];
      changes_.push_back({own, slot, -dropped});
      if (heirs) {
        const double* near = kernels(own, slot, own, dropped_);
        likeness_.assign(near, near + n);
        likeness_[slot] = row[slot];
        const bool last = policy_ == Policy::fifo_plus;  // the new row comes last in its list
        const std::size_t c = heir(side.rows, likeness_.data(), n, last ? slot : n);
        if (c == slot) inherited = dropped;
        else changes_.push_back({own, c, dropped});
      }
    }
    const double of_new = stays ? weight + inherited : 0;
    double raw = raw_ + of_new * itself;
    for (const Change& change : changes_) {
      raw += change.by * row_.values[change.side][change.slot];
      sides_[change.side].rows.weights()[change.slot] += change.by;
    }
    move_scores(of_new);
    if (stays) put(x, own, slot, full, of_new, raw, itself);
  }
  // The slot with the largest value; among equals the first in the list, where slot `last` counts as its end.
  static std::size_t heir(const kernel::Support& rows, const double* values, std::size_t n,
                          std::size_t last = std::numeric_limits<std::size_t>::max()) {
    const double most = kernel::most(values, n);
    const std::size_t found = rows.find([&](std::size_t s) { return s != last && values[s] >= most; });
    return found == rows.slots() ? last : found;
  }

  // Updates the scores of the support vectors for the changed weights and the new row.
  void move_scores(double of_new) {
    for (std::size_t s = 0; s < 2; ++s) {
      Side& side = sides_[s];
      pointers_.clear();
      factors_.clear();
      if (changes_.size() > apart_.size()) apart_.resize(changes_.size());
      for (std::size_t k = 0; k < changes_.size(); ++k) {
        pointers_.push_back(kernels(changes_[k].side, changes_[k].slot, s, apart_[k]));
        factors_.push_back(changes_[k].by);
      }
      if (of_new != 0) {
        pointers_.push_back(row_.values[s].data());
        factors_.push_back(of_new);
      }
      kernel::combine(side.scores.data(), side.rows.room(), pointers_.data(), factors_.data(), pointers_.size());
    }
  }
  // Kernel values of a support vector with the slots of a side.
  const double* kernels(std::size_t side, std::size_t slot, std::size_t with, Aligned& room) {
    if (remembers()) return grams_[side][with].row(slot);
    sides_[side].rows.read(slot, kept_.values);
    room.resize(sides_[with].rows.room());
    sides_[with].rows.values(kept_.values, kernel, pad_.values, room.data());
    return room.data();
  }
  bool remembers() const { return sides_[0].rows.slots() + sides_[1].rows.slots() <= remembered; }

  void put(const kernel::StoredRow& x, std::size_t own, std::size_t slot, bool full, double weight, double raw,
           double itself) {
    Side& side = sides_[own];
    if (!full) side.rows.push_back(x, weight);
    else if (policy_ == Policy::fifo || policy_ == Policy::fifo_plus) side.rows.turn(x, weight);
    else side.rows.write(slot, x, weight);
    side.scores.resize(side.rows.room());
    side.scores[slot] = raw;
    if (!remembers()) {
      for (auto& pair : grams_)
        for (kernel::Gram& gram : pair) gram.clear();
      return;
    }
    const std::size_t other = 1 - own;
    Row& row = row_.values;
    row[own].resize(side.rows.room());
    row[own][slot] = itself;
    remember(own, slot, own, row[own]);
    remember(own, slot, other, row[other]);
  }
  void remember(std::size_t own, std::size_t slot, std::size_t with, const Aligned& row) {
    const std::size_t mine = sides_[own].rows.room(), theirs = sides_[with].rows.room();
    grams_[own][with].grow(mine, theirs);
    grams_[own][with].set_row(slot, row.data(), theirs);
    grams_[with][own].grow(theirs, mine);
    grams_[with][own].set_column(slot, row.data(), sides_[with].rows.slots());
  }
  void remember_all() {
    for (auto& pair : grams_)
      for (kernel::Gram& gram : pair) gram.clear();
    if (!remembers()) return;
    Aligned row;
    for (std::size_t a = 0; a < 2; ++a)
      for (std::size_t b = 0; b < 2; ++b) {
        grams_[a][b].grow(sides_[a].rows.room(), sides_[b].rows.room());
        for (std::size_t s = 0; s < sides_[a].rows.slots(); ++s) {
          sides_[a].rows.read(s, kept_.values);
          row.resize(sides_[b].rows.room());
          sides_[b].rows.values(kept_.values, kernel, pad_.values, row.data());
          grams_[a][b].set_row(s, row.data(), row.size());
        }
      }
  }
  void sum_anew() {
    steps_ = 0;
    Aligned room;
    for (std::size_t a = 0; a < 2; ++a)
      for (std::size_t s = 0; s < sides_[a].rows.slots(); ++s) {
        double sum = 0;
        for (std::size_t b = 0; b < 2; ++b)
          sum += kernel::weighted(sides_[b].rows.weights(), kernels(a, s, b, room), sides_[b].rows.room());
        sides_[a].scores[s] = sum;
      }
  }

  double threshold() const {
    if (!fit_threshold_) return 0;
    const auto scores = [](const Side& side) { return std::span(side.scores.data(), side.rows.size()); };
    return scale_ * kernel::cut(scores(sides_[0]), scores(sides_[1]));
  }

  double draw() { return uniform(seed_, draws_++); }

  Policy policy_ = Policy::rs_plus;
  PairLoss loss_ = PairLoss::hinge;
  Schedule schedule_ = Schedule::constant;
  double C_ = 1, learning_rate_ = 0.01;
  std::array<double, 2> sizes_ = {100, 100}, neighbors_ = {10, 10};  // of the negative and the positive list
  bool violators_first_ = false, scale_C_ = false, fit_threshold_ = false;
  double seed_ = 0;

  std::array<Side, 2> sides_;  // negative, positive
  std::array<std::array<kernel::Gram, 2>, 2> grams_;
  double scale_ = 1;
  Count draws_ = 0, steps_ = 0;

  double raw_ = 0;  // score of the row observed last, before scaling
  kernel::ScratchOf<Row> row_;
  mutable kernel::ScratchOf<Row> scored_;
  mutable kernel::ScratchOf<Table> pad_;
  kernel::ScratchOf<kernel::StoredRow> kept_;
  std::vector<std::pair<std::size_t, double>> chosen_;
  std::vector<std::size_t> nearest_;
  std::vector<double> likeness_;
  Aligned dropped_;  // kernel values of a row that is dropped
  std::vector<Change> changes_;
  std::vector<const double*> pointers_;
  std::vector<double> factors_;
  std::vector<Aligned> apart_;
};

}  // namespace lopsided
