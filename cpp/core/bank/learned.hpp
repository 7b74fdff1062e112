// Several models in one pass.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "../stream/model.hpp"

namespace lopsided {

// The outcome for one model.
struct Banked {
  Model* model;                           // untrained
  Pass pass;                              // the same rows for all
  std::optional<DataError> failure = {};  // the model is unchanged
};

// What models have learned together, until each takes its state: many are never used again.
class Learned {
 public:
  virtual ~Learned() = default;
  virtual std::size_t models() const = 0;
  virtual Index features() const = 0;
  virtual void give(std::size_t place, Model& model) = 0;
  // How many features have a weight.
  virtual Count nonzeros(std::size_t place) = 0;
  // The scores of each model, unless its array is null. False if the models must score one by one.
  virtual bool score(const Rows& rows, std::span<double* const> out) = 0;
};

// Whether models of this kind can learn together.
bool learns_together(std::string_view kind);

// Null, with nothing changed, if these models cannot learn together.
std::shared_ptr<Learned> learn_together(std::string_view kind, const Rows& rows, std::span<Banked> all);

}  // namespace lopsided
