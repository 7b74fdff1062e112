#include "../linear/cog.hpp"
#include "../linear/passive_aggressive.hpp"
#include "../linear/paum.hpp"
#include "../linear/perceptron.hpp"
#include "run_bank.hpp"

LOPSIDED_ISA_BEGIN

template <class Real> using OfPerceptron = FirstOrder<Perceptron<Real>>;
template <class Real> using OfPassiveAggressive = FirstOrder<PassiveAggressive<Real>>;
template <class Real> using OfCostSensitive = FirstOrder<CostSensitivePassiveAggressive<Real>>;
template <class Real> using OfPaum = FirstOrder<Paum<Real>, true>;
template <class Real> using OfCog = FirstOrder<Cog<Real>>;
template <class Real> using OfArow = SecondOrder<Arow<DiagonalCovariance, Real>>;
template <class Real> using OfAcog = SecondOrder<Acog<DiagonalCovariance, Real>>;

std::span<const Banking> linear_banks() {
  static constexpr Banking all[] = {
      {"perceptron", run_bank<OfPerceptron>},
      {"passive-aggressive", run_bank<OfPassiveAggressive>},
      {"cost-sensitive-passive-aggressive", run_bank<OfCostSensitive>},
      {"paum", run_bank<OfPaum>},
      {"cog", run_bank<OfCog>},
      {"arow-diagonal", run_bank<OfArow>},
      {"acog-diagonal", run_bank<OfAcog>},
  };
  return all;
}

LOPSIDED_ISA_END
