// What a score means for the decision: by its sign, by the price of a missed positive in false alarms, or by prices.
#pragma once

#include "../numbers/logistic.hpp"
#include "calibration.hpp"

namespace lopsided {

// What each answer costs, for one event or for all; a gain is a negative cost.
struct Prices {
  double miss = 0, alarm = 0;  // wrong answers
  double hit = 0, pass = 0;    // right answers

  // The log odds of the positive class from which on an alarm costs no more than none.
  double limit() const {
    constexpr double never = std::numeric_limits<double>::infinity();
    const double stake = miss - hit, fee = alarm - pass;
    if (!(stake > 0)) return never;
    if (!(fee > 0)) return -never;
    return logarithm(fee / stake);
  }
  double of(bool positive, bool alarmed) const { return positive ? (alarmed ? hit : miss) : alarmed ? alarm : pass; }
};

// Prices of events: one for each, one for all, or none.
struct PriceList {
  const Prices* first = nullptr;
  Count step = 1;

  explicit operator bool() const { return first != nullptr; }
  const Prices* at(Count i) const { return first ? first + i * step : nullptr; }
};

struct Decider {
  bool log_odds = false;  // scores are calibrated log odds already
  Calibration calibration;

  // An alarm is raised where this is at least 0. rho: see Cost.
  double margin(double score, double rho, const Prices* prices) {
    if (prices) return log_odds_of(score) - prices->limit();
    return log_odds ? score + logarithm(rho) : score;
  }
  double log_odds_of(double score) { return log_odds ? score : calibration.log_odds(score); }
  // Whether the sign of the score decides.
  bool by_sign(const PriceList& prices) const { return !prices && !log_odds; }

  void state(auto&& visit) {
    if (!log_odds) calibration.state(visit);
  }
};

}  // namespace lopsided
