#include "../auc/oam.hpp"
#include "../auc/opauc.hpp"
#include "kind.hpp"

namespace lopsided {

std::span<const Kind> auc_kinds() {
  static constexpr Kind kinds[] = {
      {"oam", make<Oam>},
      {"opauc", make<Opauc>},
  };
  return kinds;
}

}  // namespace lopsided
