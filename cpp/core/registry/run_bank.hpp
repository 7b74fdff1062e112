// A bank of a learner, for the tables of banks.
#pragma once

#include "../bank/bank.hpp"
#include "../simd.hpp"
#include "banks.hpp"

LOPSIDED_ISA_BEGIN

template <template <class> class Learner>
std::shared_ptr<Learned> run_bank(const Rows& rows, std::span<Banked> all) {
  auto banks = std::make_shared<Banks<Bank<Widest, Learner<Widest>>>>();
  if (!banks->load(rows, all)) return {};
  banks->learn(rows, all[0].pass);
  return banks;
}

LOPSIDED_ISA_END
