// THE loop: score, ask, learn, record. Without anybody to ask, every label is there for nothing.
#pragma once

#include <optional>

#include "../numbers/prefetch.hpp"
#include "cost.hpp"
#include "query.hpp"
#include "scaling.hpp"

namespace lopsided {

// What happened so far. Weighted by the events' weights; a score of 0 predicts positive.
struct Tally {
  double positives = 0, negatives = 0;
  double false_negatives = 0, false_positives = 0;
  Count events = 0, queries = 0, updates = 0;

  void record(double y, double weight, double score) {
    ++events;  // without branches: labels and mistakes are what a processor cannot foresee
    const bool positive = y > 0, called = score >= 0;
    positives += positive ? weight : 0;
    negatives += positive ? 0 : weight;
    false_negatives += positive & !called ? weight : 0;
    false_positives += !positive & called ? weight : 0;
  }
};

// One pass over a batch: what it is given, and what it leaves behind.
struct Pass {
  const std::int8_t* labels = nullptr;    // -1 or 1, one for each row
  const double* weights = nullptr;        // none: all 1
  const std::int64_t* order = nullptr;    // none: as they come
  Count size = 0;                         // rows to visit
  std::optional<double> rho;              // when the class counts are known beforehand
  Count every = 0;                        // rounds between points of the curve; 0: no curve
  const double* days = nullptr;           // of each row, for a budget that is daily
  const double* delays = nullptr;         // events that come before each row's label; none: at once

  double* scores = nullptr;               // progressive scores, in visiting order
  double* probabilities = nullptr;        // of a question, the same way
  std::int8_t* asked = nullptr;           // 1 where the label was bought
  Count forgotten = 0;                    // labels that were bought and would have come too late
  Tally tally;
  std::vector<Tally> curve;

  Count at(Count i) const { return order ? static_cast<Count>(order[i]) : i; }
  double weight(Count row) const {
    const double e = weights ? weights[row] : 1;
    if (!(e >= 0 && e < std::numeric_limits<double>::infinity())) refuse_weight(row);
    return e;
  }
  // How many rows are worth a hint that they come: as long as they are in order the machine finds dense and short ones
  // by itself.
  Count fetched(const Rows& rows) const {
    constexpr Count short_row = 32;
    return order || (rows.sparse() && rows.stored() > short_row * rows.size()) ? size : 0;
  }
  // An event of weight 0 has no score.
  void leave_out(Count i) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    if (scores) scores[i] = nan;
    if (probabilities) probabilities[i] = nan;
  }
  // Nothing to learn: not even the number of features may change.
  bool weightless() const {
    for (Count i = 0; i < size; ++i)
      if (!weights || weights[at(i)] != 0) return false;
    return true;
  }

 private:
  [[noreturn, gnu::noinline, gnu::cold]] static void refuse_weight(Count row) {
    throw DataError("a weight must be finite and not negative", static_cast<std::int64_t>(row));
  }
};

[[noreturn, gnu::noinline, gnu::cold]] inline void refuse_score(Count row) {
  throw DataError("the score is not finite: scale the features or choose a smaller step",
                  static_cast<std::int64_t>(row));
}

// The score of a row that has come. A learner that takes something in before it scores has `meet`.
template <class Learner>
double meet(Learner& learner, const RowLike auto& x) {
  if constexpr (requires { learner.meet(x); }) return learner.meet(x);
  else return learner.score(x);
}

// Whether a learner remembers the row that it met last.
template <class Learner>
concept remembers = requires(Learner& l, const DenseRow& x) { l.meet(x); } || requires(Learner& l, Kept& k) { l.keep(k); };

// A row as it is to be kept until its label comes. Numbers that a learner has of its own come from its `keep`.
template <class Learner>
Kept kept(Learner& learner, const RowLike auto& x, double score, double probability) {
  Kept out{probability, score, false, x.square, x.scale, {}, {}};
  if constexpr (requires { learner.keep(out); }) {
    learner.keep(out);
  } else {
    const auto n = static_cast<std::size_t>(x.size);
    out.values = {x.values, n};
    if constexpr (requires { x.indices; }) {
      out.sparse = true;
      out.indices = {x.indices, n};
    }
  }
  return out;
}

// The label of a kept row has come: the learner, as it is now, learns from the row as it was.
template <class Learner>
bool learn_late(Learner& learner, Cost& cost, Count& round, Asker& asker, const Kept& kept, double y,
                double weight, const std::optional<double>& rho, Count row) {
  const auto learn = [&](const auto& x, double score) {
    if (!std::isfinite(score)) refuse_score(row);
    asker.estimates.add(y, weight, kept.score, kept.probability);
    const Target target{y, cost.next(y, weight, rho), weight, ++round};
    return learner.learn(x, target, score);
  };
  if constexpr (requires { learner.recall(kept); }) {
    const double score = learner.recall(kept);
    return learn(kept.dense_row(), score);
  } else {
    const auto met = [&](const auto& x) {
      const double score = meet(learner, x);
      return learn(x, score);
    };
    return kept.sparse ? met(kept.sparse_row()) : met(kept.dense_row());
  }
}

// Labels under way, by the event after which they come.
class Coming {
 public:
  void add(Count after, Count id, Count row) { labels_.insert({after, {id, row}}); }

  // Learns from those that have come by event `now`. Returns how many steps were taken.
  template <class Learner>
  [[gnu::noinline]] Count arrive(Count now, Learner& learner, Cost& cost, Count& round, Asker& asker,
                                 const Pass& pass) {
    Count updates = 0;
    for (; !labels_.empty() && labels_.begin()->first <= now; labels_.erase(labels_.begin())) {
      const auto [id, row] = labels_.begin()->second;
      const std::optional<Kept> kept = asker.pending.find(id);
      if (!kept) continue;  // forgotten
      updates += learn_late(learner, cost, round, asker, *kept, pass.labels[row], pass.weight(row), pass.rho, row);
      asker.pending.forget(id);
    }
    return updates;
  }

 private:
  std::multimap<Count, std::pair<Count, Count>> labels_;
};

template <class Row, class Learner>
void progressive(const Rows& rows, Pass& pass, Learner& learner, Prepare& prepare, Cost& cost,
                 Count& round, Asker* asker, Scratch& read, Scratch& prepared) {
  Coming coming;
  const Ahead ahead(learner, prepare.offset());
  const Count fetched = pass.fetched(rows);
  for (Count i = 0; i < pass.size; ++i) {
    const Count at = pass.at(i);
    if (i + 2 < fetched) rows.fetch(pass.at(i + 2));
    if constexpr (std::same_as<Row, SparseRow>)
      if (i + 1 < pass.size) ahead.row(rows, pass.at(i + 1));
    const double weight = pass.weight(at);
    const Row raw = rows.row<Row>(at, read);
    if (weight == 0) {
      pass.leave_out(i);
    } else {
      const double y = pass.labels[at];
      const Row x = prepare.row(raw, rows.columns(), true, prepared);
      const double score = meet(learner, x);
      if (!std::isfinite(score)) refuse_score(at);
      if (pass.scores) pass.scores[i] = score;
      pass.tally.record(y, weight, score);
      std::int8_t asked = 1;
      bool late = false;
      const Count id = asker ? asker->budget.events : 0;
      if (asker) {
        const double rho = pass.rho ? *pass.rho : cost.rho();
        double probability;
        asker->decide(learner, &x, &score, 1, rho, weight, pass.days ? pass.days + at : nullptr, &probability, &asked);
        if (pass.probabilities) pass.probabilities[i] = probability;
        if (pass.asked) pass.asked[i] = asked;
        late = asked && pass.delays;
        if (late) {
          pass.forgotten += asker->pending.add(id, kept(learner, x, score, probability)) >= 0;
          if (const double delay = pass.delays[at]; std::isfinite(delay))
            coming.add(id + static_cast<Count>(delay), id, at);
        } else if (asked) {
          asker->estimates.add(y, weight, score, probability);
        }
      }
      pass.tally.queries += static_cast<Count>(asked);
      if (asked && !late) {
        const Target target{y, cost.next(y, weight, pass.rho), weight, ++round};
        pass.tally.updates += learner.learn(x, target, score);
      }
      if (asker && pass.delays) pass.tally.updates += coming.arrive(id, learner, cost, round, *asker, pass);
    }
    if (pass.every && ((i + 1) % pass.every == 0 || i + 1 == pass.size))
      pass.curve.push_back(pass.tally);
  }
}

// Events without labels: score, ask, and keep those whose labels are bought, as they come or `afterwards`.
template <class Row, class Learner>
void ask_all(const Rows& rows, const double* days, Learner& learner, Prepare& prepare, const Cost& cost, Asker& asker,
             const Answers& out, bool afterwards, Scratch& read, Scratch& prepared) {
  constexpr Count block = remembers<Learner> ? 1 : 16;
  const Count id = asker.budget.events;  // of the first
  Row met[block];
  std::vector<Scratch> more(2 * std::min(block - 1, rows.size()));
  const auto prepared_row = [&](Count i, Count at) {
    const Row raw = rows.row<Row>(i, at == 0 ? read : more[2 * at - 2]);
    return prepare.row(raw, rows.columns(), true, at == 0 ? prepared : more[2 * at - 1]);
  };
  const auto keep_asked = [&](Count first, Count n, auto row) {
    Count wanted[block], count = 0;  // first who, without branches: nobody can foresee it
    for (Count i = 0; i < n; ++i) {
      out.forgotten[first + i] = -1;
      wanted[count] = first + i;
      count += static_cast<Count>(out.asked[first + i]);
    }
    for (Count k = 0; k < count; ++k) {
      const Count i = wanted[k];
      out.forgotten[i] = asker.pending.add(id + i, kept(learner, row(i), out.scores[i], out.probabilities[i]));
    }
  };
  const auto blocks = [&](auto visit) {
    for (Count first = 0; first < rows.size(); first += block) visit(first, std::min(block, rows.size() - first));
  };
  blocks([&](Count first, Count n) {
    for (Count i = 0; i < n; ++i) {
      met[i] = prepared_row(first + i, i);
      const double score = meet(learner, met[i]);
      if (!std::isfinite(score)) refuse_score(first + i);
      out.scores[first + i] = score;
    }
    for (Count i = first, last = first + n; i < last;)
      i += asker.decide(learner, met + (i - first), out.scores + i, last - i, cost.rho(), 1, days ? days + i : nullptr,
                        out.probabilities + i, out.asked + i);
    if (!afterwards) keep_asked(first, n, [&](Count i) { return met[i - first]; });
  });
  if (afterwards)
    blocks([&](Count first, Count n) { keep_asked(first, n, [&](Count i) { return prepared_row(i, 0); }); });
}

// Scores without learning: what the model would say if the row came next.
template <class Row, class Learner>
void score_all(const Rows& rows, Count first, Count last, const Learner& learner, Prepare& prepare, Index known,
               double* out, Scratch& read, Scratch& prepared) {
  for (Count i = first; i < last; ++i) {
    const Row raw = rows.row<Row>(i, read);
    if constexpr (requires { learner.scales(); })
      out[i] = learner.scales() ? learner.score(raw, known)
                                : learner.score(prepare.row(raw, known, false, prepared), known + prepare.offset());
    else
      out[i] = learner.score(prepare.row(raw, known, false, prepared));
    if (!std::isfinite(out[i])) refuse_score(i);
  }
}

}  // namespace lopsided
