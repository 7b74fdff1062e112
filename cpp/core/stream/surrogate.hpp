// The two convex stand-ins for a cost-weighted mistake (Wang, Zhao, Hoi 2012, eqs. 3 and 4).
//
//   I :  max(0, rho_y - y p)        the margin carries the cost
//   II:  rho_y max(0, 1 - y p)      the slope carries the cost
#pragma once

#include "../numbers/real.hpp"
#include "../simd.hpp"

LOPSIDED_ISA_BEGIN

enum class Loss { I, II };
enum class WeightMode { margin, slope };

struct Surrogate {
  Loss loss = Loss::II;
  WeightMode weight_mode = WeightMode::margin;  // where the event's weight enters loss I

  // The step y x is taken this many times; 0 when the loss is 0.
  template <class Real>
  Real slope(const Real& score, const Target& t) const {
    const Real margin = t.y * score;
    if (loss == Loss::II) return choose(margin < 1.0, all<Real>(t.cost * t.weight), Real{});
    if (weight_mode == WeightMode::slope) return choose(margin < t.cost, all<Real>(t.weight), Real{});
    return choose(margin < t.cost * t.weight, all<Real>(1), Real{});
  }

  void options(auto&& visit) {
    visit("loss", loss, {"I", "II"});
    visit("weight_mode", weight_mode, {"margin", "slope"});
  }
};

LOPSIDED_ISA_END
