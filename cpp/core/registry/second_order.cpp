#include "../linear/acog.hpp"
#include "../linear/arow.hpp"
#include "make.hpp"

LOPSIDED_ISA_BEGIN

std::span<const Kind> second_order_kinds() {
  static constexpr Kind kinds[] = {
      {"arow-diagonal", make<Arow<DiagonalCovariance>>},   {"arow-full", make<Arow<FullCovariance>>},
      {"arow-full-float32", make<Arow<NarrowCovariance>>}, {"acog-diagonal", make<Acog<DiagonalCovariance>>},
      {"acog-full", make<Acog<FullCovariance>>},           {"acog-full-float32", make<Acog<NarrowCovariance>>},
  };
  return kinds;
}

LOPSIDED_ISA_END
