#include "../ensemble/kernel_mixture.hpp"
#include "../kernel/koil.hpp"
#include "make.hpp"

LOPSIDED_ISA_BEGIN

std::span<const Kind> kernel_kinds() {
  static constexpr Kind kinds[] = {
      {"koil", make<KernelLearner<Koil>>},
      {"koil-mixture", make<KernelMixture<Koil>>},
  };
  return kinds;
}

LOPSIDED_ISA_END
