#include "../linear/sacog.hpp"
#include "make.hpp"

LOPSIDED_ISA_BEGIN

std::span<const Kind> sketched_kinds() {
  static constexpr Kind kinds[] = {
      {"acog-dense-sketch", make<Sacog<DenseSketch>>},
      {"acog-sketch", make<Sacog<SparseSketch>>},
  };
  return kinds;
}

LOPSIDED_ISA_END
