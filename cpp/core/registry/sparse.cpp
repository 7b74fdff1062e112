#include "../sparse/dual.hpp"
#include "../sparse/ssol.hpp"
#include "../sparse/truncated.hpp"
#include "make.hpp"

LOPSIDED_ISA_BEGIN

std::span<const Kind> sparse_kinds() {
  static constexpr Kind kinds[] = {
      {"truncated-gradient", make<SparseLearner<TruncatedGradient>>},
      {"adaptive-fobos", make<SparseLearner<AdaptiveFobos>>},
      {"dual-averaging", make<SparseLearner<DualAveraging<>>>},
      {"adaptive-rda", make<SparseLearner<AdaptiveRda<>>>},
      {"ssol-diagonal", make<SparseLearner<SsolDiagonal<>>>},
  };
  return kinds;
}

LOPSIDED_ISA_END
