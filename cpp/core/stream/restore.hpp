// Restores a model from a saved state, which may hold anything: nothing is written before its length is validated,
// and no memory is taken that the state does not account for. What the entries mean is validated by each learner,
// in its state().
#pragma once

#include <utility>

#include "model.hpp"

namespace lopsided {

class StateRestorer : public StateVisitor {
 public:
  bool restores() const final { return true; }
  std::span<const std::uint32_t> restored_rows() const final { return rows_; }

  void operator()(const char* name, Vector& v) final { v.assign(numbers(name, {v.size()}), v.size()); }
  void operator()(const char* name, Symmetric& m) final { m.write(numbers(name, {m.size(), m.size()})); }
  void operator()(const char* name, SymmetricOf<float>& m) final { m.write(numbers(name, {m.size(), m.size()})); }
  void operator()(const char* name, Table& t) final {
    rows_ = features(name);
    const std::span<const std::uint32_t> at = rows_;
    const double* values = numbers((std::string(name) + ".values").c_str(), {at.size(), t.width()});
    for (std::size_t k = 0; k < at.size(); ++k) {
      validate(at[k] < t.size() && (k == 0 || at[k - 1] < at[k]), name);
      std::copy_n(values + k * t.width(), t.width(), t[at[k]]);
    }
  }
  void operator()(const char* name, std::vector<double>& few) final { few = list(name); }
  void operator()(const char* name, Series& many) final { many.values = series(name); }
  void operator()(const char* name, double& value) final { value = number(name); }
  void operator()(const char* name, Count& value) final {
    value = count(name);
    validate(value <= max_count, name);
  }

  virtual std::size_t bytes() const = 0;  // of all arrays

 protected:
  static constexpr Count max_count = Count{1} << 53;
  struct Array {
    const double* values;  // until the next one is asked for
    std::vector<std::size_t> shape;
  };
  // The entry of that name; std::invalid_argument if it is missing or of another type.
  virtual Array array(const char* name) = 0;
  virtual std::span<const std::uint32_t> features(const char* name) = 0;
  virtual std::vector<double> list(const char* name) = 0;
  virtual std::vector<double> series(const char* name) = 0;
  virtual double number(const char* name) = 0;
  virtual Count count(const char* name) = 0;

 private:
  const double* numbers(const char* name, const std::vector<std::size_t>& shape) {
    const Array found = array(name);
    if (found.shape != shape) throw std::invalid_argument(std::string("state ") + name + " has the wrong shape");
    std::size_t size = 1;
    for (const std::size_t n : shape) size *= n;
    if (!all_finite({found.values, size})) throw std::invalid_argument(std::string("state ") + name + " is not finite");
    return found.values;
  }

  std::span<const std::uint32_t> rows_;
};

namespace detail {

// What vectors and matrices take that grow with the number of features. Tables take no memory until they are written.
struct GrowthVisitor final : StateVisitor {
  double features, bytes = 0;
  static constexpr Index probe = 256;
  explicit GrowthVisitor(Index features) : features(features) {}

  void operator()(const char*, Vector& v) override { add(v.size(), features * sizeof(double)); }
  void operator()(const char*, Symmetric& m) override { add(m.size(), features * features / 2 * sizeof(double)); }
  void operator()(const char*, SymmetricOf<float>& m) override {
    add(m.size(), features * features / 2 * sizeof(float));
  }
  void operator()(const char*, Table&) override {}
  void operator()(const char*, std::vector<double>&) override {}
  void operator()(const char*, Series&) override {}
  void operator()(const char*, double&) override {}
  void operator()(const char*, Count&) override {}

 private:
  void add(std::size_t size, double grown) {
    if (size >= probe) bytes += grown;
  }
};

}  // namespace detail

// The model is unchanged if its state is refused.
inline void restore(std::unique_ptr<Model>& model, Index features, StateRestorer& from) {
  validate(features >= 0 && features <= max_features, "features");
  auto restored = model->clone();
  if (features > 16 * detail::GrowthVisitor::probe) {
    detail::GrowthVisitor growth(features);
    auto small = model->clone();
    small->grow(detail::GrowthVisitor::probe);
    small->state(growth);
    // WeightedMajority has one vector that it may not save.
    validate(growth.bytes <= 2 * static_cast<double>(from.bytes()) + 0x1p20, "features");
  }
  try {
    restored->grow(features);
    restored->state(from);
  } catch (const std::invalid_argument&) {
    if (features > 0) throw;
    restored = model->clone();  // of a version that had no room for the constant before the first feature
    restored->state(from);
  }
  model = std::move(restored);
}

}  // namespace lopsided
