// Learners that break their contract in one way each: CMakeLists.txt compiles this file once for every way, with BROKEN
// set, and looks for the message. With BROKEN = 0 it compiles.
#include "../core/learner.hpp"

using namespace lopsided;

struct Sound {
  static constexpr Hooks hooks{};
  double score(const RowLike auto&) const { return 0; }
  bool learn(const RowLike auto&, const Target&, double) { return false; }
  void options(auto&&) {}
  void state(auto&&) {}
};

#if BROKEN == 0
struct Given : Sound {
  static constexpr Hooks hooks{.observe = true, .nonzeros = true};
  double observe(const RowLike auto&) { return 0; }
  void nonzeros(auto&&) const {}
};
#elif BROKEN == 1  // misspelt
struct Given : Sound {
  static constexpr Hooks hooks{.nonzeros = true};
  void nonzeroes(auto&&) const {}
};
#elif BROKEN == 2  // only for one kind of row
struct Given : Sound {
  static constexpr Hooks hooks{.observe = true};
  double observe(const DenseRow&) { return 0; }
};
#elif BROKEN == 3  // another type
struct Given : Sound {
  static constexpr Hooks hooks{.coefficients = true};
  std::vector<double> coefficients() const { return {}; }
};
#elif BROKEN == 4  // not listed
struct Given : Sound {
  bool dense() const { return true; }
};
#elif BROKEN == 5  // one of a group is missing
struct Given : Sound {
  static constexpr Hooks hooks{.grow = true};
  void grow(std::size_t) {}
};
#elif BROKEN == 6  // no hook of this name
struct Given : Sound {
  static constexpr Hooks hooks{.obsreve = true};
};
#elif BROKEN == 7  // not a learner
struct Given : Sound {
  bool learn(const DenseRow&, const Target&) { return false; }
};
#endif

static_assert(has_its_hooks<Given>());
