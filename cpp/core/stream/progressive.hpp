// THE loop: score, ask, learn, record. Without anybody to ask, every label is there for nothing.
#pragma once

#include <map>

#include "../numbers/prefetch.hpp"
#include "../simd.hpp"
#include "cost.hpp"
#include "forget.hpp"
#include "pass.hpp"
#include "query.hpp"
#include "scaling.hpp"

LOPSIDED_ISA_BEGIN

// How a row is kept until its label arrives: as it is, or as the learner says.
struct KeepRow {
  void operator()(const RowLike auto& x, Kept& out) const { out.take(x); }
};
template <Learner L>
auto keeping(L& learner) {
  if constexpr (L::hooks.keep) return [&](const RowLike auto&, Kept& out) { learner.keep(out); };
  else return KeepRow{};
}

// Keeps an event. Returns the one that had to be forgotten, or -1.
template <RowLike Row>
LOPSIDED_INLINE inline std::int64_t keep_event(Pending& pending, Count id, const Row& x, double score, bool alarmed,
                                               double probability, auto keep) {
  Kept out{probability, score, alarmed, false, x.square, x.scale, {}, {}};
  keep(x, out);
  return pending.add(id, out);
}
template <RowLike Row>
[[gnu::noinline]] std::int64_t keep_late(Pending& pending, Count id, const Row& x, double score, bool alarmed,
                                         double probability, auto keep) {
  return keep_event(pending, id, x, score, alarmed, probability, keep);
}

// A label has arrived for an event that had this score.
template <Learner L>
LOPSIDED_INLINE inline void calibrate(Decider& decider, double score, double y, double weight) {
  if constexpr (!L::hooks.log_odds) decider.calibration.record(score, y, weight);
}

// How much a label that was bought with some probability counts in the share of its class. The papers' learners count
// what they have bought; a threshold on log odds wants the share among all events.
template <Learner L>
LOPSIDED_INLINE inline double counted(double weight, double probability) {
  return L::hooks.log_odds ? std::min(weight / probability, Calibration::heaviest) : weight;
}

// What learning needs beside the learner and the row.
struct Teaching {
  Prepare& prepare;
  Decider& decider;
  Cost& cost;
  Count& round;
  const Forget& forget;
};

template <Learner L>
LOPSIDED_INLINE inline bool learn_one(L& learner, const RowLike auto& x, const Target& target, double score,
                                      const Teaching& by) {
  const bool stepped = learner.learn(x, target, score);
  if constexpr (L::hooks.fade)
    if (by.forget.due(target.round)) [[unlikely]] {
      learner.fade();
      by.prepare.fade();
      by.cost.fade();
    }
  return stepped;
}

// The label of a kept row has arrived: the current learner learns from the row as it was stored.
template <Learner L>
[[gnu::noinline]] bool learn_late(L& learner, const Teaching& by, Asker& asker, const Kept& kept, double y,
                                  double weight, const std::optional<double>& rho, Count row) {
  return hook::recall(learner, kept, [&](const auto& x, double score) {
    if (!std::isfinite(score)) refuse_score(row);
    asker.told(y, weight, kept.alarmed, kept.probability);
    calibrate<L>(by.decider, kept.score, y, weight / kept.probability);
    const double cost = by.cost.next(y, counted<L>(weight, kept.probability), rho);
    return learn_one(learner, x, {y, cost, weight, ++by.round}, score, by);
  });
}

// Events that are decided about together.
inline constexpr Count most_asked = 16;

// Decides about the next of n events: all whose labels can surely be bought in this period, or one whose label cannot,
// with probability 0. Returns how many.
template <Learner L, RowLike Row>
Count decide(Asker& asker, L& learner, Decider& decider, const Row* x, const double* scores, Count n, double rho,
             double weight, const double* days, double* probabilities, std::int8_t* asked) {
  const double day = days ? days[0] : 0;
  Confidence confidence;
  if (asker.rule.kind != QueryRule::Kind::confidence) {
    n = asker.budget.arrive(n, day);
    if (asker.rule.kind == QueryRule::Kind::uncertainty)
      for (Count i = 0; i < n; ++i) probabilities[i] = decider.log_odds_of(scores[i]);
  } else if constexpr (L::hooks.variances) {
    Budget after = asker.budget;
    if ((n = after.arrive(n, day)) > 0) learner.variances(x, n, probabilities);  // which may run out of memory
    confidence = {0.5 * learner.learning_rate * std::max(1.0, rho), learner.regularization};
    asker.budget = after;
  } else {
    throw std::invalid_argument("this learner has no covariance for query='confidence'");
  }
  if (n == 0) {
    probabilities[0] = 0, asked[0] = 0;
    return 1;
  }
  asker.decide(scores, n, weight, confidence, probabilities, asked);
  return n;
}

// Labels under way, by the event after which they come.
class Coming {
 public:
  void add(const Late& one) {
    labels_.insert({static_cast<Count>(one.after), {static_cast<Count>(one.id), one.y, one.weight, 0}});
  }
  [[gnu::noinline]] void add(Count after, Count id, const Pass& pass, Count row) {
    labels_.insert({after, {id, double(pass.labels[row]), pass.weight(row), row}});
  }

  // Learns from those that have come by event `now`. Returns how many steps were taken.
  template <Learner L>
  [[gnu::noinline]] Count arrive(Count now, L& learner, const Teaching& by, Asker& asker, const Pass& pass) {
    Count updates = 0;
    for (; !labels_.empty() && labels_.begin()->first <= now; labels_.erase(labels_.begin())) {
      const auto& [id, y, weight, row] = labels_.begin()->second;
      const std::optional<Kept> kept = asker.pending.find(id);
      if (!kept) continue;  // forgotten
      updates += learn_late(learner, by, asker, *kept, y, weight, pass.rho, row);
      asker.pending.forget(id);
    }
    return updates;
  }

 private:
  struct Label {
    Count id;
    double y, weight;
    Count row;  // to blame
  };
  std::multimap<Count, Label> labels_;
};

// Labels of events that were met in earlier passes; some have come already.
template <Learner L>
[[gnu::noinline]] void expect_earlier(Coming& coming, L& learner, const Teaching& by, Asker* asker, Pass& pass) {
  for (const Late& one : pass.earlier) coming.add(one);
  if (asker) pass.tally.updates += coming.arrive(asker->budget.events - 1, learner, by, *asker, pass);
}

// Decides about event i of a pass, and keeps account.
[[gnu::noinline]] inline bool decide_by_price(const Teaching& by, Pass& pass, Count i, Count at, double weight,
                                              double score) {
  const Prices* const prices = pass.prices.at(at);
  const double rho = pass.rho.value_or(by.cost.rho()), day = pass.days ? pass.days[at] : 0;
  const bool alarmed = by.decider.decide(score, by.cost, rho, prices, day);
  if (pass.alarms) pass.alarms[i] = alarmed;
  if (prices) pass.tally.money += weight * prices->of(pass.labels[at] > 0, alarmed);
  return alarmed;
}

template <class Row, Learner L>
LOPSIDED_HOT void progressive(const Rows& rows, Pass& pass, L& learner, const Teaching& by, Asker* asker, Scratch& read,
                              Scratch& prepared) {
  Prepare& prepare = by.prepare;
  Decider& decider = by.decider;
  Cost& cost = by.cost;
  Count& round = by.round;
  Coming coming;
  if (!pass.earlier.empty()) expect_earlier(coming, learner, by, asker, pass);
  const bool by_sign = pass.free || decider.by_sign(pass.prices);
  const Prefetch prefetch(learner, prepare.offset());
  const Count fetched = pass.fetched(rows);
  for (Count i = 0; i < pass.size; ++i) {
    const Count at = pass.at(i);
    if (i + 2 < fetched) rows.fetch(pass.at(i + 2));
    if constexpr (std::same_as<Row, SparseRow>)
      if (i + 1 < pass.size) prefetch.row(rows, pass.at(i + 1));
    const double weight = pass.weight(at);
    const Row raw = rows.row<Row>(at, read);
    if (weight == 0) {
      pass.leave_out(i);
    } else {
      const double y = pass.labels[at];
      const Row x = prepare.row(raw, rows.columns(), !pass.free, prepared);  // met once, counted once
      const double score = hook::observe(learner, x, pass.free);
      if (!std::isfinite(score)) refuse_score(at);
      if (pass.scores) pass.scores[i] = score;
      if (pass.chances) pass.chances[i] = decider.chance(score);
      bool alarmed = score >= 0;
      if (!by_sign) alarmed = decide_by_price(by, pass, i, at, weight, score);
      pass.tally.record(y, weight, alarmed);
      std::int8_t asked = 1;
      double count = weight;
      bool late = false;
      const Count id = asker ? asker->budget.events : 0;
      if (asker) {
        const double rho = pass.rho ? *pass.rho : cost.rho();
        double probability;
        decide(*asker, learner, decider, &x, &score, 1, rho, weight, pass.days ? pass.days + at : nullptr, &probability,
               &asked);
        if (pass.probabilities) pass.probabilities[i] = probability;
        if (pass.asked) pass.asked[i] = asked;
        late = asked && pass.delays;
        if (late) {
          const double delay = pass.delays[at];
          if (!std::isnan(delay))
            pass.forgotten += keep_late(asker->pending, id, x, score, alarmed, probability, keeping(learner)) >= 0;
          if (std::isfinite(delay)) coming.add(id + static_cast<Count>(delay), id, pass, at);
        } else if (asked) {
          asker->told(y, weight, alarmed, probability);
          calibrate<L>(decider, score, y, weight / probability);
          count = counted<L>(weight, probability);
        }
      } else if (!pass.free) {
        calibrate<L>(decider, score, y, weight);
      } else if (pass.sampled > 0) {  // who names a label for another reason says nothing about shares
        calibrate<L>(decider, score, y, weight / pass.sampled);
        count = counted<L>(weight, pass.sampled);
      }
      pass.tally.queries += static_cast<Count>(asked);
      if (asked && !late) {
        const Target target{y, cost.next(y, count, pass.rho), weight, ++round};
        pass.tally.updates += learn_one(learner, x, target, score, by);
      }
      if (asker && pass.delays) pass.tally.updates += coming.arrive(id, learner, by, *asker, pass);
    }
    if (pass.every && ((i + 1) % pass.every == 0 || i + 1 == pass.size)) pass.mark();
  }
}

// Keeps those of n events whose labels are bought; their rows are `x`, or are read once more where that is null.
template <class Row>
[[gnu::noinline]] void keep_asked(const Rows& rows, Count first, Count n, const Row* x, Prepare& prepare, Asker& asker,
                                  Count id, const Answers& out, Scratch& read, Scratch& prepared, auto keep) {
  Count wanted[most_asked], count = 0;  // first which ones, branchless: answers cannot be predicted
  for (Count i = 0; i < n; ++i) {
    out.forgotten[first + i] = -1;
    wanted[count] = i;
    count += static_cast<Count>(out.asked[first + i]);
  }
  for (Count k = 0; k < count; ++k) {
    const Count i = first + wanted[k];
    const auto again = [&] { return prepare.row(rows.row<Row>(i, read), rows.columns(), true, prepared); };
    out.forgotten[i] = keep_event(asker.pending, id + i, x ? x[wanted[k]] : again(), out.scores[i], out.alarms[i] != 0,
                                  out.probabilities[i], keep);
  }
}

// Events without labels: score, ask, and keep those whose labels are bought, as they come or `afterwards`.
template <class Row, Learner L>
void ask_all(const Rows& rows, const AskedAbout& given, L& learner, Prepare& prepare, Decider& decider,
             const Cost& cost, Asker& asker, const Answers& out, bool afterwards, Scratch& read, Scratch& prepared) {
  constexpr Count block = remembers<L> ? 1 : most_asked;
  const Count id = asker.budget.events;  // of the first
  const bool by_sign = decider.by_sign(given.prices);
  const auto keep = [&](Count first, Count n, const Row* x) {
    keep_asked<Row>(rows, first, n, x, prepare, asker, id, out, read, prepared, keeping(learner));
  };
  Row x[block];
  std::vector<Scratch> more(2 * std::min(block - 1, rows.size()));
  for (Count first = 0; first < rows.size(); first += block) {
    const Count n = std::min(block, rows.size() - first), last = first + n;
    for (Count i = 0; i < n; ++i) {
      const Row raw = rows.row<Row>(first + i, i == 0 ? read : more[2 * i - 2]);
      x[i] = prepare.row(raw, rows.columns(), true, i == 0 ? prepared : more[2 * i - 1]);
      const double score = hook::observe(learner, x[i]);
      if (!std::isfinite(score)) refuse_score(first + i);
      out.scores[first + i] = score;
      const double day = given.days ? given.days[first + i] : 0;
      out.alarms[first + i] =
          by_sign ? score >= 0 : decider.decide(score, cost, cost.rho(), given.prices.at(first + i), day);
    }
    for (Count i = first; i < last;)
      i += decide(asker, learner, decider, x + (i - first), out.scores + i, last - i, cost.rho(), 1,
                  given.days ? given.days + i : nullptr, out.probabilities + i, out.asked + i);
    if (!afterwards) keep(first, n, x);
  }
  if (!afterwards) return;
  for (Count first = 0; first < rows.size(); first += block) keep(first, std::min(block, rows.size() - first), nullptr);
}

// Scores without learning: what the model would say if the row came next.
template <class Row, Learner L>
void score_all(const Rows& rows, Count first, Count last, const L& learner, Prepare& prepare, Index known, double* out,
               Scratch& read, Scratch& prepared) {
  for (Count i = first; i < last; ++i) {
    const Row raw = rows.row<Row>(i, read);
    out[i] = hook::score(learner, raw, known, prepare.offset(),
                         [&](const Row& row) { return prepare.row(row, known, false, prepared); });
    if (!std::isfinite(out[i])) refuse_score(i);
  }
}

LOPSIDED_ISA_END
