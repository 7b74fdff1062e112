#include "row_cache.hpp"

#include <bit>
#include <cstring>
#include <mutex>

#include "../numbers/loops.hpp"
#include "../numbers/random.hpp"

namespace lopsided {

namespace {

static_assert(std::endian::native == std::endian::little);

// How values are stored: the narrowest type that keeps all their bits.
enum Coding : std::uint32_t { ones, bytes, singles, doubles };
constexpr std::size_t widths[] = {0, 1, 4, 8};

enum Flags : std::uint32_t { with_labels = 1, with_lines = 2 };

struct Head {
  char name[4] = {'r', 'o', 'w', 's'};
  std::uint32_t coding = 0, rows = 0, stored = 0, columns = 0, flags = 0;
  std::int64_t first_line = 0;
  std::uint64_t size = 0;  // of the block, header included
  std::uint64_t sum = 0;   // checksum of the header up to here and of the data
  std::uint64_t unused[2] = {};
};
static_assert(sizeof(Head) == 64);

std::size_t rounded(std::size_t size) { return (size + 63) & ~std::size_t{63}; }

std::uint64_t sum_of(const Head& head, const char* data) {
  const std::uint64_t seed = checksum(&head, offsetof(Head, sum));
  return checksum(data + sizeof(Head), head.size - sizeof(Head), seed);
}

template <class Value>
bool fits(const double* values, std::size_t n) {
  const double most = std::numeric_limits<Value>::max();
  for (std::size_t k = 0; k < n; ++k) {
    if (std::abs(values[k]) > most) return false;
    const auto back = static_cast<double>(static_cast<Value>(values[k]));
    if (std::bit_cast<std::uint64_t>(back) != std::bit_cast<std::uint64_t>(values[k])) return false;
  }
  return true;
}

Coding coding_of(const double* values, std::size_t n) {
  if (std::all_of(values, values + n, [](double v) { return v == 1.0; })) return ones;
  if (fits<std::int8_t>(values, n)) return bytes;
  return fits<float>(values, n) ? singles : doubles;
}

template <class Value>
void append(std::string& out, const Value* values, std::size_t n) {
  out.append(reinterpret_cast<const char*>(values), n * sizeof(Value));
  out.resize(rounded(out.size()));
}

// An array of at least n ones, shared by all blocks.
std::shared_ptr<const double[]> some_ones(std::size_t n) {
  static std::mutex mutex;
  static std::shared_ptr<const double[]> kept;
  static std::size_t size = 0;
  const std::unique_lock lock(mutex, std::try_to_lock);  // a fork may have left it locked
  if (lock && size >= n) return kept;
  std::shared_ptr<double[]> made(new double[n]);
  std::fill_n(made.get(), n, 1.0);
  if (lock) {
    kept = made;
    size = n;
  }
  return made;
}

std::shared_ptr<const double[]> widened(Coding coding, const char* data, std::size_t n) {
  std::shared_ptr<double[]> out = make_reused<double>(n);
  if (coding == bytes) loops::widen(reinterpret_cast<const std::int8_t*>(data), out.get(), n);
  else loops::widen(reinterpret_cast<const float*>(data), out.get(), n);
  return out;
}

void require(bool good, const char* what) {
  if (!good) throw std::invalid_argument(what);
}

}  // namespace

std::uint64_t checksum(const void* data, std::size_t size, std::uint64_t seed) {
  const char* p = static_cast<const char*>(data);
  constexpr int ways = 4;
  std::uint64_t state[ways];
  for (int k = 0; k < ways; ++k) state[k] = splitmix64(seed + static_cast<std::uint64_t>(k));
  const auto step = [](std::uint64_t s, std::uint64_t word) {
    return std::rotl(s ^ word, 29) * 0x9fb21c651e98df25;  // odd, so distinct words give distinct states
  };
  std::size_t left = size;
  for (; left >= 8 * ways; left -= 8 * ways, p += 8 * ways) {
    std::uint64_t words[ways];
    std::memcpy(words, p, sizeof words);
    for (int k = 0; k < ways; ++k) state[k] = step(state[k], words[k]);
  }
  std::uint64_t words[ways] = {};
  std::memcpy(words, p, left);
  std::uint64_t sum = size;
  for (int k = 0; k < ways; ++k) sum = splitmix64(sum ^ step(state[k], words[k]));
  return sum;
}

std::string pack(const LibsvmBlock& block, std::int64_t before) {
  const std::size_t rows = block.labels.size();
  const auto stored = static_cast<std::size_t>(block.starts.back());
  constexpr std::size_t most = std::numeric_limits<std::int32_t>::max();
  require(stored <= most && rows < most, "too many pairs in one block");
  std::vector<std::int32_t> starts(block.starts.begin(), block.starts.end());
  std::vector<std::int64_t> lines(block.lines);
  for (std::int64_t& line : lines) line += before;
  Head head;
  head.coding = coding_of(block.values.get(), stored);
  head.rows = static_cast<std::uint32_t>(rows);
  head.stored = static_cast<std::uint32_t>(stored);
  head.columns = static_cast<std::uint32_t>(block.columns);
  head.first_line = rows == 0 ? 1 : lines.front();
  const bool consecutive = rows == 0 || lines.back() - lines.front() + 1 == static_cast<std::int64_t>(rows);
  head.flags = (block.labelled ? with_labels : 0u) | (consecutive ? 0u : with_lines);

  std::string out(sizeof(Head), 0);
  append(out, starts.data(), starts.size());
  append(out, block.labels.data(), rows);
  if (!consecutive) append(out, lines.data(), rows);
  append(out, block.indices.get(), stored);
  const double* const values = block.values.get();
  if (head.coding == bytes) append(out, std::vector<std::int8_t>(values, values + stored).data(), stored);
  if (head.coding == singles) append(out, std::vector<float>(values, values + stored).data(), stored);
  if (head.coding == doubles) append(out, values, stored);
  head.size = out.size();
  head.sum = sum_of(head, out.data());
  std::memcpy(out.data(), &head, sizeof head);
  return out;
}

PackedBlock::PackedBlock(const char* data, std::size_t size) {
  require(reinterpret_cast<std::uintptr_t>(data) % 8 == 0, "the bytes are not aligned");
  require(size >= sizeof(Head), "it ends within a block");
  Head head;
  std::memcpy(&head, data, sizeof head);
  require(std::memcmp(head.name, Head().name, sizeof head.name) == 0, "no block begins here");
  require(head.size >= sizeof(Head), "a block has an impossible size");
  require(head.size <= size, "it ends within a block");
  require(head.sum == sum_of(head, data), "the checksum of a block is wrong");

  constexpr std::uint32_t most = std::numeric_limits<std::int32_t>::max();
  require(head.coding <= doubles && head.flags <= (with_labels | with_lines) && head.rows < most &&
              head.stored <= most && head.columns <= most && head.unused[0] == 0 && head.unused[1] == 0,
          "a block is described in a way that is not known");
  const std::size_t n = head.rows, stored = head.stored;
  const bool listed = head.flags & with_lines;
  const std::size_t starts = sizeof(Head), labels = starts + rounded(4 * (n + 1)), lines = labels + rounded(4 * n),
                    indices = lines + (listed ? rounded(8 * n) : 0), values = indices + rounded(4 * stored);
  require(values + rounded(widths[head.coding] * stored) == head.size, "a block has an impossible size");
  starts_ = reinterpret_cast<const std::int32_t*>(data + starts);
  labels_ = reinterpret_cast<const std::int32_t*>(data + labels);
  lines_ = listed ? reinterpret_cast<const std::int64_t*>(data + lines) : nullptr;
  indices_ = reinterpret_cast<const Index*>(data + indices);
  rows_ = static_cast<Index>(n);
  columns_ = static_cast<Index>(head.columns);
  first_line_ = head.first_line;
  labelled_ = head.flags & with_labels;
  size_ = head.size;
  look_at_starts();
  require(starts_[rows_] == static_cast<std::int32_t>(stored), "its row starts do not fit its pairs");
  look_at_labels();
  look_at_indices();
  take_values(head.coding, data + values);
}

void PackedBlock::look_at_starts() const {
  bool good = starts_[0] == 0;
  for (Index i = 0; i < rows_; ++i) good &= starts_[i + 1] >= starts_[i];
  require(good, "its row starts do not rise");
}

void PackedBlock::look_at_labels() const {
  bool good = first_line_ >= 1 && first_line_ < std::int64_t{1} << 62;
  for (Index i = 0; i < rows_; ++i) good &= labels_[i] <= 1'000'000'000 && labels_[i] >= -1'000'000'000;
  if (lines_ != nullptr && rows_ > 0) {
    good &= lines_[0] == first_line_;
    for (Index i = 1; i < rows_; ++i) good &= lines_[i] > lines_[i - 1];
  }
  require(good, "a label or a line number is impossible");
}

void PackedBlock::look_at_indices() const {
  const auto n = static_cast<std::size_t>(stored());
  require(loops::within(indices_, n, columns_), "an index is out of range");
  // Indices may decrease only where a row begins.
  std::uint32_t allowed = 0;
  for (Index i = 1; i < rows_; ++i) {
    const std::int32_t k = starts_[i];
    if (k > starts_[i - 1] && k < starts_[rows_]) allowed += indices_[k] <= indices_[k - 1];
  }
  require(loops::falls(indices_, n) == allowed, "the indices of a row do not rise");
}

void PackedBlock::take_values(std::uint32_t coding, const char* data) {
  const auto n = static_cast<std::size_t>(stored());
  if (coding == ones) unpacked_ = some_ones(n);
  if (coding == bytes || coding == singles) unpacked_ = widened(Coding{coding}, data, n);
  values_ = coding == doubles ? reinterpret_cast<const double*>(data) : unpacked_.get();
  require(coding < singles || loops::all_finite(values_, n), "a value is not finite");
}

std::vector<std::int64_t> PackedBlock::lines() const {
  std::vector<std::int64_t> out(static_cast<std::size_t>(rows_));
  for (Index i = 0; i < rows_; ++i) out[i] = lines_ ? lines_[i] : first_line_ + i;
  return out;
}

}  // namespace lopsided
