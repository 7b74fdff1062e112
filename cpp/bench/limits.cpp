// What the machine allows for the memory that learning has to touch: python -m benchmarks.limits. Nothing is
// computed with the numbers but sums, and all are written; each line is a name and nanoseconds.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <new>
#include <vector>

#include "../core/numbers/aligned.hpp"
#include "../core/numbers/random.hpp"

namespace {

using lopsided::Aligned;

double uniform() {
  static std::uint64_t count = 0;
  return static_cast<double>(lopsided::splitmix64(count++) >> 11) * 0x1p-53;
}

// The least nanoseconds of a piece of work, of `pieces` done together.
template <class Work>
double best(int rounds, std::size_t pieces, Work work) {
  double least = 1e300;
  for (int k = 0; k < rounds; ++k) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - start;
    least = std::min(least, taken.count() / static_cast<double>(pieces));
  }
  return least;
}

// Rows of different words, in order; word k is k^-1.05 as frequent as the first (benchmarks/data.py).
std::vector<std::int32_t> words(std::size_t rows, std::size_t features, std::size_t in_row) {
  std::vector<double> up_to(features);
  double sum = 0;
  for (std::size_t k = 0; k < features; ++k) up_to[k] = sum += std::pow(static_cast<double>(k + 1), -1.05);
  std::vector<std::int32_t> out;
  for (std::size_t i = 0; i < rows; ++i) {
    const auto first = static_cast<std::ptrdiff_t>(out.size());
    while (out.size() < (i + 1) * in_row) {
      const auto at = std::lower_bound(up_to.begin(), up_to.end(), sum * uniform()) - up_to.begin();
      const auto word =
          static_cast<std::int32_t>(std::min<std::ptrdiff_t>(at, static_cast<std::ptrdiff_t>(features) - 1));
      if (std::find(out.begin() + first, out.end(), word) == out.end()) out.push_back(word);
    }
    std::sort(out.begin() + first, out.end());
  }
  return out;
}

// Reads `width` numbers of each feature of a row, then writes them.
template <std::size_t width>
void scattered(std::size_t features) {
  constexpr std::size_t rows = 100'000, in_row = 75;
  static std::vector<std::int32_t> places;
  static std::size_t made_for = 0;
  if (made_for != features) places = words(rows, features, in_row), made_for = features;
  Aligned table(features * width, 1.0);
  double total = 0;
  const auto numbers = [&](std::int32_t feature) { return table.data() + static_cast<std::size_t>(feature) * width; };
  const double ns = best(7, rows, [&] {
    for (std::size_t i = 0; i < rows; ++i) {
      const std::int32_t* row = places.data() + i * in_row;
      if (i + 1 < rows)
        for (std::size_t k = in_row; k < 2 * in_row; ++k)
          for (std::size_t w = 0; w < width; w += 8) __builtin_prefetch(numbers(row[k]) + w, 0, 2);  // see ahead.hpp
      double sums[3][width] = {};
      for (std::size_t k = 0; k < in_row; k += 3)
        for (std::size_t c = 0; c < 3; ++c)
          for (std::size_t w = 0; w < width; ++w) sums[c][w] += numbers(row[k + c])[w];
      for (std::size_t k = 0; k < in_row; ++k)
        for (std::size_t w = 0; w < width; ++w) numbers(row[k])[w] += 1e-30 * sums[0][w];
      for (std::size_t c = 0; c < 3; ++c) total += sums[c][0];
    }
  });
  std::printf("75 of %zu features read and written, %zu bytes each\t%.0f\n", features, 8 * width, total < 0 ? 0 : ns);
}

// Reads and writes a triangle of d rows in order.
void triangle(std::size_t d) {
  Aligned values(d * (d + 1) / 2, 1.0);
  const std::size_t times = std::max<std::size_t>(1, 2'000'000 / values.size());
  const double ns = best(50, times, [&] {
    for (std::size_t k = 0; k < times; ++k)
      for (double& value : values) value -= 1e-30;
  });
  std::printf("triangle of %zu rows read and written\t%.0f\n", d, ns);
}

// Counts the blanks of a text of 100 MB.
void text() {
  const std::vector<char> all(100'000'000, ' ');
  long blanks = 0;
  const double ns = best(7, all.size(), [&] { blanks += std::count(all.begin(), all.end(), ' '); });
  std::printf("a byte of text looked at\t%.4f\n", blanks == 0 ? 0 : ns);
}

}  // namespace

int main() {
  for (const std::size_t features : {10'000u, 100'000u, 1'000'000u, 10'000'000u}) {
    scattered<1>(features);
    scattered<2>(features);
    scattered<8>(features);
    scattered<12>(features);
  }
  for (const std::size_t d : {50u, 100u, 300u, 1000u}) triangle(d);
  text();
}
