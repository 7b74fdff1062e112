#include "learners.hpp"

#include "linear/acog.hpp"
#include "linear/arow.hpp"
#include "linear/cog.hpp"
#include "linear/passive_aggressive.hpp"
#include "linear/paum.hpp"
#include "linear/perceptron.hpp"
#include "linear/romma.hpp"
#include "linear/sacog.hpp"
#include "recommended.hpp"
#include "sparse/dual.hpp"
#include "sparse/ssol.hpp"
#include "sparse/truncated.hpp"

namespace lopsided {

namespace {

template <class Learner>
std::unique_ptr<Model> make() {
  return std::make_unique<ModelOf<Learner>>();
}

struct Kind {
  std::string_view name;
  std::unique_ptr<Model> (*make)();
};

constexpr Kind kinds[] = {
    {"perceptron", make<Perceptron>},
    {"romma", make<Romma>},
    {"passive-aggressive", make<PassiveAggressive>},
    {"cost-sensitive-passive-aggressive", make<CostSensitivePassiveAggressive>},
    {"paum", make<Paum>},
    {"cog", make<Cog>},
    {"arow-diagonal", make<Arow<DiagonalCovariance>>},
    {"arow-full", make<Arow<FullCovariance>>},
    {"acog-diagonal", make<Acog<DiagonalCovariance>>},
    {"acog-full", make<Acog<FullCovariance>>},
    {"acog-dense-sketch", make<Sacog<DenseSketch>>},
    {"acog-sketch", make<Sacog<SparseSketch>>},
    {"recommended", make<Recommended>},
    {"truncated-gradient", make<SparseLearner<TruncatedGradient>>},
    {"adaptive-fobos", make<SparseLearner<AdaptiveFobos>>},
    {"dual-averaging", make<SparseLearner<DualAveraging>>},
    {"adaptive-rda", make<SparseLearner<AdaptiveRda>>},
    {"ssol-diagonal", make<SparseLearner<SsolDiagonal>>},
    {"ssol-full", make<SsolFull>},
};

}  // namespace

std::unique_ptr<Model> make_model(std::string_view name) {
  for (const Kind& kind : kinds)
    if (kind.name == name) return kind.make();
  return nullptr;
}

}  // namespace lopsided
