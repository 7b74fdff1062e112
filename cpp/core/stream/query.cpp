#include "query.hpp"

namespace lopsided {

double Decider::chance(double score) { return sigmoid(log_odds_of(score)); }

bool Decider::decide(double score, const Cost& cost, double rho, const Prices* prices, double day) {
  const double above = margin(score, cost, rho, prices);
  if (!capacity.on()) return above >= 0;
  return capacity.allows(above >= 0, prices ? prices->gain(sigmoid(weighed(score, cost))) : above, day);
}

Count Budget::arrive(Count n, double day) {
  observe(day);
  const double open = left();
  if (open < 1) return 0;
  if (periodic()) n = 1;  // the next event may begin another
  if (open < static_cast<double>(n)) n = static_cast<Count>(open);
  events += n - 1;
  return n;
}

}  // namespace lopsided
