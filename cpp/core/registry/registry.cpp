#include "registry.hpp"

#include <algorithm>
#include <vector>

namespace lopsided {

std::span<const Kind> kinds() {
  static const std::vector<Kind> all = [] {
    std::vector<Kind> out;
    for (const auto family : {first_order_kinds(), second_order_kinds(), sketched_kinds(), sparse_kinds(), auc_kinds(),
                              kernel_kinds(), kernel_baseline_kinds()})
      out.insert(out.end(), family.begin(), family.end());
    return out;
  }();
  return all;
}

std::unique_ptr<Model> make_model(std::string_view name) {
  const auto found = std::ranges::find(kinds(), name, &Kind::name);
  return found == kinds().end() ? nullptr : found->make();
}

}  // namespace lopsided
