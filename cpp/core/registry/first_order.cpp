#include "../linear/cog.hpp"
#include "../linear/passive_aggressive.hpp"
#include "../linear/paum.hpp"
#include "../linear/perceptron.hpp"
#include "../linear/romma.hpp"
#include "make.hpp"

LOPSIDED_ISA_BEGIN

std::span<const Kind> first_order_kinds() {
  static constexpr Kind kinds[] = {
      {"perceptron", make<Perceptron<>>},
      {"romma", make<Romma>},
      {"passive-aggressive", make<PassiveAggressive<>>},
      {"cost-sensitive-passive-aggressive", make<CostSensitivePassiveAggressive<>>},
      {"paum", make<Paum<>>},
      {"cog", make<Cog<>>},
  };
  return kinds;
}

LOPSIDED_ISA_END
