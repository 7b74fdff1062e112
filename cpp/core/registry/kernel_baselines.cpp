#include "../kernel/forgetron.hpp"
#include "../kernel/learner.hpp"
#include "../kernel/norma.hpp"
#include "../kernel/perceptron.hpp"
#include "../kernel/projectron.hpp"
#include "../kernel/rbp.hpp"
#include "make.hpp"

LOPSIDED_ISA_BEGIN

std::span<const Kind> kernel_baseline_kinds() {
  static constexpr Kind kinds[] = {
      {"kernel-perceptron", make<KernelLearner<KernelPerceptron>>},
      {"norma", make<KernelLearner<Norma>>},
      {"rbp", make<KernelLearner<Rbp>>},
      {"forgetron", make<KernelLearner<Forgetron>>},
      {"projectron", make<KernelLearner<Projectron>>},
  };
  return kinds;
}

LOPSIDED_ISA_END
