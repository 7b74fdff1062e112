// Models of one kind that differ in numbers, learned in one pass: rows are read and scaled once, and the numbers that
// the models have of a feature lie side by side. Each ends as it would have alone, to the bit.
#pragma once

#include "../bank.hpp"
#include "../threads.hpp"
#include "exchange.hpp"
#include "steps.hpp"

namespace lopsided {

// Scores are handed on a line of the cache at a time: those of one row go to as many places as there are models, and
// these may be places that push each other out of the cache.
inline constexpr Count together = 8;

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
    if (found.size() < static_cast<std::size_t>(x.size) + 3) found.resize(static_cast<std::size_t>(x.size) + 3);
    double* const table = table_.get();
    double** const out = found.data();
    for (Index k = 0; k < x.size; ++k) out[k] = table + static_cast<std::size_t>(x.indices[k]) * (Learner::width * places);
    next_ = {out, size_ * sizeof(double) < far ? 0 : x.size};
  }

  template <class Row>
  [[gnu::always_inline]] void meet(const Row& x, const Target& t, Count visit, Count row) {
    const Beside<Real, parts, Learner::width> beside{table_.get(), found_[visit % 2].data()};
    const auto at = [=](Index k, int p) { return beside.template at<Row>(k, p); };
    const auto met = [&](auto next) __attribute__((always_inline)) {
      return Learner::template meet<Real, parts>(learners_, x, at, next);
    };
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
    if (any(some)) [[unlikely]] lose(lost, row);
    for_each_part<parts>([&](auto p) { recent_[visit % together][p] = scores[p]; });
    for_each_part<parts>([&](auto p) {
      const Mask<Real> wrong = t.y > 0 ? scores[p] < 0.0 : scores[p] >= 0.0;
      Real& wrongs = t.y > 0 ? missed_[p] : alarms_[p];
      wrongs += choose<Real>(wrong, all<Real>(t.weight), Real{});
      updates_[p] -= learners_[p].learn(x, t, scores[p], alive_[p], [=](Index k) { return at(k, p); });
    });
  }

  void skip(Count visit) { recent_[visit % together].fill(lopsided::all<Real>(std::numeric_limits<double>::quiet_NaN())); }

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
  Count updates(std::size_t l) const { return static_cast<Count>(updates_[part(l)][place(l)]); }
  void mark() {
    for (Banked& one : all_) one.pass.curve.push_back(one.pass.tally);
  }

 private:
  template <class Size>
  void hand_on(Count first, Size count) {
    for (std::size_t l = 0; l < all_.size(); ++l)
      if (scores_[l]) {
        __builtin_prefetch(scores_[l] + first + 2 * together, 1);
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
      if (all.size() > 2 * models_in<Real>) add(large_);
      else if (all.size() > models_in<Real>) add(middle_);
      else add(small_);
    }
  }

  static constexpr std::size_t tile = Tile<Real, 3, Learner>::places;

  // Room for so many models, more than there are in the last tile.
  std::size_t lanes() {
    std::size_t out = 0;
    for_each_tile([&](auto& tile) { out += tile.places; });
    return out;
  }

  // False if the models cannot learn together. There is room for `lanes` models, here and in other banks.
  bool load(const Rows& rows, std::size_t lanes) {
    OptionList first;
    all_[0].model->options(first);
    bool same = true;
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
      same = same && model.features() == 0 && model.rounds() == 0;
      if constexpr (requires { tile.learner(l).target; }) same = same && !tile.learner(l).target.on();
    });
    columns_ = rows.columns();
    sparse_ = rows.sparse() && !(prepare_.standard && prepare_.centred);
    const std::size_t size = static_cast<std::size_t>(columns_) + prepare_.offset();
    numbered_ = sparse_ && rows.stored() < few * size;
    const std::size_t places = numbered_ ? std::min<std::size_t>(size, rows.stored() + prepare_.offset()) + 1 : size;
    if (!same || places > most / (Learner::width * lanes)) return false;
    for_each_tile([&](auto& tile) { tile.reserve(places); });
    if (numbered_) places_.resize(size);
    else for (std::size_t j = 0; j < size; ++j) begin(j);
    prepare_.grow(static_cast<std::size_t>(columns_));
    return true;
  }

  template <class Row>
  void learn(const Rows& rows, const Pass& pass) {
    Event<Row> events[2];  // this one and the next
    Tally tally;
    const Count fetched = pass.fetched(rows);
    if (pass.size > 0) read(rows, pass, 0, events[0]);
    for (Count i = 0; i < pass.size; ++i) {
      if (i + 3 < fetched) rows.fetch(pass.at(i + 3));
      if (i + 1 < pass.size) read(rows, pass, i + 1, events[(i + 1) % 2]);
      const Event<Row>& now = events[i % 2];
      const Count at = pass.at(i);
      if (now.weight == 0) {
        for_each_tile([&](auto& tile) { tile.skip(i); });
      } else {
        const double y = pass.labels[at];
        const Row x = now.x;
        const Target target{y, cost_.next(y, now.weight, pass.rho), now.weight, ++rounds_};
        for_each_tile([&](auto& tile) { tile.meet(x, target, i, at); });
        tally.record(y, now.weight, y);
        ++tally.queries;
      }
      if (const Count before = i % together; before + 1 == together || i + 1 == pass.size)
        for_each_tile([&](auto& tile) { tile.hand_on(i - before, before + 1); });
      const bool point = pass.every && ((i + 1) % pass.every == 0 || i + 1 == pass.size);
      if (point || i + 1 == pass.size)
        for_each_tile([&](auto& tile) {
          tile.tell(tally);
          if (point) tile.mark();
        });
    }
    places_ = {};
  }

  void give(std::size_t place, Model& model) {
    for_each_tile([&](auto& tile) {
      if (place < tile.models().size()) give(tile, place, model);
      place -= tile.models().size();  // far beyond the others once it was here
    });
  }

  bool sparse() const { return sparse_; }

 private:
  static constexpr std::size_t most = std::size_t{1} << 27;  // numbers of features: 1 GB
  static constexpr std::size_t few = 8;  // numbers of rows for each feature: what a place costs, by what a look at it does

  void for_each_tile(auto visit) {
    for (auto& tile : large_) visit(tile);
    for (auto& tile : middle_) visit(tile);
    for (auto& tile : small_) visit(tile);
  }
  void for_each_model(auto visit) {
    for_each_tile([&](auto& tile) {
      for (std::size_t l = 0; l < tile.models().size(); ++l) visit(tile, l);
    });
  }

  template <class Row>
  struct Event {
    Row x{};
    double weight = 0;
    Scratch raw, prepared;
    std::vector<Index> places{};
  };
  template <class Row>
  [[gnu::always_inline]] void read(const Rows& rows, const Pass& pass, Count i, Event<Row>& out) {
    const Count at = pass.at(i);
    out.weight = pass.weight(at);
    const Row raw = rows.row<Row>(at, out.raw);
    if (out.weight == 0) return;
    Row x = prepare_.row(raw, columns_, true, out.prepared);
    if constexpr (std::same_as<Row, SparseRow>) {
      if (numbered_) x.indices = placed(x, out.places);
      for (auto& tile : large_) tile.expect(x, i);
      for (auto& tile : middle_) tile.expect(x, i);
      for (auto& tile : small_) tile.expect(x, i);
    }
    out.x = x;
  }
  // Where few rows have many features, these have places in the order in which they come: those that do not come
  // take no room.
  [[gnu::always_inline]] const Index* placed(const SparseRow& x, std::vector<Index>& out) {
    if (out.size() < static_cast<std::size_t>(x.size)) out.resize(static_cast<std::size_t>(x.size));
    for (Index k = 0; k < x.size; ++k) {
      Index& place = places_[static_cast<std::size_t>(x.indices[k])];
      if (place == 0) [[unlikely]] place = begun(x.indices[k]);
      out[static_cast<std::size_t>(k)] = place;
    }
    return out.data();
  }
  [[gnu::noinline]] Index begun(Index feature) {
    features_.push_back(feature);
    begin(features_.size() - 1);
    return static_cast<Index>(features_.size() - 1);
  }
  void begin(std::size_t place) {
    for_each_tile([&](auto& tile) { tile.begin(place); });
  }

  // What the bank and the model have of the same name.
  void give(auto& tile, std::size_t l, Model& model) {
    Count updates = tile.updates(l);
    StateList theirs, ours;
    model.state(theirs);  // before it grows: there is less to look at
    ours.place = tile.place(l);
    ours("rounds", rounds_);
    ours("updates", updates);
    prepare_.state(ours);
    cost_.state(ours);
    const std::size_t shared = ours.items.size();
    tile.learner(l).state(ours);
    model.grow(columns_);
    std::size_t number = 0;
    for (std::size_t i = 0; i < ours.items.size(); ++i) {
      const auto &from = ours.items[i], &to = theirs.items[i];
      if (from.number) *to.number = *from.number;
      else if (from.count) *to.count = *from.count;
      else if (from.table) give(tile, l, 0, to.table->width(), to.table->data());
      else if (i >= shared) give(tile, l, number++, 1, to.vector->data());
      else to.vector->assign(from.vector->data(), from.vector->size());
    }
  }
  // Some numbers of all features, from the first on, which have lain side by side in `out` since the model began. What
  // is still as it was then is not written, and may take no memory.
  void give(auto& tile, std::size_t l, std::size_t first, std::size_t count, double* out) {
    constexpr std::size_t block = 64;
    std::array<double, block * Learner::width> now;
    const auto look = [&](std::size_t place, double* to) {
      bool changed = false;
      for (std::size_t i = 0; i < count; ++i) {
        const double began = Learner::initial[first + i], ours = *tile.number(place, first + i, l);
        to[i] = began < 0 && ours < 0 ? 0 : ours;
        changed |= !same_bits(to[i], std::max(began, 0.0));
      }
      return changed;
    };
    if (numbered_) {
      for (std::size_t p = 1; p < features_.size(); ++p)
        if (look(p, now.data())) std::copy_n(now.data(), count, out + static_cast<std::size_t>(features_[p]) * count);
      return;
    }
    const std::size_t size = static_cast<std::size_t>(columns_) + prepare_.offset();
    for (std::size_t j = 0; j < size; j += block) {
      const std::size_t n = std::min(block, size - j);
      bool changed = false;
      for (std::size_t k = 0; k < n; ++k) changed |= look(j + k, now.data() + k * count);
      if (changed) std::copy_n(now.data(), n * count, out + j * count);
    }
  }

  std::span<Banked> all_;  // there while it learns
  std::vector<Tile<Real, 3, Learner>> large_;
  std::vector<Tile<Real, 2, Learner>> middle_;
  std::vector<Tile<Real, 1, Learner>> small_;
  Prepare prepare_;
  Cost cost_;
  Asker asker_;
  Count rounds_ = 0;
  Index columns_ = 0;
  bool sparse_ = false, numbered_ = false;
  std::vector<Index> places_;       // of each feature, while it learns; 0: it has not come
  std::vector<Index> features_{0};  // of each place
};

// Many models are several banks, each on a thread of its own.
template <class One>
class Banks final : public Learned {
 public:
  // False if the models cannot learn together.
  bool load(const Rows& rows, std::span<Banked> all) {
    constexpr std::size_t little = std::size_t{1} << 20;  // bytes: not worth a thread
    const std::size_t tiles = (all.size() + One::tile - 1) / One::tile;
    const std::size_t threads = rows.bytes() < little ? 1 : std::min(threads_allowed(), tiles);
    std::size_t lanes = 0;
    for (std::size_t t = 0, first = 0; t < threads; ++t) {
      const std::size_t last = std::min(tiles * (t + 1) / threads * One::tile, all.size());
      parts_.push_back({first, One(all.subspan(first, last - first))});
      lanes += parts_.back().bank.lanes();
      first = last;
    }
    return std::ranges::all_of(parts_, [&](Part& part) { return part.bank.load(rows, lanes); });
  }
  void learn(auto one) {
    in_parallel(parts_.size(), parts_.size(), [&](std::size_t t, Count, Count) { one(parts_[t].bank); });
  }
  void give(std::size_t place, Model& model) override {
    const auto after = [](std::size_t at, const Part& part) { return at < part.first; };
    Part& part = *std::prev(std::upper_bound(parts_.begin(), parts_.end(), place, after));
    part.bank.give(place - part.first, model);
  }

 private:
  struct Part {
    std::size_t first;  // model
    One bank;
  };
  std::vector<Part> parts_;
};

}  // namespace lopsided
