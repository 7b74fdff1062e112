// The learners by kind.
#pragma once

#include <span>

#include "kind.hpp"

namespace lopsided {

// Every kind of learner there is.
std::span<const Kind> kinds();
// Null if there is no such kind.
std::unique_ptr<Model> make_model(std::string_view kind);

}  // namespace lopsided
