// The two convex stand-ins for a cost-weighted mistake (Wang, Zhao, Hoi 2012, eqs. 3 and 4).
//
//   I :  max(0, rho_y - y p)        the margin carries the cost
//   II:  rho_y max(0, 1 - y p)      the slope carries the cost
#pragma once

#include "base.hpp"

namespace lopsided {

enum class Loss { I, II };
enum class WeightMode { margin, slope };

struct Surrogate {
  Loss loss = Loss::II;
  WeightMode weight_mode = WeightMode::margin;  // where the event's weight enters loss I

  // The step y x is taken this many times; 0 when the loss is 0.
  double slope(double score, const Target& t) const {
    if (loss == Loss::II) return t.y * score < 1 ? t.cost * t.weight : 0;
    if (weight_mode == WeightMode::slope) return t.y * score < t.cost ? t.weight : 0;
    return t.y * score < t.cost * t.weight ? 1 : 0;
  }

  void options(auto&& visit) {
    visit("loss", loss, {"I", "II"});
    visit("weight_mode", weight_mode, {"margin", "slope"});
  }
};

}  // namespace lopsided
