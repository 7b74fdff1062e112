#include "registry.hpp"

#include "kind.hpp"

namespace lopsided {

std::unique_ptr<Model> make_model(std::string_view name) {
  for (const auto kinds :
       {first_order_kinds(), second_order_kinds(), sketched_kinds(), sparse_kinds(),
        auc_kinds(), kernel_kinds(), kernel_baseline_kinds()})
    for (const Kind& kind : kinds)
      if (kind.name == name) return kind.make();
  return nullptr;
}

}  // namespace lopsided
