#include "../ensemble/additive_logistic.hpp"
#include "../ensemble/weighted_majority.hpp"
#include "make.hpp"

LOPSIDED_ISA_BEGIN

std::span<const Kind> ensemble_kinds() {
  static constexpr Kind kinds[] = {
      {"additive-logistic", make<AdditiveLogistic>},
      {"weighted-majority", make<WeightedMajority>},
  };
  return kinds;
}

LOPSIDED_ISA_END
