#include "../linear/acog.hpp"
#include "../linear/arow.hpp"
#include "../sparse/ssol.hpp"
#include "make.hpp"

LOPSIDED_ISA_BEGIN

std::span<const Kind> full_covariance_kinds() {
  static constexpr Kind kinds[] = {
      {"arow-full", make<Arow<FullCovariance>>},     {"arow-full-float32", make<Arow<NarrowCovariance>>},
      {"acog-full", make<Acog<FullCovariance>>},     {"acog-full-float32", make<Acog<NarrowCovariance>>},
      {"ssol-full", make<SsolFull<FullCovariance>>}, {"ssol-full-float32", make<SsolFull<NarrowCovariance>>},
  };
  return kinds;
}

LOPSIDED_ISA_END
