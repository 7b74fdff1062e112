// Several models in one pass.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "../stream/model.hpp"

namespace lopsided {

// What becomes of one model.
struct Banked {
  Model* model;                           // has learned nothing yet
  Pass pass;                              // the same rows for all
  std::optional<DataError> failure = {};  // the model stays as it is
};

// What models have learned together, until they take it: many are never looked at again.
class Learned {
 public:
  virtual ~Learned() = default;
  virtual std::size_t models() const = 0;
  virtual Index features() const = 0;
  virtual void give(std::size_t place, Model& model) = 0;
  // How many features have a weight.
  virtual Count nonzeros(std::size_t place) = 0;
  // What each model would say of rows, unless its array is null. False if they are to be asked one by one.
  virtual bool score(const Rows& rows, std::span<double* const> out) = 0;
};

// Whether models of this kind can, if they are alike.
bool learns_together(std::string_view kind);

// Null, and nothing has happened, if these models cannot learn together.
std::shared_ptr<Learned> learn_together(std::string_view kind, const Rows& rows, std::span<Banked> all);

}  // namespace lopsided
