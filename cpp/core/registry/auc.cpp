#include "../auc/oam.hpp"
#include "../auc/opauc.hpp"
#include "../auc/opauc_low_rank.hpp"
#include "make.hpp"

LOPSIDED_ISA_BEGIN

std::span<const Kind> auc_kinds() {
  static constexpr Kind kinds[] = {
      {"oam", make<Oam>},
      {"opauc", make<Opauc>},
      {"opauc-low-rank", make<OpaucLowRank>},
  };
  return kinds;
}

LOPSIDED_ISA_END
