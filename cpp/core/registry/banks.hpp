// The learners that can learn in banks: each file of them has a table.
#pragma once

#include "../bank/bank.hpp"

namespace lopsided {

struct Banking {
  std::string_view kind;
  std::shared_ptr<Learned> (*run)(const Rows&, std::span<Banked>);
};
std::span<const Banking> linear_banks();
std::span<const Banking> sparse_banks();

// Vectors of four need a compiler that inlines all of it into the function for AVX2.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define LOPSIDED_IF_FOUR if (__builtin_cpu_supports("avx2"))
#else
#define LOPSIDED_IF_FOUR if constexpr (false)
#endif

template <class Real, class Learner>
std::shared_ptr<Learned> run_bank(const Rows& rows, std::span<Banked> all) {
  auto banks = std::make_shared<Banks<Bank<Real, Learner>>>();
  if (!banks->load(rows, all)) return {};
  banks->learn(rows, all[0].pass);
  return banks;
}
template <template <class> class Learner>
std::shared_ptr<Learned> run_bank(const Rows& rows, std::span<Banked> all) {
  LOPSIDED_IF_FOUR return run_bank<Four, Learner<Four>>(rows, all);
  else return run_bank<Two, Learner<Two>>(rows, all);
}

}  // namespace lopsided
