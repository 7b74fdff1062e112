#include "../bank/learned.hpp"

#include "banks.hpp"

namespace lopsided {

namespace {

const Banking* find(std::string_view kind) {
#ifdef LOPSIDED_HAS_AVX2
  if (!simd::has_avx2) return nullptr;
  using namespace avx2;
#endif
  for (const auto all : {linear_banks(), sparse_banks()})
    if (const auto found = std::ranges::find(all, kind, &Banking::kind); found != all.end()) return &*found;
  return nullptr;
}

}  // namespace

bool learns_together(std::string_view kind) { return find(kind) != nullptr; }

std::shared_ptr<Learned> learn_together(std::string_view kind, const Rows& rows, std::span<Banked> all) {
  const Banking* one = find(kind);
  return one ? one->run(rows, all) : nullptr;
}

}  // namespace lopsided
