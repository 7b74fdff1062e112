#include "model.hpp"

#include <algorithm>

#include "threads.hpp"

namespace lopsided {

namespace {

constexpr std::size_t small = std::size_t{1} << 18;
constexpr std::size_t worth_a_thread = std::size_t{1} << 21;  // bytes of rows
constexpr double huge = 1e100;                                // sums of squares that scores may not survive

const Rows& checked(const Rows& rows, const Pass& pass) {
  Scratch scratch;
  for (Count i = 0; i < pass.size; ++i) rows.check(pass.at(i), scratch);
  return rows;
}

}  // namespace

Model::~Model() = default;
Model::Model(const Model&) = default;
Model& Model::operator=(Model&&) = default;

void Model::learn(const Rows& rows, Pass& pass) {
  if (scored_first(rows, pass.size) && !pass.delays) {
    or_take_back([&] { run(rows, pass); });
  } else if (cheap_copy(rows, pass.size) && !pass.weightless()) {
    or_go_back([&] { run(rows, pass); });
  } else {
    for (Count i = 0; i < pass.size; ++i) pass.weight(pass.at(i));
    std::vector<double> squares;
    const Rows sound = pass.order ? checked(rows, pass) : rows.checked(squares);
    const bool risky = std::any_of(squares.begin(), squares.end(), [](double square) { return square > huge; });
    if (risky && !pass.weightless()) return or_go_back([&] { run(sound, pass); });
    if (!pass.weightless()) return run(sound, pass);
    for (Count i = 0; i < pass.size; ++i) pass.leave_out(i);
  }
}

void Model::run(const Rows& rows, Pass& pass) {
  grow(rows.columns());
  learn_rows(rows, sparse(rows), pass);
  updates_ += pass.tally.updates;
}

void Model::score(const Rows& rows, double* out) {
  grow(0);
  std::size_t threads = rows.bytes() / worth_a_thread;
  if (threads < 2 || !cheap_copy(rows, 1)) return score(rows, 0, rows.size(), out);
  threads = std::min(threads, threads_allowed());
  std::vector<std::unique_ptr<Model>> copies(threads - 1);
  for (auto& copy : copies) copy = clone();
  in_parallel(threads, rows.size(), [&](std::size_t thread, Count first, Count last) {
    (thread == 0 ? *this : *copies[thread - 1]).score(rows, first, last, out);
  });
}

void Model::score(const Rows& rows, Count first, Count last, double* out) {
  if (!facts_.new_features || rows.columns() <= features_)
    return score_rows(rows, sparse(rows), first, last, prepare_, features_, out);
  Prepare wide = prepare_;
  wide.grow(rows.columns());
  score_rows(rows, sparse(rows), first, last, wide, rows.columns(), out);
}

Reasons Model::explain(const Rows& rows) {
  double score;
  this->score(rows, &score);
  Reasons out{score, {}};
  Prepare wide = prepare_;
  Index known = features_;
  if (facts_.new_features && rows.columns() > features_) wide.grow(known = rows.columns());
  explain_row(rows, sparse(rows), wide, known, out);
  for (const Reason& one : out.all) out.base -= one.effect;
  return out;
}

// The effects of weights.
void Model::explain_row(const Rows& rows, bool sparse, Prepare& prepare, Index known, Reasons& out) {
  if (!facts_.linear) throw std::invalid_argument("the scores of this learner are no sums over features");
  const std::vector<double> weights = coefficients();
  const Index offset = prepare.offset();
  const auto each = [&](const auto& x, auto column) {
    for (Index k = 0; k < x.size; ++k) {
      const Index j = column(k);
      if (j < offset || static_cast<std::size_t>(j) >= weights.size()) continue;
      out.all.push_back({{j - offset}, {}, weights[static_cast<std::size_t>(j)] * (x.scale * x.values[k])});
    }
  };
  if (sparse) {
    const SparseRow x = prepare.row(rows.row<SparseRow>(0, read_), known, false, prepared_);
    each(x, [&](Index k) { return x.indices[k]; });
  } else {
    each(prepare.row(rows.row<DenseRow>(0, read_), known, false, prepared_), [](Index k) { return k; });
  }
}

void Model::ask(const Rows& given, const AskedAbout& about, const Answers& out) {
  const auto go = [&](const Rows& rows, bool afterwards) {
    grow(rows.columns());
    ask_rows(rows, sparse(rows), about, out, afterwards);
  };
  if (scored_first(given, given.size())) return or_take_back([&] { go(given, false); });
  if (!prepare_.standard && !facts_.remembers && given.columns() <= features_)  // the learner stays unchanged
    return asker_.or_go_back([&] { or_decide_again([&] { go(given, true); }); });
  if (cheap_copy(given, given.size())) return or_go_back([&] { go(given, false); });
  std::vector<double> squares;
  go(given.checked(squares), false);
}

void Model::tell(Count id, double y, double weight) {
  const std::optional<Kept> kept = asker_.pending.find(id);
  if (!kept) throw std::out_of_range("no such event waits");
  if (weight != 0) updates_ += learn_kept(*kept, y, weight);
  asker_.pending.forget(id);
}

void Model::nonzeros(std::vector<Index>& features, std::vector<double>& weights) const {
  const std::vector<double> all = coefficients();
  for (std::size_t j = 0; j < all.size(); ++j)
    if (all[j] != 0) {
      features.push_back(static_cast<Index>(j));
      weights.push_back(all[j]);
    }
}

void Model::options(OptionVisitor& visit) {
  prepare_.options(visit);
  cost_.options(visit);
  decider_.options(visit);
  asker_.options(visit);
  decider_.labels_wait = asker_.on();
  forget_.options(visit);
  if (forget_.on() && !facts_.fades) throw std::invalid_argument("this learner has nothing to forget");
  learner_options(visit);
  if (const std::size_t known = known_columns()) grow_to(static_cast<Index>(known) - prepare_.offset());
  start();
}

void Model::state(StateVisitor& visit) {
  visit("rounds", rounds_);
  visit("updates", updates_);
  prepare_.state(visit);
  cost_.state(visit);
  learner_state(visit);
  decider_.state(visit);
  asker_.state(visit, [&](const Kept& kept) { return fits(kept); });
}

// First memory for everything, which may fail and changes nothing, then the growth, which cannot fail.
void Model::grow_to(Index features) {
  const std::size_t columns = static_cast<std::size_t>(features) + prepare_.offset();
  prepare_.reserve(features);
  reserve_learner(columns);
  features_ = features;
  prepare_.grow(features);
  bytes_ = grow_learner(columns);
}

bool Model::sparse(const Rows& rows) const {
  return rows.sparse() && !(facts_.may_be_dense && dense()) && !(prepare_.standard && prepare_.centred);
}

bool Model::cheap_copy(const Rows& rows, Count visits) const {
  const std::size_t size = asker_.pending.bytes() + learner_bytes(bytes_);
  return rows.bytes() > 4 * size || (visits > 1 && size < small);
}

bool Model::scored_first(const Rows& rows, Count visits) const {
  return visits == 1 && rows.columns() <= features_ && !facts_.observes;
}

void Model::or_go_back(auto act) {
  const std::unique_ptr<Model> before = clone();
  try {
    act();
  } catch (...) {
    go_back_to(std::move(*before));
    throw;
  }
}

void Model::or_decide_again(auto act) {
  const Capacity before = decider_.capacity;
  try {
    act();
  } catch (...) {
    decider_.capacity = before;
    throw;
  }
}

void Model::or_take_back(auto act) {
  prepare_.mark();
  try {
    act();
  } catch (...) {
    prepare_.go_back();
    throw;
  }
  prepare_.unmark();
}

}  // namespace lopsided
