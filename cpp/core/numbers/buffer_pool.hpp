// Large arrays that come and go are kept for the next one, so that the system need not clear their
// pages anew.
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

// Values of any kind: nothing is set.
template <class Value>
Reused<Value> make_reused(std::size_t size) {
  return Reused<Value>(static_cast<Value*>(take_memory(size * sizeof(Value))));
}

}  // namespace lopsided
