// Any bytes as a block of a cache, and any text packed: a block that is taken holds rows that the
// parser could have made, and text comes back to the bit.
#include "../core/input/row_cache.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace lopsided;

namespace {

void require(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "not so: %s\n", what);
  std::abort();
}

// A copy of just the right size, where any step beyond it is seen.
struct Copy {
  explicit Copy(std::string_view bytes) : words(new std::uint64_t[bytes.size() / 8]), size(bytes.size() / 8 * 8) {
    std::memcpy(words.get(), bytes.data(), size);
  }
  const char* data() const { return reinterpret_cast<const char*>(words.get()); }
  std::unique_ptr<std::uint64_t[]> words;
  std::size_t size;
};

void look_at(const PackedBlock& block) {
  const Rows rows = block.as_rows(0);
  Scratch scratch;
  const std::vector<std::int64_t> lines = block.lines();
  for (Index i = 0; i < block.rows(); ++i) {
    require(lines[i] >= 1 && (i == 0 || lines[i] > lines[i - 1]), "lines rise");
    for (std::int32_t k = block.starts()[i]; k < block.starts()[i + 1]; ++k) {
      const Index index = block.indices()[k];
      require(index >= 0 && index < block.columns(), "columns in range");
      require(k == block.starts()[i] || block.indices()[k - 1] < index, "columns in order");
      require(std::isfinite(block.values()[k]), "values are finite");
    }
    require(rows.row<SparseRow>(static_cast<Count>(i), scratch).size == block.starts()[i + 1] - block.starts()[i],
            "rows are whole");
  }
}

bool take(std::string_view bytes) {
  const Copy copy(bytes);
  try {
    look_at({copy.data(), copy.size});
    return true;
  } catch (const std::invalid_argument&) {
    return false;
  } catch (const DataError&) {  // a row whose square is too large
    return true;
  }
}

// Makes size and checksum right, so that what comes after them is seen.
void make_right(std::string& bytes) {
  bytes.resize(std::max<std::size_t>(bytes.size() / 64 * 64, 64));
  std::memcpy(bytes.data(), "rows", 4);
  const std::uint64_t size = bytes.size();
  std::memcpy(bytes.data() + 32, &size, 8);
  std::memset(bytes.data() + 48, 0, 16);
  const std::uint64_t sum = checksum(bytes.data() + 64, size - 64, checksum(bytes.data(), 40));
  std::memcpy(bytes.data() + 40, &sum, 8);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 4) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 4, size - 4);
  take(text);
  std::string right = text;
  make_right(right);
  take(right);

  LibsvmOptions options;
  options.base = data[0] & 1;
  options.labels_required = data[0] & 2;
  options.bad_allowed = 1000;
  const LibsvmBlock block = parse_libsvm(text, 1, options);
  std::string bytes = pack(block, data[1]);
  const Copy copy(bytes);
  const PackedBlock back(copy.data(), copy.size);
  require(back.size() == bytes.size() && back.labelled() == block.labelled && back.columns() == block.columns,
          "a block says what it was made of");
  std::vector<std::int64_t> lines = back.lines();
  for (std::int64_t& line : lines) line -= data[1];
  require(lines == block.lines, "lines come back");
  const auto n = static_cast<std::size_t>(block.starts.back());
  require(std::equal(block.starts.begin(), block.starts.end(), back.starts()), "starts come back");
  require(std::equal(block.labels.begin(), block.labels.end(), back.labels()), "labels come back");
  require(n == 0 || (std::memcmp(block.indices.get(), back.indices(), n * sizeof(Index)) == 0 &&
                     std::memcmp(block.values.get(), back.values(), n * sizeof(double)) == 0),
          "pairs come back to the bit");

  // One changed bit is seen; with the checksum made right again it does no harm.
  bytes[(data[2] + 256u * data[3]) % bytes.size()] ^= static_cast<char>(1 << data[0] % 8);
  require(!take(bytes), "a changed bit is seen");
  make_right(bytes);
  take(bytes);
  return 0;
}
