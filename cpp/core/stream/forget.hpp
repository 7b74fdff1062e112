// Forgetting: what has been accumulated counts half after each half-life, a number of labels.
//
// One clock, the number of labels learned, and one moment for everything: the statistics of the learner (hook `fade`),
// those of the scaling and the counts of the classes. Between two such moments a learner is that of its paper.
#pragma once

#include "../base.hpp"
#include "../simd.hpp"

namespace lopsided {

struct Forget {
  double labels = 0;  // 0: never

  bool on() const { return labels > 0; }
  LOPSIDED_INLINE bool due(Count round) const { return on() && round % static_cast<Count>(labels) == 0; }
  void options(auto&& visit) { visit("forget", labels); }
};

}  // namespace lopsided
