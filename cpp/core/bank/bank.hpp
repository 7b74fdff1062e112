// Models that learn in one pass, each on its tile (tile.hpp).
#pragma once

#include "any_tile.hpp"

LOPSIDED_ISA_BEGIN

// Null, with nothing changed, if these models cannot learn together.
std::shared_ptr<Learned> learn_in_bank(const Rows& rows, std::span<Banked> all, MakeTile make);

LOPSIDED_ISA_END
