// Rows of `width` numbers, one row per feature, zero until written. Pages are committed when they are first written: a
// feature that never occurs takes no memory.
#pragma once

#include <cstring>
#include <new>
#include <utility>

#include "../base.hpp"

#if defined(__linux__)
#include <sys/mman.h>
#else
#include <cstdlib>
#endif

namespace lopsided {

class Table {
 public:
  explicit Table(std::size_t width = 1) : width_(width) {}
  Table(const Table& other) : width_(other.width_) {
    reserve(other.size_);
    size_ = other.size_;
    other.for_each([&](std::size_t j, const double* row) { std::copy_n(row, width_, values_ + j * width_); });
  }
  Table(Table&& other) noexcept { swap(other); }
  Table& operator=(Table other) noexcept {
    swap(other);
    return *this;
  }
  ~Table() { release(); }

  // Numbers per feature. Set it before the first feature.
  void set_width(std::size_t width) { width_ = width; }
  std::size_t width() const { return width_; }

  void reserve(std::size_t size) {
    if (size > capacity_) enlarge(std::max(size, 2 * capacity_));
  }
  void grow(std::size_t size) {
    reserve(size);
    size_ = std::max(size_, size);
  }

  // Called with the number of features written so far. Once most pages are in use, huge pages take no more memory and
  // cause fewer TLB misses.
  void crowd(std::size_t features) {
    if (!crowded_ && bytes() > small && features * 1024 >= bytes()) use_huge_pages();
  }

  std::size_t size() const { return size_; }
  std::size_t bytes() const { return size_ * row_bytes(); }
  double* operator[](std::size_t j) { return values_ + j * width_; }
  const double* operator[](std::size_t j) const { return values_ + j * width_; }
  double* data() { return values_; }
  const double* data() const { return values_; }

  // Every feature with a nonzero number.
  template <class Visit>
  void for_each(Visit visit) const {
    for (std::size_t j = 0; j < size_; ++j) {
      const double* row = (*this)[j];
      if (std::any_of(row, row + width_, [](double v) { return v != 0; })) visit(j, row);
    }
  }

 private:
  static constexpr std::size_t small = std::size_t{1} << 26;

  std::size_t row_bytes() const { return width_ * sizeof(double); }

  void swap(Table& other) noexcept {
    std::swap(width_, other.width_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    std::swap(values_, other.values_);
    std::swap(crowded_, other.crowded_);
  }

#if defined(__linux__)
  void enlarge(std::size_t capacity) {
    const std::size_t before = capacity_ * row_bytes(), after = capacity * row_bytes();
    void* room = values_
                     ? mremap(values_, before, after, MREMAP_MAYMOVE)
                     : mmap(nullptr, after, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED) throw std::bad_alloc();
    values_ = static_cast<double*>(room);
    capacity_ = capacity;
    crowded_ = false;
    madvise(room, after, after <= small ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);  // a hint, for fewer page faults
  }
  [[gnu::noinline, gnu::cold]] void use_huge_pages() {
    crowded_ = true;
    constexpr int now = 25;  // MADV_COLLAPSE, missing in older headers
    for (const int advice : {MADV_HUGEPAGE, now}) madvise(values_, capacity_ * row_bytes(), advice);
  }
  void release() {
    if (values_) munmap(values_, capacity_ * row_bytes());
  }
#else
  void enlarge(std::size_t capacity) {
    auto* room = static_cast<double*>(std::calloc(capacity, row_bytes()));
    if (!room) throw std::bad_alloc();
    if (values_) std::memcpy(room, values_, bytes());
    std::free(values_);
    values_ = room;
    capacity_ = capacity;
  }
  void use_huge_pages() { crowded_ = true; }
  void release() { std::free(values_); }
#endif

  std::size_t width_ = 1, size_ = 0, capacity_ = 0;
  double* values_ = nullptr;
  bool crowded_ = false;
};

}  // namespace lopsided
