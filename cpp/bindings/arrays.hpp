// NumPy arrays as rows of the core, and back.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <vector>

#include "event.hpp"

namespace nb = nanobind;

namespace lopsided {

using Array = nb::ndarray<nb::ro, nb::device::cpu>;
template <class Value>
using Line = nb::ndarray<const Value, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

inline bool is_wide(const Array& a) { return a.dtype() == nb::dtype<std::int64_t>(); }
inline bool is_single(const Array& a) { return a.dtype() == nb::dtype<float>(); }

// The rows with what they look into. The types are the caller's to get right.
struct HeldRows {
  std::vector<Array> arrays;
  Rows rows;
  std::shared_ptr<EventRows> events = nullptr;  // when they were made of dicts
  nb::object names = nb::none();                // a list of those of the columns, or None
};

inline HeldRows dense_rows(Array x) {
  const Rows::Dense dense{x.data(), is_single(x), x.stride(0), x.stride(1)};
  const Rows rows(dense, x.shape(0), static_cast<Index>(x.shape(1)));
  return {{std::move(x)}, rows};
}

inline HeldRows csr_rows(Array starts, Array indices, Array values, Index columns) {
  const Rows::Csr csr{starts.data(),    indices.data(),    values.data(),  is_wide(starts),
                      is_wide(indices), is_single(values), values.shape(0)};
  const Rows rows(csr, starts.shape(0) - 1, columns);
  return {{std::move(starts), std::move(indices), std::move(values)}, rows};
}

template <class Value>
nb::ndarray<nb::numpy, Value> to_numpy(std::vector<Value>&& values, std::vector<std::size_t> shape) {
  auto owned = std::make_unique<std::vector<Value>>(std::move(values));
  Value* data = owned->data();
  nb::capsule owner(owned.release(), [](void* p) noexcept { delete static_cast<std::vector<Value>*>(p); });
  return nb::ndarray<nb::numpy, Value>(data, shape.size(), shape.data(), owner);
}

// Numbers that are all to be written.
template <class Value>
class Fresh {
 public:
  explicit Fresh(std::size_t size) : size_(size), values_(std::make_unique_for_overwrite<Value[]>(size)) {}
  Value* data() { return values_.get(); }
  nb::ndarray<nb::numpy, Value> to_numpy() && {
    Value* data = values_.get();
    nb::capsule owner(values_.release(), [](void* p) noexcept { delete[] static_cast<Value*>(p); });
    return nb::ndarray<nb::numpy, Value>(data, 1, &size_, owner);
  }

 private:
  std::size_t size_;
  std::unique_ptr<Value[]> values_;
};

}  // namespace lopsided
