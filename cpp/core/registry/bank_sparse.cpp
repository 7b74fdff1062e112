#include "../sparse/ssol.hpp"
#include "run_bank.hpp"

LOPSIDED_ISA_BEGIN

template <class Real> using OfDualAveraging = Shrinking<DualAveraging<Real>>;
template <class Real> using OfAdaptiveRda = Shrinking<AdaptiveRda<Real>>;
template <class Real> using OfSsol = Shrinking<SsolDiagonal<Real>>;

std::span<const Banking> sparse_banks() {
  static constexpr Banking all[] = {
      {"dual-averaging", run_bank<OfDualAveraging>},
      {"adaptive-rda", run_bank<OfAdaptiveRda>},
      {"ssol-diagonal", run_bank<OfSsol>},
  };
  return all;
}

LOPSIDED_ISA_END
