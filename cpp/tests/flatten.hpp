#pragma once

#include <vector>

#include "../core/registry/registry.hpp"

namespace lopsided {

// Every number of a model's state, in order.
struct Flatten final : StateVisitor {
  std::vector<double> all;
  void operator()(const char*, Vector& v) override { all.insert(all.end(), v.data(), v.data() + v.size()); }
  void operator()(const char*, Symmetric& m) override { square(m); }
  void operator()(const char*, SymmetricOf<float>& m) override { square(m); }
  template <class Value>
  void square(SymmetricOf<Value>& m) {
    std::vector<Value> values(m.size() * m.size());
    m.read(values.data());
    all.insert(all.end(), values.begin(), values.end());
  }
  void operator()(const char*, Table& t) override {
    t.for_each([&](std::size_t j, const double* row) {
      all.push_back(static_cast<double>(j));
      all.insert(all.end(), row, row + t.width());
    });
  }
  void operator()(const char*, std::vector<double>& few) override { all.insert(all.end(), few.begin(), few.end()); }
  void operator()(const char*, Series& many) override { all.insert(all.end(), many.values.begin(), many.values.end()); }
  void operator()(const char*, double& v) override { all.push_back(v); }
  void operator()(const char*, Count& v) override { all.push_back(static_cast<double>(v)); }
};

inline std::vector<double> state(Model& model) {
  Flatten visit;
  model.state(visit);
  return visit.all;
}

}  // namespace lopsided
