#include "loops.hpp"

#include <cstring>

#include "zscore.hpp"

LOPSIDED_REGION_BEGIN
namespace lopsided::loops::LOPSIDED_ISA {

double squares(const double* x, Index n) { return fixed_order::products(n, x, x); }

bool increasing(const Index* indices, Index n) {
  int falls = 0;
  for (Index k = 1; k < n; ++k) falls += indices[k] <= indices[k - 1];
  return falls == 0;
}

void centre(const double* __restrict x, Index n, double share, double* __restrict mean, double* __restrict spread,
            bool keep, double* __restrict z) {
  for (Index j = 0; j < n; ++j) {
    double m = mean[j], s = spread[j];
    z[j] = standard::centre(x[j], m, s, share);
    mean[j] = keep ? m : mean[j];
    spread[j] = keep ? s : spread[j];
  }
}

void divide(const double* x, Index n, double share, double* __restrict spread, bool keep, double* z) {
#pragma GCC ivdep  // z may be x
  for (Index j = 0; j < n; ++j) {
    double s = spread[j];
    z[j] = standard::divide(x[j], s, share);
    spread[j] = keep ? s : spread[j];
  }
}

void widen(const std::int8_t* from, double* to, std::size_t n) {
  for (std::size_t k = 0; k < n; ++k) to[k] = from[k];
}
void widen(const float* from, double* to, std::size_t n) {
  for (std::size_t k = 0; k < n; ++k) to[k] = static_cast<double>(from[k]);
}

bool all_finite(const double* values, std::size_t n) {
  std::uint64_t bad = 0;
  for (std::size_t k = 0; k < n; ++k) {
    std::uint64_t bits;
    std::memcpy(&bits, values + k, 8);
    bad |= ((bits >> 52 & 0x7ff) + 1) & 0x800;
  }
  return bad == 0;
}

std::uint32_t falls(const Index* indices, std::size_t n) {
  std::uint32_t count = 0;
  for (std::size_t k = 1; k < n; ++k) count += indices[k] <= indices[k - 1];
  return count;
}

bool within(const Index* indices, std::size_t n, Index columns) {
  std::uint32_t bad = 0;
  for (std::size_t k = 0; k < n; ++k)
    bad |= static_cast<std::uint32_t>(indices[k]) >= static_cast<std::uint32_t>(columns);
  return bad == 0;
}

}  // namespace lopsided::loops::LOPSIDED_ISA
LOPSIDED_REGION_END
