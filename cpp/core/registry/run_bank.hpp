// A bank of a learner, for the tables of banks.
#pragma once

#include "../bank/bank.hpp"
#include "../bank/tile.hpp"
#include "../simd.hpp"
#include "banks.hpp"

LOPSIDED_ISA_BEGIN

template <template <class> class Learner>
std::shared_ptr<Learned> run_bank(const Rows& rows, std::span<Banked> all) {
  return learn_in_bank(rows, all, make_tile<Learner>);
}

LOPSIDED_ISA_END
