#include "registry.hpp"

#include <algorithm>
#include <vector>

namespace lopsided {

std::span<const Kind> kinds() {
  static const std::vector<Kind> all = [] {
    std::vector<Kind> out;
    for (const auto family : {LOPSIDED_BEST(first_order_kinds()), LOPSIDED_BEST(second_order_kinds()),
                              LOPSIDED_BEST(full_covariance_kinds()), LOPSIDED_BEST(ensemble_kinds()),
                              LOPSIDED_BEST(sketched_kinds()), LOPSIDED_BEST(sparse_kinds()),
                              LOPSIDED_BEST(auc_kinds()), plain::kernel_kinds(), plain::kernel_baseline_kinds()})
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
