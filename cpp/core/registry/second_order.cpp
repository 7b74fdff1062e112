#include "../linear/acog.hpp"
#include "../linear/arow.hpp"
#include "make.hpp"

LOPSIDED_ISA_BEGIN

std::span<const Kind> second_order_kinds() {
  static constexpr Kind kinds[] = {
      {"arow-diagonal", make<Arow<DiagonalCovariance>>},
      {"acog-diagonal", make<Acog<DiagonalCovariance>>},
  };
  return kinds;
}

LOPSIDED_ISA_END
