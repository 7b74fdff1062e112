// The learners that can learn in banks: each file of them has a table.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "../bank/learned.hpp"
#include "../simd.hpp"

namespace lopsided {

struct Banking {
  std::string_view kind;
  std::shared_ptr<Learned> (*run)(const Rows&, std::span<Banked>);
};

// In one copy: a processor without AVX2, where there is a copy for it, has its models learn one by one.
#ifdef LOPSIDED_HAS_AVX2
namespace avx2 {
#else
namespace plain {
#endif
std::span<const Banking> linear_banks();
std::span<const Banking> sparse_banks();
}

}  // namespace lopsided
