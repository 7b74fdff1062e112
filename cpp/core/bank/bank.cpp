// Models of one kind that differ in their parameters, learned in one pass: rows are read and scaled once, and the
// values that the models have for a feature lie side by side. Each model has the same bits as if it had learned alone.
#include "bank.hpp"

#include <mutex>

#include "../stream/threads.hpp"
#include "vectors.hpp"

LOPSIDED_ISA_BEGIN

namespace {

class Bank {
 public:
  Bank(std::span<Banked> all, MakeTile make) : all_(all) {
    for (; !all.empty(); all = all.subspan(tiles_.back()->models().size())) tiles_.push_back(make(all));
  }

  // At least as many as there are models.
  std::size_t slots() const {
    std::size_t out = 0;
    for (const auto& tile : tiles_) out += tile->slots();
    return out;
  }

  // False if the models cannot learn together. This bank and the others have `slots` slots for models.
  bool load(const Rows& rows, std::size_t slots) {
    OptionList first;
    all_[0].model->options(first);
    bool same = true;
    for_each_model([&](AnyTile& tile, std::size_t l) {
      Model& model = *tile.models()[l].model;
      OptionList options;
      model.options(options);
      GiveOptions give{options.values, first.values, tile.place(l)};
      prepare_.options(give);
      cost_.options(give);
      decider_.options(give);
      asker_.options(give);
      forget_.options(give);
      tile.options(l, give);
      same = same && give.same && give.at == options.values.size() && !asker_.on();
      same = same && model.features() == 0 && model.rounds() == 0;
      same = same && tile.banks(l) && !decider_.capacity.on() && !forget_.on();
    });
    columns_ = rows.columns();
    sparse_ = sparse(rows);
    const std::size_t size = static_cast<std::size_t>(columns_) + prepare_.offset();
    numbered_ = sparse_ && rows.stored() < few * size;
    const std::size_t places = numbered_ ? std::min<std::size_t>(size, rows.stored() + prepare_.offset()) + 1 : size;
    if (!same || places > most / (tiles_[0]->width() * slots)) return false;
    for (const auto& tile : tiles_) tile->reserve(places);
    if (numbered_) places_.resize(size), begin(0);
    else
      for (std::size_t j = 0; j < size; ++j) begin(j);
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
        for (const auto& tile : tiles_) tile->skip(i);
      } else {
        const double y = pass.labels[at];
        const Row x = now.x;
        const Target target{y, cost_.next(y, now.weight, pass.rho), now.weight, ++rounds_};
        for (const auto& tile : tiles_) tile->observe(x, target, i, at);
        tally.record(y, now.weight, y > 0);
        ++tally.queries;
      }
      if (const Count before = i % together; before + 1 == together || i + 1 == pass.size)
        for (const auto& tile : tiles_) tile->hand_over(i - before, before + 1);
      const bool point = pass.every && ((i + 1) % pass.every == 0 || i + 1 == pass.size);
      if (point || i + 1 == pass.size)
        for (const auto& tile : tiles_) {
          tile->tell(tally);
          if (point) tile->mark();
        }
    }
    places_ = {};
    for (const auto& tile : tiles_) tile->calibrate(pass);
  }

  void give(std::size_t place, Model& model) {
    for (const auto& tile : tiles_) {
      if (place < tile->models().size()) return give(*tile, place, model);
      place -= tile->models().size();
    }
  }

  bool sparse() const { return sparse_; }
  std::size_t models() const { return all_.size(); }
  Index features() const { return columns_; }

  // Whether its models can score these rows together.
  bool scores(const Rows& rows) const {
    bool yes = sparse(rows) == sparse_ && rows.columns() == columns_;
    for (const auto& tile : tiles_) yes = yes && tile->scores();
    return yes;
  }
  // Scores of rows that are not learned, for the models that want them. False if a score is not finite. Changes nothing,
  // so that several threads may call it.
  template <class Row>
  bool score(const Rows& rows, std::span<double* const> out) const {
    Prepare prepare = prepare_;
    Scratch raw, prepared;
    std::vector<double*> found;
    std::vector<Index> places(numbered_ ? static_cast<std::size_t>(columns_) + prepare_.offset() : 0), placed;
    for (std::size_t p = 1; numbered_ && p < features_.size(); ++p)
      places[static_cast<std::size_t>(features_[p])] = static_cast<Index>(p);
    bool finite = true;
    for (Count i = 0; i < rows.size(); ++i) {
      Row x = prepare.row(rows.row<Row>(i, raw), columns_, false, prepared);
      if constexpr (std::same_as<Row, SparseRow>)
        if (numbered_) {
          placed.resize(static_cast<std::size_t>(x.size));
          for (Index k = 0; k < x.size; ++k)
            placed[static_cast<std::size_t>(k)] = places[static_cast<std::size_t>(x.indices[k])];
          x.indices = placed.data();
        }
      std::size_t first = 0;
      for (const auto& tile : tiles_) {
        finite &= tile->score(x, found, out.subspan(first), i);
        first += tile->models().size();
      }
    }
    return finite;
  }

  // The number of weights of each model, without the constant.
  void nonzeros(Count* out) const {
    const std::size_t first = numbered_ + static_cast<std::size_t>(prepare_.offset());  // the constant came first
    const std::size_t last = numbered_ ? features_.size() : static_cast<std::size_t>(columns_) + prepare_.offset();
    for (const auto& tile : tiles_) {
      tile->nonzeros(first, last, out);
      out += tile->models().size();
    }
  }

 private:
  bool sparse(const Rows& rows) const { return rows.sparse() && !(prepare_.standard && prepare_.centred); }

  static constexpr std::size_t most = std::size_t{1} << 27;  // values: 1 GB
  static constexpr std::size_t few = 8;  // features are numbered if rows have fewer values than this for each

  void for_each_model(auto visit) {
    for (const auto& tile : tiles_)
      for (std::size_t l = 0; l < tile->models().size(); ++l) visit(*tile, l);
  }

  template <class Row>
  struct Event {
    Row x{};
    double weight = 0;
    Scratch raw, prepared;
    std::vector<Index> places{};
  };
  template <class Row>
  LOPSIDED_INLINE void read(const Rows& rows, const Pass& pass, Count i, Event<Row>& out) {
    const Count at = pass.at(i);
    out.weight = pass.weight(at);
    const Row raw = rows.row<Row>(at, out.raw);
    if (out.weight == 0) return;
    Row x = prepare_.row(raw, columns_, true, out.prepared);
    if constexpr (std::same_as<Row, SparseRow>) {
      if (numbered_) x.indices = placed(x, out.places);
      for (const auto& tile : tiles_) tile->expect(x, i);
    }
    out.x = x;
  }
  // Where few rows have many features, these are numbered in the order of their first use, so that unused ones take no
  // memory.
  LOPSIDED_INLINE const Index* placed(const SparseRow& x, std::vector<Index>& out) {
    if (out.size() < static_cast<std::size_t>(x.size)) out.resize(static_cast<std::size_t>(x.size));
    for (Index k = 0; k < x.size; ++k) {
      Index& place = places_[static_cast<std::size_t>(x.indices[k])];
      if (place == 0) [[unlikely]]
        place = begun(x.indices[k]);
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
    for (const auto& tile : tiles_) tile->begin(place);
  }

  // The entries of the bank and of the model with the same name.
  void give(AnyTile& tile, std::size_t l, Model& model) {
    Count updates = tile.updates(l);
    StateList theirs, ours;
    model.state(theirs);  // before it grows, while there is less to compare
    ours.place = tile.place(l);
    ours("rounds", rounds_);
    ours("updates", updates);
    prepare_.state(ours);
    cost_.state(ours);
    const std::size_t shared = ours.items.size();
    tile.state(l, ours);
    model.grow(columns_);
    model.calibrate(tile.calibration(l));
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
  // Some values of all features, to `out`, where they are adjacent. Values that have not changed since the model began
  // are not written: their pages may not even be allocated.
  void give(AnyTile& tile, std::size_t l, std::size_t first, std::size_t count, double* out) {
    constexpr std::size_t block = 64;
    std::vector<double> now(block * count);
    const auto look = [&](std::size_t place, double* to) {
      bool changed = false;
      for (std::size_t i = 0; i < count; ++i) {
        const double began = tile.initial(first + i), ours = *tile.value(place, first + i, l);
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

  std::span<Banked> all_;  // set while it learns, and the number of features
  std::vector<std::unique_ptr<AnyTile>> tiles_;
  Prepare prepare_;
  Cost cost_;
  Decider decider_;
  Asker asker_;
  Forget forget_;
  Count rounds_ = 0;
  Index columns_ = 0;
  bool sparse_ = false, numbered_ = false;
  std::vector<Index> places_;  // of each feature, while it learns; 0: not seen yet
  std::vector<Index> features_{0};  // of each place; 0 is shared by all that have not been seen
};

// Many models are several banks, each on a thread of its own.
class Banks final : public Learned {
 public:
  // False if the models cannot learn together.
  bool load(const Rows& rows, std::span<Banked> all, MakeTile make) {
    constexpr std::size_t tile = largest_tile * models_in<Widest>;
    constexpr std::size_t little = std::size_t{1} << 20;  // bytes: not worth a thread
    const std::size_t tiles = (all.size() + tile - 1) / tile;
    const std::size_t threads = rows.bytes() < little ? 1 : std::min(threads_allowed(), tiles);
    std::size_t slots = 0;
    for (std::size_t t = 0, first = 0; t < threads; ++t) {
      const std::size_t last = std::min(tiles * (t + 1) / threads * tile, all.size());
      parts_.push_back({first, Bank(all.subspan(first, last - first), make)});
      slots += parts_.back().bank.slots();
      first = last;
    }
    models_ = all.size();
    return std::ranges::all_of(parts_, [&](Part& part) { return part.bank.load(rows, slots); });
  }
  void learn(const Rows& rows, const Pass& pass) {
    by_row(parts_[0].bank.sparse(), [&]<class Row>(Row*, Bank& bank, std::size_t) {
      bank.template learn<Row>(rows, pass);
      return true;
    });
  }

  std::size_t models() const override { return models_; }
  Index features() const override { return parts_[0].bank.features(); }
  void give(std::size_t place, Model& model) override {
    const auto after = [](std::size_t at, const Part& part) { return at < part.first; };
    Part& part = *std::prev(std::upper_bound(parts_.begin(), parts_.end(), place, after));
    part.bank.give(place - part.first, model);
  }
  Count nonzeros(std::size_t place) override {
    std::call_once(counted_, [&] {
      nonzeros_.resize(models_);
      for (Part& part : parts_) part.bank.nonzeros(nonzeros_.data() + part.first);
    });
    return nonzeros_[place];
  }
  bool score(const Rows& rows, std::span<double* const> out) override {
    const bool can = std::ranges::all_of(parts_, [&](Part& part) { return part.bank.scores(rows); });
    return can && by_row(parts_[0].bank.sparse(), [&]<class Row>(Row*, Bank& bank, std::size_t first) {
             return bank.template score<Row>(rows, out.subspan(first, bank.models()));
           });
  }

 private:
  struct alignas(128) Part {  // as tiles
    std::size_t first;  // model
    Bank bank;
  };
  // Calls each bank on a thread of its own, with the kind of row it learned from. Whether all returned true.
  bool by_row(bool sparse, auto work) {
    std::vector<char> said(parts_.size());
    in_parallel(parts_.size(), parts_.size(), [&](std::size_t t, Count, Count) {
      Part& part = parts_[t];
      const auto with = [&]<class Row>(Row* kind) { return work(kind, part.bank, part.first); };
      said[t] = sparse ? with(static_cast<SparseRow*>(nullptr)) : with(static_cast<DenseRow*>(nullptr));
    });
    return std::ranges::all_of(said, [](char yes) { return yes; });
  }

  std::vector<Part> parts_;
  std::size_t models_ = 0;
  std::once_flag counted_;
  std::vector<Count> nonzeros_;
};

}  // namespace

std::shared_ptr<Learned> learn_in_bank(const Rows& rows, std::span<Banked> all, MakeTile make) {
  auto banks = std::make_shared<Banks>();
  if (!banks->load(rows, all, make)) return {};
  banks->learn(rows, all[0].pass);
  return banks;
}

LOPSIDED_ISA_END
