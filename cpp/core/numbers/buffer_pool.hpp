// A pool of large temporary arrays: reused memory saves the system from clearing pages again.
#pragma once

#include <cstddef>
#include <memory>

namespace lopsided {

void* take_memory(std::size_t size);
void give_memory(void* memory) noexcept;

template <class Value>
struct GiveBack {
  void operator()(Value* values) const noexcept { give_memory(values); }
};
template <class Value>
using Reused = std::unique_ptr<Value[], GiveBack<Value>>;

// The values are uninitialised.
template <class Value>
Reused<Value> make_reused(std::size_t size) {
  return Reused<Value>(static_cast<Value*>(take_memory(size * sizeof(Value))));
}

}  // namespace lopsided
