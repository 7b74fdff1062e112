#include "../kernel/koil.hpp"
#include "../kernel/learner.hpp"
#include "kind.hpp"

namespace lopsided {

std::span<const Kind> kernel_kinds() {
  static constexpr Kind kinds[] = {
      {"koil", make<KernelLearner<Koil>>},
  };
  return kinds;
}

}  // namespace lopsided
