#include "../linear/sacog.hpp"
#include "kind.hpp"

namespace lopsided {

std::span<const Kind> sketched_kinds() {
  static constexpr Kind kinds[] = {
      {"acog-dense-sketch", make<Sacog<DenseSketch>>},
      {"acog-sketch", make<Sacog<SparseSketch>>},
  };
  return kinds;
}

}  // namespace lopsided
