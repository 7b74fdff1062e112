// Small dense matrices, row after row: what merging needs of linear algebra, with the same bits on every machine.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace lopsided::merging {

using Matrix = std::vector<double>;

inline double product(const double* a, const double* b, std::size_t n) {
  double sum[4] = {};
  std::size_t k = 0;
  for (; k + 4 <= n; k += 4)
    for (std::size_t l = 0; l < 4; ++l) sum[l] += a[k + l] * b[k + l];
  for (; k < n; ++k) sum[0] += a[k] * b[k];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

// The inverse of a symmetric positive definite matrix, by its Cholesky factor. Rounding may have made a pivot too small:
// it is then `least` times its diagonal entry.
inline Matrix inverse(const Matrix& a, std::size_t n, double least) {
  Matrix factor(n * n), inverted(n * n), out(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      const double left = a[i * n + j] - product(&factor[i * n], &factor[j * n], j);
      factor[i * n + j] =
          i == j ? std::sqrt(std::max(left, least * std::abs(a[i * n + i]) + 1e-300)) : left / factor[j * n + j];
    }
  // Column j of the inverse of the factor is row j of `inverted`.
  for (std::size_t j = 0; j < n; ++j) {
    double* column = &inverted[j * n];
    column[j] = 1 / factor[j * n + j];
    for (std::size_t i = j + 1; i < n; ++i)
      column[i] = -product(&factor[i * n + j], column + j, i - j) / factor[i * n + i];
  }
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j)
      out[i * n + j] = out[j * n + i] = product(&inverted[i * n + i], &inverted[j * n + i], n - i);
  return out;
}

// Eigenvalues of a symmetric matrix, the largest first, and their vectors as rows: Jacobi's method.
struct Eigen {
  std::vector<double> values;
  Matrix vectors;
};
inline Eigen eigen(Matrix a, std::size_t n) {
  Matrix v(n * n);
  for (std::size_t i = 0; i < n; ++i) v[i * n + i] = 1;
  for (int sweep = 0; sweep < 60; ++sweep) {
    double off = 0, all = 0;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) (i == j ? all : off) += a[i * n + j] * a[i * n + j];
    if (off <= 1e-30 * (all + off)) break;
    for (std::size_t p = 0; p + 1 < n; ++p)
      for (std::size_t q = p + 1; q < n; ++q) {
        if (a[p * n + q] == 0) continue;
        const double theta = (a[q * n + q] - a[p * n + p]) / (2 * a[p * n + q]);
        const double t = (theta >= 0 ? 1 : -1) / (std::abs(theta) + std::sqrt(theta * theta + 1));
        const double c = 1 / std::sqrt(t * t + 1), s = t * c;
        const auto turn = [&](double& x, double& y) {
          const double before = x;
          x = c * before - s * y;
          y = s * before + c * y;
        };
        for (std::size_t k = 0; k < n; ++k) turn(a[k * n + p], a[k * n + q]);
        for (std::size_t k = 0; k < n; ++k) turn(a[p * n + k], a[q * n + k]);
        for (std::size_t k = 0; k < n; ++k) turn(v[p * n + k], v[q * n + k]);
      }
  }
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t i, std::size_t j) { return a[i * n + i] > a[j * n + j]; });
  Eigen out;
  for (const std::size_t i : order) {
    out.values.push_back(a[i * n + i]);
    out.vectors.insert(out.vectors.end(), v.begin() + static_cast<std::ptrdiff_t>(i * n),
                       v.begin() + static_cast<std::ptrdiff_t>((i + 1) * n));
  }
  return out;
}

}  // namespace lopsided::merging
