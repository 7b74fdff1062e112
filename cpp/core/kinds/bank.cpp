#include "../bank.hpp"

#include "../bank/bank.hpp"
#include "../linear/cog.hpp"
#include "../linear/passive_aggressive.hpp"
#include "../linear/paum.hpp"
#include "../linear/perceptron.hpp"
#include "../sparse/ssol.hpp"

namespace lopsided {

namespace {

// Vectors of four need a compiler that inlines all of it into the function for AVX2.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define LOPSIDED_IF_FOUR if (__builtin_cpu_supports("avx2"))
#else
#define LOPSIDED_IF_FOUR if constexpr (false)
#endif

template <class Row, class Learner>
void learn(Bank<Two, Learner>& bank, const Rows& rows, const Pass& pass) {
  bank.template learn<Row>(rows, pass);
}
template <class Row, class Learner>
LOPSIDED_AVX2 void learn(Bank<Four, Learner>& bank, const Rows& rows, const Pass& pass) {
  bank.template learn<Row>(rows, pass);
}

template <class Real, class Learner>
std::shared_ptr<Learned> run(const Rows& rows, std::span<Banked> all) {
  using One = Bank<Real, Learner>;
  auto banks = std::make_shared<Banks<One>>();
  if (!banks->load(rows, all)) return {};
  banks->learn([&](One& bank) {
    if (bank.sparse()) learn<SparseRow>(bank, rows, all[0].pass);
    else learn<DenseRow>(bank, rows, all[0].pass);
  });
  return banks;
}

template <template <class> class Learner>
std::shared_ptr<Learned> run(const Rows& rows, std::span<Banked> all) {
  LOPSIDED_IF_FOUR return run<Four, Learner<Four>>(rows, all);
  else return run<Two, Learner<Two>>(rows, all);
}

template <class Real> using OfPerceptron = FirstOrder<Perceptron<Real>>;
template <class Real> using OfPassiveAggressive = FirstOrder<PassiveAggressive<Real>>;
template <class Real> using OfCostSensitive = FirstOrder<CostSensitivePassiveAggressive<Real>>;
template <class Real> using OfPaum = FirstOrder<Paum<Real>>;
template <class Real> using OfCog = FirstOrder<Cog<Real>>;
template <class Real> using OfArow = SecondOrder<Arow<DiagonalCovariance, Real>>;
template <class Real> using OfAcog = SecondOrder<Acog<DiagonalCovariance, Real>>;
template <class Real> using OfDualAveraging = Shrinking<DualAveraging<Real>>;
template <class Real> using OfAdaptiveRda = Shrinking<AdaptiveRda<Real>>;
template <class Real> using OfSsol = Shrinking<SsolDiagonal<Real>>;

struct Banking {
  std::string_view kind;
  std::shared_ptr<Learned> (*run)(const Rows&, std::span<Banked>);
};

constexpr Banking kinds[] = {
    {"perceptron", run<OfPerceptron>},
    {"passive-aggressive", run<OfPassiveAggressive>},
    {"cost-sensitive-passive-aggressive", run<OfCostSensitive>},
    {"paum", run<OfPaum>},
    {"cog", run<OfCog>},
    {"arow-diagonal", run<OfArow>},
    {"acog-diagonal", run<OfAcog>},
    {"dual-averaging", run<OfDualAveraging>},
    {"adaptive-rda", run<OfAdaptiveRda>},
    {"ssol-diagonal", run<OfSsol>},
};

const Banking* find(std::string_view kind) {
  const auto* found = std::ranges::find(kinds, kind, &Banking::kind);
  return found == std::end(kinds) ? nullptr : found;
}

}  // namespace

bool learns_together(std::string_view kind) { return find(kind) != nullptr; }

std::shared_ptr<Learned> learn_together(std::string_view kind, const Rows& rows, std::span<Banked> all) {
  const Banking* one = find(kind);
  return one ? one->run(rows, all) : nullptr;
}

}  // namespace lopsided
