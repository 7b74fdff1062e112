#include "../ensemble/kernel_mixture.hpp"
#include "../kernel/koil.hpp"
#include "kind.hpp"

namespace lopsided {

std::span<const Kind> kernel_kinds() {
  static constexpr Kind kinds[] = {
      {"koil", make<KernelLearner<Koil>>},
      {"koil-mixture", make<KernelMixture<Koil>>},
  };
  return kinds;
}

}  // namespace lopsided
