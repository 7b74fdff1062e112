// Models of one kind that differ in numbers, learned in one pass: rows are read and scaled once, and the numbers that
// the models have of a feature lie side by side. Each ends as it would have alone, to the bit.
#pragma once

#include "../bank.hpp"
#include "exchange.hpp"
#include "steps.hpp"

namespace lopsided {

// As many models as fit the registers.
template <class Real, int parts, class Learner>
class alignas(sizeof(Real)) Tile {
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
    return table_.data() + (feature * Learner::width + i) * places + l;
  }

  void grow(std::size_t features) {
    const std::size_t before = table_.size();
    constexpr std::size_t whole = std::size_t{1} << 16;  // so many features fill huge pages
    if (features * bytes >= far) table_.reserve((features + whole - 1) / whole * whole);
    table_.grow(features);
    for (std::size_t i = 0; i < Learner::width; ++i)
      if (Learner::initial[i] != 0)
        for (std::size_t j = before; j < features; ++j) std::fill_n(number(j, i, 0), places, Learner::initial[i]);
  }

  // The features of a row that comes next, which nobody has checked yet, are brought near, if they may be far.
  // Inlined: see ahead.hpp.
  [[gnu::always_inline]] void expect(std::pair<const Index*, const Index*> features, Index offset) const {
    constexpr std::size_t line = 64;
    if (table_.bytes() < far) return;
    const auto first = reinterpret_cast<std::uintptr_t>(table_.data()) + static_cast<std::size_t>(offset) * bytes;
    for (const Index* j = features.first; j < features.second; ++j) {
      const std::uintptr_t place = first + static_cast<std::uint32_t>(*j) * bytes;
      for (std::size_t at = 0; at < bytes; at += line) __builtin_prefetch(reinterpret_cast<const void*>(place + at), 1);
    }
  }

  template <class Row>
  [[gnu::always_inline]] void meet(const Row& x, const Target& t, Count visit, Count row) {
    const Beside<Real, parts, Learner::width> beside{table_.data()};
    const Pack<Real, parts> scores = Learner::template meet<Real, parts>(learners_, x, beside);
    for_each_part<parts>([&](auto p) {
      const Mask<Real> lost = (scores[p] - scores[p] != 0.0) & alive_[p];  // not finite
      if (any(lost)) [[unlikely]] lose(p, lost, row);
    });
    for (std::size_t l = 0; l < all_.size(); ++l)
      if (scores_[l]) scores_[l][visit] = scores[part(l)][place(l)];
    for_each_part<parts>([&](auto p) {
      const Mask<Real> wrong = t.y > 0 ? scores[p] < 0.0 : scores[p] >= 0.0;
      Real& wrongs = t.y > 0 ? missed_[p] : alarms_[p];
      wrongs += choose<Real>(wrong, all<Real>(t.weight), Real{});
      updates_[p] -= learners_[p].learn(x, t, scores[p], alive_[p], [=](Index j) { return beside(j, p); });
    });
  }

  void skip(Count visit) {
    for (std::size_t l = 0; l < all_.size(); ++l)
      if (scores_[l]) scores_[l][visit] = std::numeric_limits<double>::quiet_NaN();
  }

  // What has happened so far is `shared` and what each model has of its own.
  void tell(Tally shared) {
    for (std::size_t l = 0; l < all_.size(); ++l) {
      Tally& tally = all_[l].pass.tally = shared;
      tally.false_negatives = missed_[part(l)][place(l)];
      tally.false_positives = alarms_[part(l)][place(l)];
      tally.updates = static_cast<Count>(updates_[part(l)][place(l)]);
    }
  }
  void mark() {
    for (Banked& one : all_) one.pass.curve.push_back(one.pass.tally);
  }

 private:
  [[gnu::noinline, gnu::cold]] void lose(int p, const Mask<Real>& lost, Count row) {
    for (int k = 0; k < models_in<Real>; ++k)
      if (lost[k]) {
        alive_[p][k] = 0;
        try {
          refuse_score(row);
        } catch (const DataError& error) {
          all_[static_cast<std::size_t>(p * models_in<Real> + k)].failure = error;
        }
      }
  }

  static constexpr std::size_t bytes = Learner::width * places * sizeof(double);  // of a feature
  static constexpr std::size_t far = std::size_t{1} << 20;

  std::span<Banked> all_;
  Pack<Learner, parts> learners_;
  Table table_{Learner::width * places};
  std::array<double*, places> scores_{};
  Pack<Mask<Real>, parts> alive_{}, updates_{};
  Pack<Real, parts> missed_{}, alarms_{};
};

template <class Real, class Learner>
class Bank {
 public:
  explicit Bank(std::span<Banked> all) : all_(all) {
    while (!all.empty()) {
      const auto add = [&](auto& tiles) {
        tiles.emplace_back(all);
        all = all.subspan(tiles.back().models().size());
      };
      all.size() > models_in<Real> ? add(large_) : add(small_);
    }
  }

  // False if the models cannot learn together.
  bool load(Index columns) {
    Model& one = *all_[0].model;
    features_ = std::max(one.features(), columns);
    bool same = true;
    OptionList first;
    one.options(first);
    StateList start;
    one.state(start);
    for_each_model([&](auto& tile, std::size_t l) {
      Model& model = *tile.models()[l].model;
      OptionList options;
      model.options(options);
      GiveOptions give{options.values, first.values, tile.place(l)};
      prepare_.options(give);
      cost_.options(give);
      asker_.options(give);
      tile.learner(l).options(give);
      same = same && give.same && give.at == options.values.size() && !asker_.on();
      same = same && model.features() == one.features();
      if constexpr (requires { tile.learner(l).target; }) same = same && !tile.learner(l).target.on();
    });
    const std::size_t size = static_cast<std::size_t>(features_) + prepare_.offset();
    if (!same || size > most / (Learner::width * all_.size())) return false;
    for_each_tile([&](auto& tile) { tile.grow(size); });
    const auto take = [&](const Item& ours, const Item& theirs, std::size_t i) {
      const Item& firsts = start.items[i];
      if (ours.number) {
        *ours.number = *theirs.number;
        return ours.own || same_bits(*theirs.number, *firsts.number);
      }
      if (ours.count) {
        *ours.count = *theirs.count;
        return ours.own || *theirs.count == *firsts.count;
      }
      ours.vector->assign(theirs.vector->data(), theirs.vector->size());
      return same_bits(*theirs.vector, *firsts.vector);
    };
    for_each_tile([&](auto& tile) {
      std::vector<Column> columns;
      for (std::size_t l = 0; same && l < tile.models().size(); ++l) same = exchange(tile, l, columns, take);
      exchange(tile, columns, [](double& ours, double& theirs, bool marked, bool) {
        if (!(marked && theirs == 0)) ours = theirs;
      });
    });
    prepare_.grow(static_cast<std::size_t>(features_));
    return same;
  }

  template <class Row>
  void learn(const Rows& rows, const Pass& pass) {
    Scratch read, prepared;
    Tally tally;
    for (Count i = 0; i < pass.size; ++i) {
      const Count at = pass.at(i);
      if (pass.order && i + 2 < pass.size) rows.fetch(pass.at(i + 2));
      if constexpr (std::same_as<Row, SparseRow>)
        if (i + 1 < pass.size) {
          const auto next = rows.peek(pass.at(i + 1));
          for (const auto& tile : large_) tile.expect(next, prepare_.offset());
          for (const auto& tile : small_) tile.expect(next, prepare_.offset());
        }
      const double weight = pass.weight(at);
      const Row raw = rows.row<Row>(at, read);
      if (weight == 0) {
        for_each_tile([&](auto& tile) { tile.skip(i); });
      } else {
        const double y = pass.labels[at];
        const Row x = prepare_.row(raw, rows.columns(), true, prepared);
        const Target target{y, cost_.next(y, weight, pass.rho), weight, ++rounds_};
        for_each_tile([&](auto& tile) { tile.meet(x, target, i, at); });
        tally.record(y, weight, y);
        ++tally.queries;
      }
      const bool point = pass.every && ((i + 1) % pass.every == 0 || i + 1 == pass.size);
      if (point || i + 1 == pass.size)
        for_each_tile([&](auto& tile) {
          tile.tell(tally);
          if (point) tile.mark();
        });
    }
  }

  void save() {
    const auto give = [](const Item& ours, const Item& theirs, std::size_t) {
      if (ours.number) *theirs.number = *ours.number;
      else if (ours.count) *theirs.count = *ours.count;
      else theirs.vector->assign(ours.vector->data(), ours.vector->size());
      return true;
    };
    for_each_tile([&](auto& tile) {
      std::vector<Column> columns;
      for (std::size_t l = 0; l < tile.models().size(); ++l) {
        const Banked& one = tile.models()[l];
        if (one.failure) continue;
        one.model->grow(features_);
        updates_ = one.model->updates() + one.pass.tally.updates;
        exchange(tile, l, columns, give);
      }
      exchange(tile, columns, [](double& ours, double& theirs, bool marked, bool lazy) {
        const double now = marked && ours < 0 ? 0 : ours;
        if (!lazy || theirs != now) theirs = now;
      });
    });
  }

  bool sparse(const Rows& rows) const { return rows.sparse() && !(prepare_.standard && prepare_.centred); }

 private:
  static constexpr std::size_t most = std::size_t{1} << 27;  // numbers of features: 1 GB

  void for_each_tile(auto visit) {
    for (auto& tile : large_) visit(tile);
    for (auto& tile : small_) visit(tile);
  }
  void for_each_model(auto visit) {
    for_each_tile([&](auto& tile) {
      for (std::size_t l = 0; l < tile.models().size(); ++l) visit(tile, l);
    });
  }

  using Item = StateList::Item;
  // One number of every feature of one model, `step` apart.
  struct Column {
    double* theirs;
    std::size_t size, step, number, l;
    bool lazy;  // what is not written takes no memory
  };

  // Visits what the bank and a model have of the same name, but for the numbers of features, which are listed.
  bool exchange(auto& tile, std::size_t l, std::vector<Column>& columns, auto visit) {
    StateList theirs, ours;
    tile.models()[l].model->state(theirs);
    ours.place = tile.place(l);
    ours("rounds", rounds_);
    ours("updates", updates_);
    ours.items.back().own = true;
    prepare_.state(ours);
    cost_.state(ours);
    const std::size_t shared = ours.items.size();
    tile.learner(l).state(ours);
    if (ours.items.size() != theirs.items.size()) return false;
    std::size_t number = 0;
    for (std::size_t i = 0; i < ours.items.size(); ++i) {
      if (i >= shared && ours.items[i].vector) {
        Vector& values = *theirs.items[i].vector;
        columns.push_back({values.data(), values.size(), 1, number++, l, false});
      } else if (ours.items[i].table) {
        Table& values = *theirs.items[i].table;
        for (std::size_t k = 0; k < values.width(); ++k)
          columns.push_back({values.data() + k, values.size(), values.width(), k, l, true});
      } else if (!visit(ours.items[i], theirs.items[i], i)) {
        return false;
      }
    }
    return true;
  }
  // Visits the numbers of features, some features at a time, so that they are in the cache for all models.
  void exchange(auto& tile, const std::vector<Column>& columns, auto visit) {
    constexpr std::size_t some = 128;
    const std::size_t apart = static_cast<std::size_t>(tile.number(1, 0, 0) - tile.number(0, 0, 0));
    const std::size_t size = static_cast<std::size_t>(features_) + prepare_.offset();
    for (std::size_t first = 0; first < size; first += some)
      for (const Column& c : columns) {
        double *ours = tile.number(first, c.number, c.l), *theirs = c.theirs + first * c.step;
        const std::size_t n = std::min(first + some, std::max(first, c.size)) - first;
        const bool marked = Learner::initial[c.number] < 0;
        for (std::size_t j = 0; j < n; ++j) visit(ours[j * apart], theirs[j * c.step], marked, c.lazy);
      }
  }

  std::span<Banked> all_;
  std::vector<Tile<Real, 3, Learner>> large_;
  std::vector<Tile<Real, 1, Learner>> small_;
  Prepare prepare_;
  Cost cost_;
  Asker asker_;
  Count rounds_ = 0, updates_ = 0;
  Index features_ = 0;
};

}  // namespace lopsided
