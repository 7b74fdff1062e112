// One kind of learner by its name. The tables are files of their own so that they compile side by side.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "../simd.hpp"
#include "../stream/model.hpp"

namespace lopsided {

struct Kind {
  std::string_view name;
  std::unique_ptr<Model> (*make)();
};

LOPSIDED_COPIES(std::span<const Kind> first_order_kinds(); std::span<const Kind> second_order_kinds();
                std::span<const Kind> full_covariance_kinds(); std::span<const Kind> ensemble_kinds();
                std::span<const Kind> sketched_kinds(); std::span<const Kind> sparse_kinds();
                std::span<const Kind> auc_kinds();)

// Their time is spent in kernel/functions.cpp: one copy is enough.
namespace plain {
std::span<const Kind> kernel_kinds();
std::span<const Kind> kernel_baseline_kinds();
}  // namespace plain

}  // namespace lopsided
