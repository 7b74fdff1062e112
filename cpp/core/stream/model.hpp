// A learner with everything around it: preparation, costs, counts. The face the bindings see.
#pragma once

#include <memory>

#include "../numbers/symmetric.hpp"
#include "../numbers/table.hpp"
#include "progressive.hpp"
#include "threads.hpp"

// Loops are compiled twice, for AVX2 as well; under sanitizers, which make compilation slow, once.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__SANITIZE_ADDRESS__)
#define LOPSIDED_AVX2 __attribute__((target("avx2"), flatten))
#define LOPSIDED_IF_AVX2 if (__builtin_cpu_supports("avx2"))
#else
#define LOPSIDED_AVX2
#define LOPSIDED_IF_AVX2 if constexpr (false)
#endif

namespace lopsided {

// Reads or writes the named parts of a model: to save, load, copy and inspect it.
struct StateVisitor {
  virtual ~StateVisitor() = default;
  virtual bool restores() const { return false; }  // it writes
  virtual void operator()(const char* name, Vector& values) = 0;
  virtual void operator()(const char* name, Symmetric& values) = 0;
  virtual void operator()(const char* name, SymmetricOf<float>& values) = 0;
  virtual void operator()(const char* name, Table& values) = 0;
  virtual void operator()(const char* name, std::vector<double>& few) = 0;  // of no feature
  virtual void operator()(const char* name, Series& many) = 0;
  virtual void operator()(const char* name, double& value) = 0;
  virtual void operator()(const char* name, Count& value) = 0;
};

// Sets the options of a model before its first row.
struct OptionVisitor {
  virtual ~OptionVisitor() = default;
  virtual void operator()(const char* name, double& value) = 0;
  virtual void operator()(const char* name, bool& value) = 0;
  virtual void operator()(const char* name, std::vector<double>& values) = 0;
  virtual int choose(const char* name, std::initializer_list<const char*> choices, int now) = 0;

  template <class Choice>
  void operator()(const char* name, Choice& value, std::initializer_list<const char*> choices) {
    value = static_cast<Choice>(choose(name, choices, static_cast<int>(value)));
  }
};

class Model {
 public:
  virtual ~Model() = default;
  virtual std::unique_ptr<Model> clone() const = 0;
  virtual void learn(const Rows& rows, Pass& pass) = 0;
  virtual void score(const Rows& rows, double* out) = 0;
  // Events come without labels, a label follows or does not. Only for a model that asks.
  virtual void ask(const Rows& rows, const double* days, const Answers& out) = 0;
  virtual void tell(Count id, double y, double weight) = 0;
  // Weights other than 0 with their features, in order; the intercept, if any, is feature 0.
  virtual void nonzeros(std::vector<Index>& features, std::vector<double>& weights) const = 0;
  virtual std::vector<double> coefficients() const = 0;  // all of them
  virtual void options(OptionVisitor& visit) = 0;
  virtual void state(StateVisitor& visit) = 0;
  virtual void grow(Index features) = 0;

  Index features() const { return features_; }
  Count rounds() const { return rounds_; }
  Count updates() const { return updates_; }
  double rho() const { return cost_.rho(); }
  bool intercept() const { return prepare_.intercept; }
  Asker& asker() { return asker_; }

 protected:
  Index features_ = 0;
  Count rounds_ = 0, updates_ = 0;
  Prepare prepare_;
  Cost cost_;
  Asker asker_;
  // Room for the row in work. Copies do without.
  struct Room : Scratch {
    Room() = default;
    Room(const Room&) : Scratch() {}
    Room& operator=(const Room&) { return *this; }
  };
  Room read_, prepared_;
};

namespace detail {

template <class Row, class... Rest>
LOPSIDED_AVX2 void progressive_avx2(Rest&&... rest) {
  progressive<Row>(rest...);
}
template <class Row, class... Rest>
LOPSIDED_AVX2 void ask_all_avx2(Rest&&... rest) {
  ask_all<Row>(rest...);
}
template <class Row, class... Rest>
LOPSIDED_AVX2 void score_all_avx2(Rest&&... rest) {
  score_all<Row>(rest...);
}

}  // namespace detail

template <class Learner>
class ModelOf final : public Model {
 public:
  std::unique_ptr<Model> clone() const override { return std::make_unique<ModelOf>(*this); }

  // All rows are learned or none. One event is scored before anything but the running statistics
  // changes. Where a copy of the model to go back to is cheap, rows are checked on the way; otherwise
  // beforehand, and then a score that overflows leaves the rows before it learned.
  void learn(const Rows& rows, Pass& pass) override {
    if (scored_first(rows, pass.size) && !pass.delays) {
      or_take_back([&] { run(rows, pass); });
    } else if (cheap_copy(rows, pass.size) && !pass.weightless()) {
      or_go_back([&] { run(rows, pass); });
    } else {
      for (Count i = 0; i < pass.size; ++i) pass.weight(pass.at(i));
      std::vector<double> squares;
      const Rows sound = pass.order ? check(rows, pass) : rows.checked(squares);
      if (!pass.weightless()) return run(sound, pass);
      for (Count i = 0; i < pass.size; ++i) pass.leave_out(i);
    }
  }

  void ask(const Rows& given, const double* days, const Answers& out) override {
    const auto go = [&](const Rows& rows, bool afterwards) {
      grow(rows.columns());
      const auto with = [&]<class Row>(Row*) {
        LOPSIDED_IF_AVX2
          detail::ask_all_avx2<Row>(rows, days, learner_, prepare_, cost_, asker_, out, afterwards, read_, prepared_);
        else ask_all<Row>(rows, days, learner_, prepare_, cost_, asker_, out, afterwards, read_, prepared_);
      };
      sparse(rows) ? with(static_cast<SparseRow*>(nullptr)) : with(static_cast<DenseRow*>(nullptr));
    };
    if (scored_first(given, given.size())) return or_take_back([&] { go(given, false); });
    if (!prepare_.standard && !remembers<Learner> && given.columns() <= features_)  // rows change nothing of the learner
      return asker_.or_go_back([&] { go(given, true); });
    if (cheap_copy(given, given.size())) return or_go_back([&] { go(given, false); });
    std::vector<double> squares;
    go(given.checked(squares), false);
  }

  void tell(Count id, double y, double weight) override {
    const std::optional<Kept> kept = asker_.pending.find(id);
    if (!kept) throw std::out_of_range("no such event waits");
    if (weight != 0)
      updates_ += learn_late(learner_, cost_, rounds_, asker_, *kept, y, weight, std::nullopt, 0);
    asker_.pending.forget(id);
  }

  // Where there are many rows, on all cores, each with a copy of the model.
  void score(const Rows& rows, double* out) override {
    std::size_t threads = rows.bytes() / worth_a_thread;
    if (threads < 2 || !cheap_copy(rows, 1)) return score(rows, 0, rows.size(), out);
    threads = std::min(threads, threads_allowed());
    std::vector<ModelOf> copies(threads - 1, *this);
    in_parallel(threads, rows.size(), [&](std::size_t thread, Count first, Count last) {
      (thread == 0 ? *this : copies[thread - 1]).score(rows, first, last, out);
    });
  }

  void score(const Rows& rows, Count first, Count last, double* out) {
    const auto with = [&]<class Row>(Row*, Prepare& prepare, Index known) {
      LOPSIDED_IF_AVX2
        detail::score_all_avx2<Row>(rows, first, last, learner_, prepare, known, out, read_, prepared_);
      else score_all<Row>(rows, first, last, learner_, prepare, known, out, read_, prepared_);
    };
    const auto go = [&]<class Row>(Row* kind) {
      if constexpr (requires { Learner::keeps_rows; })
        if (rows.columns() > features_) {  // new features count too
          Prepare wide = prepare_;
          wide.grow(rows.columns());
          return with(kind, wide, rows.columns());
        }
      with(kind, prepare_, features_);
    };
    sparse(rows) ? go(static_cast<SparseRow*>(nullptr)) : go(static_cast<DenseRow*>(nullptr));
  }

  void nonzeros(std::vector<Index>& features, std::vector<double>& weights) const override {
    const auto keep = [&](std::size_t j, double w) {
      features.push_back(static_cast<Index>(j));
      weights.push_back(w);
    };
    if constexpr (requires { learner_.nonzeros(keep); }) {
      learner_.nonzeros(keep);
    } else if constexpr (requires { learner_.coefficients(); }) {
      const Vector w = learner_.coefficients();
      for (std::size_t j = 0; j < w.size(); ++j)
        if (w[j] != 0) keep(j, w[j]);
    }
  }
  std::vector<double> coefficients() const override {
    std::vector<double> out(static_cast<std::size_t>(features_) + prepare_.offset());
    if constexpr (requires { learner_.coefficients(); }) {
      const Vector w = learner_.coefficients();
      out.assign(w.data(), w.data() + w.size());
    } else if constexpr (requires { learner_.nonzeros([](std::size_t, double) {}); }) {
      learner_.nonzeros([&](std::size_t j, double w) { out[j] = w; });
    } else {
      out.clear();
    }
    return out;
  }

  void options(OptionVisitor& visit) override {
    prepare_.options(visit);
    cost_.options(visit);
    asker_.options(visit);
    learner_.options(visit);
    if constexpr (requires { learner_.start(); }) {  // some features may be known from the start
      if (learner_.columns()) grow_to(static_cast<Index>(learner_.columns()) - prepare_.offset());
      learner_.start();
    }
  }
  void state(StateVisitor& visit) override {
    visit("rounds", rounds_);
    visit("updates", updates_);
    prepare_.state(visit);
    cost_.state(visit);
    learner_.state(visit);
    asker_.state(visit, [&](const Kept& kept) { return fits(kept); });
  }
  void grow(Index features) override {
    if (features > features_) grow_to(features);
  }

 private:
  void grow_to(Index features) {
    const std::size_t size = static_cast<std::size_t>(features) + prepare_.offset();
    // First room for all, which may fail and changes nothing, then the growth, which cannot fail.
    prepare_.reserve(features);
    if constexpr (requires { learner_.reserve(size); }) learner_.reserve(size);
    else
      learner_.state([&](const char*, auto& values) {
        if constexpr (requires { values.grow(size); }) values.reserve(size);
      });
    features_ = features;
    prepare_.grow(features);
    if constexpr (requires { learner_.grow(size); }) {
      learner_.grow(size);
    } else {
      bytes_ = 0;
      learner_.state([&](const char*, auto& values) {
        if constexpr (requires { values.grow(size); }) {
          values.grow(size);
          bytes_ += values.bytes();
        }
      });
    }
  }

  bool cheap_copy(const Rows& rows, Count visits) const {
    std::size_t size = asker_.pending.bytes();
    if constexpr (requires { learner_.bytes(); }) size += learner_.bytes();  // which may keep rows
    else size += bytes_;
    return rows.bytes() > 4 * size || (visits > 1 && size < small);
  }
  template <class Do>
  void or_go_back(Do act) {
    auto before = *this;
    try {
      act();
    } catch (...) {
      *this = std::move(before);
      throw;
    }
  }
  bool scored_first(const Rows& rows, Count visits) const {
    constexpr bool meets = requires(Learner& l, const DenseRow& x) { l.meet(x); };
    return visits == 1 && !meets && rows.columns() <= features_;
  }
  template <class Do>
  void or_take_back(Do act) {
    prepare_.mark();
    try {
      act();
    } catch (...) {
      prepare_.go_back();
      throw;
    }
    prepare_.unmark();
  }
  static const Rows& check(const Rows& rows, const Pass& pass) {
    Scratch scratch;
    for (Count i = 0; i < pass.size; ++i) rows.check(pass.at(i), scratch);
    return rows;
  }
  // Whether a kept row is one that the learner could have seen.
  bool fits(const Kept& kept) const {
    const Index columns = features_ + prepare_.offset();
    if constexpr (requires { learner_.fits(kept); }) return learner_.fits(kept);
    if (!kept.sparse) return kept.indices.empty() && kept.values.size() <= static_cast<std::size_t>(columns);
    return kept.values.size() == kept.indices.size() &&
           std::all_of(kept.indices.begin(), kept.indices.end(), [=](Index j) { return j < columns; });
  }

  bool sparse(const Rows& rows) const {
    if constexpr (requires { learner_.dense(); })
      if (learner_.dense()) return false;
    return rows.sparse() && !(prepare_.standard && prepare_.centred);
  }

  void run(const Rows& rows, Pass& pass) {
    grow(rows.columns());
    Asker* asker = asker_.on() ? &asker_ : nullptr;
    const auto go = [&]<class Row>(Row*) {
      LOPSIDED_IF_AVX2
        detail::progressive_avx2<Row>(rows, pass, learner_, prepare_, cost_, rounds_, asker, read_, prepared_);
      else progressive<Row>(rows, pass, learner_, prepare_, cost_, rounds_, asker, read_, prepared_);
    };
    sparse(rows) ? go(static_cast<SparseRow*>(nullptr)) : go(static_cast<DenseRow*>(nullptr));
    updates_ += pass.tally.updates;
  }

  static constexpr std::size_t small = std::size_t{1} << 18;
  static constexpr std::size_t worth_a_thread = std::size_t{1} << 21;  // bytes of rows

  Learner learner_;
  std::size_t bytes_ = 0;  // held by the learner
};

}  // namespace lopsided
