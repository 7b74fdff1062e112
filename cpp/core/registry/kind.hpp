// One kind of learner by its name. The tables are files of their own so that they compile side by side.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "../stream/model.hpp"

namespace lopsided {

struct Kind {
  std::string_view name;
  std::unique_ptr<Model> (*make)();
};

template <class Learner>
std::unique_ptr<Model> make() {
  return std::make_unique<ModelOf<Learner>>();
}

std::span<const Kind> first_order_kinds();
std::span<const Kind> second_order_kinds();
std::span<const Kind> sketched_kinds();
std::span<const Kind> sparse_kinds();
std::span<const Kind> auc_kinds();
std::span<const Kind> kernel_kinds();
std::span<const Kind> kernel_baseline_kinds();

}  // namespace lopsided
