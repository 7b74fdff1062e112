// The learners by kind.
#pragma once

#include <memory>
#include <string_view>

#include "../stream/model.hpp"

namespace lopsided {

// Null when there is no such kind.
std::unique_ptr<Model> make_model(std::string_view kind);

}  // namespace lopsided
