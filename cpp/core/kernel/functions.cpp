#include "functions.hpp"

#include <bit>

#include "../numbers/row.hpp"
#include "../numbers/vectors.hpp"

LOPSIDED_REGION_BEGIN
namespace lopsided::kernel::LOPSIDED_ISA {

namespace {

[[gnu::always_inline]] inline Double4 overlap(Double4 x, Double4 z) {
  const Double4 low = x < z ? x : z, high = x < z ? z : x, none{};
  return (low > none ? low : none) - (high < none ? high : none);
}

// Sums of a term over the features, in vectors (the compiler would keep an array of sums in memory), for `parts` vectors of four rows of a tile.
template <int parts, class Term>
[[gnu::always_inline]] inline void inner(const double* tile, const double* x, std::size_t n, double* out, Term term) {
  Double4 sum[parts] = {};
  for (std::size_t j = 0; j < n; ++j, tile += tile_rows) {
    for (int p = 0; p < parts; ++p) sum[p] += term(x[j] - Double4{}, load4(tile + 4 * p));
  }
  for (int p = 0; p < parts; ++p) store4(out + 4 * p, sum[p]);
}
template <class Term>
[[gnu::always_inline]] inline void inner(const Aligned* tiles, std::size_t slots, const double* x, std::size_t features,
                                         double* out, Term term) {
  for (std::size_t s = 0; s < slots; s += tile_rows, ++tiles) {
    const std::size_t n = std::min(tiles->size() / tile_rows, features), rows = slots - s;
    const double* tile = tiles->data();
    if (rows > 12) inner<4>(tile, x, n, out + s, term);
    else if (rows > 8) inner<3>(tile, x, n, out + s, term);
    else if (rows > 4) inner<2>(tile, x, n, out + s, term);
    else inner<1>(tile, x, n, out + s, term);
  }
}

}  // namespace

void dots(const Aligned* tiles, std::size_t slots, const double* x, std::size_t n, double* out) {
  inner(tiles, slots, x, n, out, [](Double4 a, Double4 b) __attribute__((always_inline)) { return a * b; });
}
void overlaps(const Aligned* tiles, std::size_t slots, const double* x, std::size_t n, double* out) {
  inner(tiles, slots, x, n, out, [](Double4 a, Double4 b) __attribute__((always_inline)) { return overlap(a, b); });
}

namespace {

// x = k ln 2 + r, |r| <= ln 2 / 2; e^r by its series up to r^11 / 11!.
[[gnu::always_inline]] inline double exponential(double x) {
  constexpr double magic = 0x1.8p52;  // adding it rounds to an integer, which is then in the low bits
  const double v = x < -708 ? -708 : x;
  const double shifted = v * 0x1.71547652b82fep0 + magic, k = shifted - magic;
  const double r = (v - k * 0x1.62e42fefa3800p-1) - k * 0x1.ef35793c76730p-45;
  double p = 1.0 / 39916800;
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
  return x < -708 ? 0 : e;
}

}  // namespace

void exponentials(double* __restrict x, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) x[i] = exponential(x[i]);
}

namespace {

void radials(double self, const double* __restrict selves, double gamma, std::size_t n, double* __restrict inner) {
  for (std::size_t i = 0; i < n; ++i) {
    const double distance = (self + selves[i]) - 2 * inner[i];
    inner[i] = exponential(-gamma * (distance > 0 ? distance : 0));
  }
}

void powers(double gamma, double coef0, unsigned degree, std::size_t n, double* inner) {
  for (std::size_t i = 0; i < n; ++i) {
    double base = gamma * inner[i] + coef0, out = 1;
    for (unsigned left = degree; left; left >>= 1, base *= base)
      if (left & 1) out *= base;
    inner[i] = out;
  }
}

}  // namespace

void apply(const Function& f, double self, const double* selves, std::size_t n, double* inner) {
  if (f.radial()) radials(self, selves, f.gamma, n, inner);
  else if (f.form == Form::polynomial) powers(f.gamma, f.coef0, static_cast<unsigned>(f.degree), n, inner);
}

double weighted(const double* a, const double* b, std::size_t n) {
  return lopsided::fixed_order::products(static_cast<Index>(n), a, b);
}

void combine(double* out, std::size_t n, const double* const* rows, const double* factors, std::size_t count) {
  for (std::size_t i = 0; i < n; i += tile_rows) {
    Double4 a = load4(out + i), b = load4(out + i + 4), c = load4(out + i + 8), d = load4(out + i + 12);
    for (std::size_t k = 0; k < count; ++k) {
      const double* row = rows[k] + i;
      const double f = factors[k];
      a += f * load4(row);
      b += f * load4(row + 4);
      c += f * load4(row + 8);
      d += f * load4(row + 12);
    }
    store4(out + i, a), store4(out + i + 4, b), store4(out + i + 8, c), store4(out + i + 12, d);
  }
}

std::size_t at_least(const double* values, std::size_t n, double least) {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < n; ++i) count += values[i] >= least ? 1 : 0;
  return count;
}

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Integers in the same order as the doubles.
constexpr std::uint64_t top_bit = std::uint64_t{1} << 63;
[[gnu::always_inline]] inline std::uint64_t as_key(double v) {
  const auto bits = std::bit_cast<std::uint64_t>(v + 0.0);
  return bits & top_bit ? ~bits : bits | top_bit;
}
[[gnu::always_inline]] inline double from_key(std::uint64_t key) {
  return std::bit_cast<double>(key & top_bit ? key & ~top_bit : ~key);
}

[[gnu::always_inline]] inline Double4 larger(Double4 a, Double4 b) { return a > b ? a : b; }
[[gnu::always_inline]] inline Double4 smaller(Double4 a, Double4 b) { return a < b ? a : b; }

}  // namespace

double most(const double* values, std::size_t n) {
  Double4 a = Double4{} - infinity, b = a;
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8) a = larger(load4(values + i), a), b = larger(load4(values + i + 4), b);
  a = larger(a, b);
  double out = std::max(std::max(a[0], a[1]), std::max(a[2], a[3]));
  for (; i < n; ++i) out = values[i] > out ? values[i] : out;
  return out;
}

Reached reach(const double* values, std::size_t n, std::size_t finite, std::size_t k) {
  const Double4 none = Double4{} - infinity;
  Double4 a = -none, b = none;
  std::size_t whole = n / 4 * 4;
  for (std::size_t i = 0; i < whole; i += 4) {
    const Double4 v = load4(values + i);
    a = smaller(v > none ? v : -none, a);
    b = larger(v, b);
  }
  double least = std::min(std::min(a[0], a[1]), std::min(a[2], a[3]));
  double most = std::max(std::max(b[0], b[1]), std::max(b[2], b[3]));
  for (std::size_t i = whole; i < n; ++i) {
    least = values[i] > -infinity && values[i] < least ? values[i] : least;
    most = values[i] > most ? values[i] : most;
  }
  std::uint64_t low = as_key(least), high = as_key(most) + 1;  // at least k are >= low, fewer >= high
  std::size_t found = finite;
  while (found != k && high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    const double at = from_key(middle);
    std::size_t count = 0;
    for (std::size_t i = 0; i < n; ++i) count += values[i] >= at ? 1 : 0;
    const bool enough = count >= k;
    low = enough ? middle : low;
    found = enough ? count : found;
    high = enough ? high : middle;
  }
  return {from_key(low), found};
}

}  // namespace lopsided::kernel::LOPSIDED_ISA
LOPSIDED_REGION_END
