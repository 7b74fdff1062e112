// Seconds of a step of a full covariance by OpenBLAS, u = Sigma x and Sigma -= u u' / (1 + x'u):
// core_blas LIBRARY FEATURES STEPS. The library is the one that comes with NumPy.
#include <dlfcn.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int count, char** arguments) {
  if (count != 4) return 2;
  void* library = dlopen(arguments[1], RTLD_NOW);
  if (!library) return std::fprintf(stderr, "%s\n", dlerror()), 1;
  using Length = std::int64_t;
  using Symv =
      void (*)(int, int, Length, double, const double*, Length, const double*, Length, double, double*, Length);
  using Syr = void (*)(int, int, Length, double, const double*, Length, double*, Length);
  const auto symv = reinterpret_cast<Symv>(dlsym(library, "scipy_cblas_dsymv64_"));
  const auto syr = reinterpret_cast<Syr>(dlsym(library, "scipy_cblas_dsyr64_"));
  if (!symv || !syr) return std::fprintf(stderr, "no dsymv and dsyr in %s\n", arguments[1]), 1;

  constexpr int by_column = 102, lower = 122;
  const Length d = std::atoll(arguments[2]), steps = std::atoll(arguments[3]);
  const auto size = static_cast<std::size_t>(d);
  std::vector<double> sigma(size * size), x(size), u(size);
  for (std::size_t j = 0; j < size; ++j) sigma[j * size + j] = 1;
  const auto start = std::chrono::steady_clock::now();
  for (Length step = 0; step < steps; ++step) {
    for (std::size_t j = 0; j < size; ++j)
      x[j] = static_cast<double>((j * 7 + static_cast<std::size_t>(step)) % 13) - 6;
    symv(by_column, lower, d, 1, sigma.data(), d, x.data(), 1, 0, u.data(), 1);
    double left = 1;
    for (std::size_t j = 0; j < size; ++j) left += x[j] * u[j];
    syr(by_column, lower, d, -1 / left, u.data(), 1, sigma.data(), d);
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  std::printf("%.9g\n", taken.count() / static_cast<double>(steps));
}
