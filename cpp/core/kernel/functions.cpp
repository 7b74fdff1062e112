#include "functions.hpp"

#include <bit>

#include "../clones.hpp"
#include "../row.hpp"

namespace lopsided::kernel {

namespace {

// Written as vectors, since the compiler keeps arrays of sums in memory.
using Four = double __attribute__((vector_size(32)));
[[gnu::always_inline]] inline Four load(const double* p) {
  Four out;
  __builtin_memcpy(&out, p, sizeof out);
  return out;
}
[[gnu::always_inline]] inline void store(double* p, Four v) { __builtin_memcpy(p, &v, sizeof v); }
[[gnu::always_inline]] inline Four overlap(Four x, Four z) {
  const Four low = x < z ? x : z, high = x < z ? z : x, none{};
  return (low > none ? low : none) - (high < none ? high : none);
}

}  // namespace

LOPSIDED_CLONES void dots(const double* tile, const double* x, std::size_t n, double* out) {
  Four a{}, b{}, c{}, d{};
  for (std::size_t j = 0; j < n; ++j, tile += lanes) {
    const Four v = Four{} + x[j];
    a += v * load(tile);
    b += v * load(tile + 4);
    c += v * load(tile + 8);
    d += v * load(tile + 12);
  }
  store(out, a), store(out + 4, b), store(out + 8, c), store(out + 12, d);
}

LOPSIDED_CLONES void overlaps(const double* tile, const double* x, std::size_t n, double* out) {
  Four a{}, b{}, c{}, d{};
  for (std::size_t j = 0; j < n; ++j, tile += lanes) {
    const Four v = Four{} + x[j];
    a += overlap(v, load(tile));
    b += overlap(v, load(tile + 4));
    c += overlap(v, load(tile + 8));
    d += overlap(v, load(tile + 12));
  }
  store(out, a), store(out + 4, b), store(out + 8, c), store(out + 12, d);
}

// x = k ln 2 + r, |r| <= ln 2 / 2; e^r by its series up to r^13 / 13!.
LOPSIDED_CLONES void exponentials(double* __restrict x, std::size_t n) {
  constexpr double magic = 0x1.8p52;  // adding it rounds to a whole number, which is then in the low bits
  for (std::size_t i = 0; i < n; ++i) {
    const double v = x[i] < -708 ? -708 : x[i];
    const double shifted = v * 0x1.71547652b82fep0 + magic, k = shifted - magic;
    const double r = (v - k * 0x1.62e42fefa3800p-1) - k * 0x1.ef35793c76730p-45;
    double p = 1.0 / 6227020800;
    p = p * r + 1.0 / 479001600;
    p = p * r + 1.0 / 39916800;
    p = p * r + 1.0 / 3628800;
    p = p * r + 1.0 / 362880;
    p = p * r + 1.0 / 40320;
    p = p * r + 1.0 / 5040;
    p = p * r + 1.0 / 720;
    p = p * r + 1.0 / 120;
    p = p * r + 1.0 / 24;
    p = p * r + 1.0 / 6;
    p = p * r + 0.5;
    p = p * r * r + r + 1;
    const auto power = std::bit_cast<std::uint64_t>(shifted) << 52;
    const double e = std::bit_cast<double>(std::bit_cast<std::uint64_t>(p) + power);
    x[i] = x[i] < -708 ? 0 : e;
  }
}

namespace {

LOPSIDED_CLONES void exponents(double self, const double* __restrict selves, double gamma, std::size_t n,
                               double* __restrict inner) {
  for (std::size_t i = 0; i < n; ++i) {
    const double distance = (self + selves[i]) - 2 * inner[i];
    inner[i] = -gamma * (distance > 0 ? distance : 0);
  }
}

LOPSIDED_CLONES void powers(double gamma, double coef0, unsigned degree, std::size_t n, double* inner) {
  for (std::size_t i = 0; i < n; ++i) {
    double base = gamma * inner[i] + coef0, out = 1;
    for (unsigned left = degree; left; left >>= 1, base *= base)
      if (left & 1) out *= base;
    inner[i] = out;
  }
}

}  // namespace

void Function::apply(double self, const double* selves, std::size_t n, double* inner) const {
  if (radial()) {
    exponents(self, selves, gamma, n, inner);
    exponentials(inner, n);
  } else if (form == Form::polynomial) {
    powers(gamma, coef0, static_cast<unsigned>(degree), n, inner);
  }
}

LOPSIDED_CLONES double weighted(const double* a, const double* b, std::size_t n) {
  return lopsided::lanes::sum(static_cast<Index>(n), [=](Index i) { return a[i] * b[i]; });
}

LOPSIDED_CLONES void combine(double* out, std::size_t n, const double* const* rows, const double* factors,
                             std::size_t count) {
  for (std::size_t i = 0; i < n; i += lanes) {
    Four a = load(out + i), b = load(out + i + 4), c = load(out + i + 8), d = load(out + i + 12);
    for (std::size_t k = 0; k < count; ++k) {
      const double* row = rows[k] + i;
      const double f = factors[k];
      a += f * load(row);
      b += f * load(row + 4);
      c += f * load(row + 8);
      d += f * load(row + 12);
    }
    store(out + i, a), store(out + i + 4, b), store(out + i + 8, c), store(out + i + 12, d);
  }
}

LOPSIDED_CLONES std::size_t at_least(const double* values, std::size_t n, double least) {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < n; ++i) count += values[i] >= least ? 1 : 0;
  return count;
}

}  // namespace lopsided::kernel
