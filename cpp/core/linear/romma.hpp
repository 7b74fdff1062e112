// ROMMA, the relaxed online maximum margin algorithm (Li & Long 1999), and its aggressive form.
//
// The step is the smallest w' with y w'.x = 1 and w'.w = |w|^2: w' = c w + d x. The factor c is stored
// separately (w = scale * direction) and |w|^2 is updated incrementally, so the cost of a step is proportional to the
// nonzeros of the row. Rounding errors in |w|^2 accumulate, so it is recomputed whenever as many entries
// have been touched as there are.
//
// Where no w fits all rows, as with wrong labels, |w| grows without bound. Once w is so long that 1 is lost beside its
// scores, a step only depends on the direction of w: w is divided by a power of two before anything overflows, and
// predictions stay those of unlimited numbers. A step that would still overflow, on a row of almost no length,
// is skipped.
#pragma once

#include <algorithm>

#include "../learner.hpp"
#include "../simd.hpp"
#include "../validate.hpp"

LOPSIDED_ISA_BEGIN

struct Romma {
  static constexpr Hooks hooks{.coefficients = true};

  bool aggressive = false;  // also step on correct answers with a margin below 1
  double eps = 1e-12;       // rows this close to parallel with w are skipped
  Vector direction;
  double scale = 1;
  double square = 0;               // |w|^2
  Count touched = 0, reach = 0;    // entries changed since |w|^2 was recomputed; entries in use

  double score(const RowLike auto& x) const { return scale * dot(direction, x); }

  bool learn(const RowLike auto& x, const Target& t, double score) {
    const double y = t.y;
    const bool mistake = (score >= 0) != (y > 0);
    if (aggressive ? y * score >= 1 : !mistake) return false;
    const double length = x.squared_norm();
    if (square == 0) {
      if (length == 0) return false;
      move(1, y, length, x);
      return true;
    }
    const double gap = length * square - score * score;
    if (gap <= eps * length * square) return false;
    const double step = square * (y - score) / gap;
    // w moves at a right angle to itself, by the part of step * x that is not along w.
    const double keep = 1 - step * score / square, new_square = square + step * step * gap / square;
    if (!std::isfinite(keep) || !(new_square < 1e300)) return false;
    move(keep, step, new_square, x);
    if (square > 1e140) shorten();  // products of two squares must be finite
    return true;
  }

  Vector coefficients() const {
    Vector w = direction;
    for (std::size_t j = 0; j < w.size(); ++j) w[j] *= scale;
    return w;
  }
  void options(auto&& visit) {
    visit("aggressive", aggressive);
    visit("eps", eps);
  }
  void state(auto&& visit) {
    visit("direction", direction);
    visit("scale", scale);
    visit("square", square);
    visit("touched", touched);
    visit("reach", reach);
    validate(reach <= direction.size(), "reach");
    validate(touched <= reach, "touched");
  }

 private:
  // w = keep * w + step * x
  void move(double keep, double step, double new_square, const RowLike auto& x) {
    scale *= keep;
    square = new_square;
    const double size = std::abs(scale);
    if (!(size >= 1e-9 && size <= 1e9)) {
      for (std::size_t j = 0; j < direction.size(); ++j) direction[j] *= scale;
      scale = 1;
    }
    add(direction, step / scale, x);
    x.for_each([&](Index j, double v) {
      if (v != 0) reach = std::max(reach, static_cast<Count>(j) + 1);
    });
    touched += static_cast<Count>(x.size);
    if (touched < reach) return;
    touched = 0;
    const double* u = direction.data();
    square = scale * scale * fixed_order::products(static_cast<Index>(reach), u, u);
  }
  // A length of 1e70 becomes one of 1e22.
  void shorten() {
    constexpr double by = 0x1p-160;
    for (std::size_t j = 0; j < direction.size(); ++j) direction[j] *= by;
    square *= by * by;
  }
};

LOPSIDED_ISA_END
