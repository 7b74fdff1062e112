// The model of a learner, for the tables of kinds.
#pragma once

#include "../simd.hpp"
#include "../stream/model_of.hpp"
#include "kind.hpp"

LOPSIDED_ISA_BEGIN

template <class Learner>
std::unique_ptr<Model> make() {
  return std::make_unique<ModelOf<Learner>>();
}

LOPSIDED_ISA_END
