// The events whose labels were bought and have not come.
#pragma once

#include <bit>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include "../numbers/row.hpp"
#include "../state.hpp"
#include "../validate.hpp"

namespace lopsided {

// An event as the learner saw it. Its numbers lie elsewhere.
struct Kept {
  double probability = 1, score = 0;
  bool alarmed = false;  // the decision then
  bool sparse = false;
  double square = 0, scale = 1;
  std::span<const double> values;
  std::span<const Index> indices;

  DenseRow dense_row() const { return {values.data(), static_cast<Index>(values.size()), square, scale}; }
  SparseRow sparse_row() const {
    return {indices.data(), values.data(), static_cast<Index>(values.size()), square, scale};
  }
  void take(const DenseRow& x) { values = {x.values, static_cast<std::size_t>(x.size)}; }
  void take(const SparseRow& x) {
    sparse = true;
    values = {x.values, static_cast<std::size_t>(x.size)};
    indices = {x.indices, static_cast<std::size_t>(x.size)};
  }
  // Whether these are valid values of a row with that many columns.
  bool fits(Index columns) const {
    if (!sparse) return indices.empty() && values.size() <= static_cast<std::size_t>(columns);
    return values.size() == indices.size() && are_features(indices, static_cast<std::size_t>(columns));
  }
};

// In the order of their numbers. When there are too many the oldest is forgotten.
// Entries are in a ring, and so are their values and indices, those of one event side by side.
class Pending {
 public:
  // Returns the event that had to be forgotten, or -1.
  std::int64_t add(Count id, const Kept& kept) {
    const std::size_t size = room_for(kept);
    make_room(size);
    std::int64_t forgotten = -1;
    if (static_cast<double>(waiting_) >= most_) {
      forgotten = static_cast<std::int64_t>(at(0).id);  // the first always waits
      forget_at(0);
    }
    append(id, kept, size);
    return forgotten;
  }
  // To be used before the next event is added.
  std::optional<Kept> find(Count id) const {
    const std::size_t k = place(id);
    if (k == count_) return {};
    return seen(at(k));
  }
  bool waits(Count id) const { return place(id) < count_; }
  bool forget(Count id) {
    const std::size_t k = place(id);
    const bool found = k < count_;
    if (found) forget_at(k);
    return found;
  }
  std::vector<Count> ids() const {
    std::vector<Count> out;
    for (std::size_t k = 0; k < count_; ++k)
      if (at(k).waits) out.push_back(at(k).id);
    return out;
  }
  std::size_t bytes() const { return ring_.size() * sizeof(Entry) + room_.size() * sizeof(double); }

  void options(auto&& visit) { visit("max_pending", most_); }
  // `sound` says whether a kept row is one that the learner could have seen. Events are numbered below `events`.
  void state(auto&& visit, Count events, auto sound) {
    Series all;
    for (std::size_t k = 0; k < count_; ++k)
      if (at(k).waits) write(at(k).id, seen(at(k)), all.values);
    visit("pending.events", all);
    count_ = waiting_ = next_ = 0;
    std::vector<Index> indices;
    for (auto from = all.values.cbegin(); from != all.values.cend();) {
      const auto [id, kept] = read(from, all.values.cend(), indices);
      check(sound(kept) && id < events && (count_ == 0 || id > at(count_ - 1).id));
      const std::size_t size = room_for(kept);
      make_room(size);
      append(id, kept, size);
    }
    while (static_cast<double>(waiting_) > most_) forget_at(0);  // fewer may wait than before
  }

 private:
  struct Entry {
    Count id = 0;
    double probability = 1, score = 0, square = 0, scale = 1;
    std::size_t at = 0, values = 0;  // where its numbers begin, and how many they are
    std::uint32_t indices = 0;
    bool alarmed = false, sparse = false, waits = false;
  };
  using At = std::vector<double>::const_iterator;
  static constexpr std::ptrdiff_t head = 8;

  static void write(Count id, const Kept& k, std::vector<double>& out) {
    const int form = k.sparse + 2 * (k.alarmed != (k.score >= 0));
    out.insert(out.end(), {double(id), k.probability, k.score, double(form), k.square, k.scale, double(k.values.size()),
                           double(k.indices.size())});
    out.insert(out.end(), k.values.begin(), k.values.end());
    out.insert(out.end(), k.indices.begin(), k.indices.end());
  }
  static std::pair<Count, Kept> read(At& at, At end, std::vector<Index>& indices) {
    check(end - at >= head);
    const double left = static_cast<double>(end - at - head), n = at[6], m = at[7];
    check(is_whole(at[0], 0x1p53) && at[1] > 0 && at[1] <= 1 && is_whole(n, left + 1) && is_whole(m, left + 1 - n));
    check(is_whole(at[3], 4));
    const int form = static_cast<int>(at[3]);
    Kept k{at[1], at[2], (at[2] >= 0) != (form >= 2), form % 2 == 1, at[4], at[5], {}, {}};
    const auto id = static_cast<Count>(at[0]);
    at += head;
    k.values = {at, static_cast<std::size_t>(n)};
    at += static_cast<std::ptrdiff_t>(n);
    indices.clear();
    for (const At last = at + static_cast<std::ptrdiff_t>(m); at != last; ++at) {
      check(is_whole(*at, max_features));
      indices.push_back(static_cast<Index>(*at));
    }
    k.indices = indices;
    return {id, k};
  }
  static void check(bool valid) { validate(valid, "pending.events"); }

  Entry& at(std::size_t k) { return ring_[(first_ + k) & mask_]; }
  const Entry& at(std::size_t k) const { return ring_[(first_ + k) & mask_]; }

  // Where an event waits, or count_.
  std::size_t place(Count id) const {
    std::size_t low = 0, high = count_;
    while (low < high) {
      const std::size_t middle = (low + high) / 2;
      if (at(middle).id < id) low = middle + 1;
      else high = middle;
    }
    return low < count_ && at(low).id == id && at(low).waits ? low : count_;
  }
  void forget_at(std::size_t k) {
    at(k).waits = false;
    --waiting_;
    for (; count_ > 0 && !at(0).waits; --count_) ++first_;
  }

  // Two indices take the room of a value; a row without numbers takes that of one.
  static std::size_t room_for(std::size_t values, std::size_t indices) {
    return std::max<std::size_t>(1, values + (indices + 1) / 2);
  }
  static std::size_t room_for(const Kept& k) { return room_for(k.values.size(), k.indices.size()); }
  // What is in use begins at the oldest event, may wrap around to the beginning, and ends at next_, which is
  // not where it begins. Moves next_ to where `size` numbers are free; false if they are nowhere.
  bool fits(std::size_t size) {
    if (count_ == 0) next_ = 0;
    const std::size_t begin = count_ ? at(0).at : room_.size();
    if (next_ <= begin) return begin - next_ > size || (count_ == 0 && begin >= size);
    if (room_.size() - next_ >= size) return true;
    if (begin <= size) return false;
    next_ = 0;
    return true;
  }
  Kept seen(const Entry& e) const {
    const double* values = room_.data() + e.at;
    const auto* indices = reinterpret_cast<const Index*>(values + e.values);
    return {e.probability, e.score, e.alarmed, e.sparse, e.square, e.scale, {values, e.values}, {indices, e.indices}};
  }
  void append(Count id, const Kept& k, std::size_t size) {
    const std::size_t n = k.values.size(), m = k.indices.size();
    double* to = room_.data() + next_;
    if (n) std::memcpy(to, k.values.data(), n * sizeof(double));
    if (m) std::memcpy(to + n, k.indices.data(), m * sizeof(Index));
    at(count_++) = {id,        k.probability, k.score, k.square, k.scale, next_, n, static_cast<std::uint32_t>(m),
                    k.alarmed, k.sparse,      true};
    ++waiting_;
    next_ += size;
  }
  void make_room(std::size_t size) {
    if (count_ > mask_ || !fits(size)) rebuild(size);
  }
  // Only those that wait, and twice the room that they and `more` numbers take.
  [[gnu::noinline]] void rebuild(std::size_t more) {
    for (std::size_t k = 0; k < count_; ++k)
      if (at(k).waits) more += room_for(at(k).values, at(k).indices);
    std::vector<Entry> ring(std::bit_ceil(2 * waiting_ + 1));
    std::vector<double> room(2 * more);
    std::size_t count = 0, next = 0;
    for (std::size_t k = 0; k < count_; ++k) {
      if (!at(k).waits) continue;
      Entry& e = ring[count++] = at(k);
      const std::size_t size = room_for(e.values, e.indices);
      std::memcpy(room.data() + next, room_.data() + e.at, size * sizeof(double));
      e.at = std::exchange(next, next + size);
    }
    ring_ = std::move(ring);
    room_ = std::move(room);
    mask_ = ring_.size() - 1;
    first_ = 0, count_ = count, next_ = next;
  }

  double most_ = 10000;
  std::vector<Entry> ring_{1};         // as many as a power of two
  std::size_t mask_ = 0;               // that less one
  std::size_t first_ = 0, count_ = 0;  // how many are in use, including some that no longer wait
  std::size_t waiting_ = 0;
  std::vector<double> room_;  // values, and indices two by two
  std::size_t next_ = 0;      // from here on the next are put
};

}  // namespace lopsided
