#include "../numbers/random.hpp"
#include "query.hpp"

LOPSIDED_ISA_BEGIN

namespace {

[[gnu::always_inline]] inline void find_probabilities(Asker& asker, const double* scores, Count n,
                                                      const Confidence& confidence, double* out) {
  const QueryRule& rule = asker.rule;
  const double base = rule.explore, share = 1 - base, pos = rule.delta_pos, neg = rule.delta_neg;
  const auto each = [&](auto wanted) {
    for (Count i = 0; i < n; ++i) out[i] = base + share * wanted(i);
  };
  const auto unsure = [&](auto sure) {
    each([=](Count i) {
      const double delta = scores[i] >= 0 ? pos : neg;
      return delta / (delta + sure(i));
    });
  };
  if (rule.kind == QueryRule::Kind::always) return each([](Count) { return 1.0; });
  if (rule.kind == QueryRule::Kind::random) return each([c = rule.constant](Count) { return c; });
  if (rule.kind == QueryRule::Kind::uncertainty) {
    const Budget& budget = asker.budget;
    const double most = budget.in_all(), used = static_cast<double>(budget.used);  // and one more for each certain one
    return each([&, c = rule.constant](Count i) {
      return asker.uncertainty.wanted(out[i], c, used + static_cast<double>(i), most);
    });
  }
  if (rule.kind == QueryRule::Kind::margin) return unsure([=](Count i) { return std::abs(scores[i]); });
  unsure([=, most = confidence.most, gamma = confidence.gamma](Count i) {
    const double v = out[i];
    return std::max(0.0, std::abs(scores[i]) - most * v * gamma / (v + gamma));
  });
}

// Returns how many labels are bought.
[[gnu::always_inline]] inline Count draw(Asker& asker, Count n, double weight, const double* probabilities,
                                         std::int8_t* asked) {
  Count draws = asker.draws, bought = 0;
  const double seed = asker.seed;
  double open = asker.estimates.open;
  for (Count i = 0; i < n; ++i) {  // branchless: answers cannot be predicted
    const double drawn = uniform(seed, draws);
    const bool certain = probabilities[i] >= 1, wanted = certain | (drawn < probabilities[i]);
    draws += !certain;
    bought += wanted;
    asked[i] = wanted;
    open += weight;
  }
  asker.draws = draws;
  asker.estimates.open = open;
  return bought;
}

}  // namespace

void decide(Asker& asker, const double* scores, Count n, double weight, const Confidence& confidence,
            double* probabilities, std::int8_t* asked) {
  find_probabilities(asker, scores, n, confidence, probabilities);
  asker.budget.spend(draw(asker, n, weight, probabilities, asked));
}

LOPSIDED_ISA_END
