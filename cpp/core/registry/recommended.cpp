#include "../ensemble/recommended.hpp"

#include "make.hpp"

LOPSIDED_ISA_BEGIN

std::span<const Kind> recommended_kinds() {
  static constexpr Kind kinds[] = {
      {"recommended", make<Recommended>},
  };
  return kinds;
}

LOPSIDED_ISA_END
