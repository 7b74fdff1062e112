// Several models in one pass.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "model.hpp"

namespace lopsided {

// What becomes of one model.
struct Banked {
  Model* model;
  Pass pass;                              // the same rows for all
  std::optional<DataError> failure = {};  // the model is as it was
};

// Whether models of this kind can, if they are alike.
bool learns_together(std::string_view kind);

// False, and nothing has happened, if these models cannot learn together.
bool learn_together(std::string_view kind, const Rows& rows, std::span<Banked> all);

}  // namespace lopsided
