#include "libsvm_avx2.hpp"

#include "../simd.hpp"
#include "libsvm_shapes.hpp"

#if defined(__x86_64__)

#include <x86intrin.h>

#define LOPSIDED_AVX2 "avx2,bmi,popcnt"
#define LOPSIDED_AVX512 LOPSIDED_AVX2 ",avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2"

bool lopsided::FastRows::possible() { return simd::has_avx2; }

LOPSIDED_TARGET_BEGIN(LOPSIDED_AVX2)
namespace lopsided {

namespace {

// One bit for each of 64 bytes.
struct Marks {
  std::uint64_t blanks = 0, colons = 0, newlines = 0;
};

// Indexed by the low four bits of a byte. Where the table has 0, only the byte 0 could match, and that one looks up
// the blank.
[[gnu::always_inline]] inline __m128i table_of_blanks() {
  return _mm_setr_epi8(' ', 0, 0, 0, 0, 0, 0, 0, 0, '\t', '\n', 0, 0, '\r', 0, 0);
}

// `marks` finds the bits; `places` writes their positions, rounded up to a full group, and returns the end of the
// real ones.
struct Avx2 {
  static Marks marks(const char* p) {
    const __m256i blanks = _mm256_broadcastsi128_si256(table_of_blanks());
    Marks out;
    for (int half = 0; half < 2; ++half) {
      const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + 32 * half));
      const auto bits = [&](__m256i same) __attribute__((always_inline)) {
        return static_cast<std::uint64_t>(static_cast<std::uint32_t>(_mm256_movemask_epi8(same))) << (32 * half);
      };
      out.blanks |= bits(_mm256_cmpeq_epi8(_mm256_shuffle_epi8(blanks, x), x));
      out.colons |= bits(_mm256_cmpeq_epi8(x, _mm256_set1_epi8(':')));
      out.newlines |= bits(_mm256_cmpeq_epi8(x, _mm256_set1_epi8('\n')));
    }
    return out;
  }
  static std::uint32_t* places(std::uint64_t bits, std::uint32_t at, std::uint32_t* out) {
    std::uint32_t* const end = out + std::popcount(bits);
    do {
      for (int k = 0; k < 6; ++k, bits = _blsr_u64(bits))
        *out++ = at + static_cast<std::uint32_t>(
                          _tzcnt_u64(bits));  // branchless: bits that are already 0 write a position that is ignored
    } while (bits != 0);
    return end;
  }
};

LOPSIDED_TARGET_END
LOPSIDED_TARGET_BEGIN(LOPSIDED_AVX512)
// Masked intrinsics with all mask bits set: GCC 12 warns about its own unmasked ones.
struct Avx512 {
  static Marks marks(const char* p) {
    const __m512i x = _mm512_loadu_si512(p);
    const __m512i blanks = _mm512_maskz_broadcast_i32x4(0xffff, table_of_blanks());
    return {_mm512_cmpeq_epi8_mask(_mm512_shuffle_epi8(blanks, x), x), _mm512_cmpeq_epi8_mask(x, _mm512_set1_epi8(':')),
            _mm512_cmpeq_epi8_mask(x, _mm512_set1_epi8('\n'))};
  }
  static std::uint32_t* places(std::uint64_t bits, std::uint32_t at, std::uint32_t* out) {
    alignas(64) static constexpr auto numbers = [] {
      std::array<unsigned char, 64> out{};
      for (int k = 0; k < 64; ++k) out[k] = static_cast<unsigned char>(k);
      return out;
    }();
    std::uint32_t* const end = out + std::popcount(bits);
    __m512i found = _mm512_maskz_compress_epi8(bits, _mm512_load_si512(numbers.data()));
    do {
      const __m512i some = _mm512_maskz_cvtepu8_epi32(0xffff, _mm512_maskz_extracti32x4_epi32(0xf, found, 0));
      _mm512_storeu_si512(out, _mm512_add_epi32(some, _mm512_set1_epi32(static_cast<int>(at))));
      found = _mm512_maskz_alignr_epi64(0xff, found, found, 2);
      out += 16;
    } while (out < end);
    return end;
  }
};
LOPSIDED_TARGET_END
LOPSIDED_TARGET_BEGIN(LOPSIDED_AVX2)

// All ones where lane k of eight is below n.
[[gnu::always_inline]] inline __m256i below(Index n) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

[[gnu::always_inline]] inline __m256i load(const std::uint32_t* p) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
}

// Same bits as sparse_square, given the sum of squares of all full groups of four.
[[gnu::always_inline]] inline double total(__m256d squares, const double* values, Index n) {
  double lane[4];
  _mm256_storeu_pd(lane, squares);
  for (Index k = n & ~3; k < n; ++k) lane[0] += values[k] * values[k];
  return (lane[0] + lane[1]) + (lane[2] + lane[3]);
}

// The pairs of a line.
struct Words {
  const char* text;
  const std::uint32_t *ends, *colons;
  std::size_t size;
};

// Reads a line of compact pairs; only the order of its indices is left to check. Without `signs` a minus sign fails.
template <bool signs>
bool read_compact(const Words& words, Index base, Index* indices, double* values, double& square) {
  const char* const text = words.text;
  const std::uint32_t *const ends = words.ends, *const colons = words.colons;
  const auto n = static_cast<Index>(words.size);
  const __m256i zeros = _mm256_set1_epi8('0'), tens = _mm256_set1_epi16(0x010a),
                hundreds = _mm256_set1_epi32(0x00010064), myriads = _mm256_set1_epi32(0x00012710),
                nine = _mm256_set1_epi8(9), apart = _mm256_setr_epi32(0, 4, 2, 6, 1, 5, 3, 7);
  const __m128i first_index = _mm_set1_epi32(base);
  __m256i largest = nine;
  __m256d squares = _mm256_setzero_pd();
  struct Pair {
    __m128i bytes;
    const double *index, *value;  // entries of the shape tables
  };
  const auto pair = [&](Index k) __attribute__((always_inline)) {
    const std::size_t before = ends[k], colon = colons[k], end = ends[k + 1];
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text + end - 16));
    const std::size_t negative = signs && text[colon + 1] == '-';
    const auto dots = static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('.'))));
    const auto place = static_cast<unsigned>(_bit_scan_reverse(static_cast<int>(2 * dots + 1)));
    return Pair{bytes, &compact_indices[compact_index(end - colon, colon - before)],
                &compact_shapes[compact_shape(end - colon, negative, place)]};
  };
  const auto both = [](__m128i low, __m128i high) __attribute__((always_inline)) {
    return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
  };
  const auto load_two = [](const double* low, const double* high)
                            __attribute__((always_inline)) { return _mm_loadh_pd(_mm_load_sd(low), high); };
  struct Two {
    __m256i fours;  // groups of four digits
    __m128d divisors;
  };
  const auto two = [&](Index first, Index second) __attribute__((always_inline)) {
    const Pair a = pair(first), b = pair(second);
    const __m256i control =
        both(_mm_castpd_si128(load_two(a.index, a.value)), _mm_castpd_si128(load_two(b.index, b.value)));
    const __m256i digits = _mm256_shuffle_epi8(_mm256_sub_epi8(both(a.bytes, b.bytes), zeros), control);
    largest = _mm256_max_epu8(largest, digits);
    return Two{_mm256_madd_epi16(_mm256_maddubs_epi16(digits, tens), hundreds), load_two(a.value + 1, b.value + 1)};
  };
  const auto read = [&](Index k, const Two& first, const Two& second) __attribute__((always_inline)) {
    const __m256i eights = _mm256_madd_epi16(_mm256_packus_epi32(first.fours, second.fours), myriads);
    const __m256i parts = _mm256_permutevar8x32_epi32(eights, apart);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(indices + k),
                     _mm_sub_epi32(_mm256_castsi256_si128(parts), first_index));
    const __m256d quotients = _mm256_div_pd(_mm256_cvtepi32_pd(_mm256_extracti128_si256(parts, 1)),
                                            _mm256_set_m128d(second.divisors, first.divisors));
    _mm256_storeu_pd(values + k, quotients);
    return _mm256_mul_pd(quotients, quotients);
  };
  Index k = 0;
  for (; k + 4 <= n; k += 4) {
    const Two first = two(k, k + 1);
    squares = _mm256_add_pd(squares, read(k, first, two(k + 2, k + 3)));
  }
  if (k < n) {  // pad with the last pair
    const Two first = two(k, std::min(k + 1, n - 1));
    read(k, first, two(std::min(k + 2, n - 1), n - 1));
  }
  square = total(squares, values, n);
  return _mm256_movemask_epi8(_mm256_cmpeq_epi8(largest, nine)) == -1;
}

// With `mixed` a value of another notation is listed as odd, without it the row is refused.
template <bool mixed>
[[gnu::always_inline]] inline bool read_digits(const Words& words, FastRows::Numbers& numbers) {
  numbers.odd.clear();
  const char* const text = words.text;
  const std::uint32_t *const ends = words.ends, *const colons = words.colons;
  const std::size_t size = words.size;
  double* const divisors = numbers.divisors.data();
  std::uint32_t *const values = numbers.values.data(), *const indices = numbers.indices.data();
  const __m256i zeros = _mm256_set1_epi8('0'), tens = _mm256_set1_epi16(0x010a),
                hundreds = _mm256_set1_epi32(0x00010064), myriads = _mm256_set1_epi32(0x00012710);
  const __m256i nine = _mm256_set1_epi8(9);
  __m256i largest = nine;
  const auto bytes = [](const void* p)
                         __attribute__((always_inline)) { return _mm_loadu_si128(static_cast<const __m128i*>(p)); };
  const auto both = [](__m128i low, __m128i high) __attribute__((always_inline)) {
    return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
  };
  // Value and index of a pair, in groups of four digits.
  const auto fours = [&](std::size_t k) __attribute__((always_inline)) {
    const std::size_t before = ends[k], colon = colons[k], end = ends[k + 1];
    const __m128i value = bytes(text + end - 16);
    const std::size_t negative = text[colon + 1] == '-';
    const std::size_t length = end - colon - 1 - negative;
    const auto dots = static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(value, _mm_set1_epi8('.'))));
    const auto place = static_cast<unsigned>(_bit_scan_reverse(static_cast<int>(2 * dots + 1)));
    const __m128i index_control = bytes(index_shapes[colon - before - 1].data());
    const __m256i both_digits = _mm256_sub_epi8(both(value, bytes(text + colon - 16)), zeros);
    const Shape* shape;
    if constexpr (mixed) {
      shape = length <= longest ? &shapes[length][place] : long_shape(text + end - length, length);
      if (shape != nullptr) {
        const __m128i digits = _mm_shuffle_epi8(_mm256_castsi256_si128(both_digits), bytes(shape->control.data()));
        const __m128i most = _mm256_castsi256_si128(nine);
        if (_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_max_epu8(digits, most), most)) != 0xffff) shape = nullptr;
      }
      if (shape == nullptr) {
        numbers.odd.push_back(static_cast<std::uint32_t>(k));
        shape = &no_shape;
      }
    } else {
      shape = &shapes[length][place];
    }
    divisors[k] = shape->divisor[negative];
    const __m256i digits = _mm256_shuffle_epi8(both_digits, both(bytes(shape->control.data()), index_control));
    largest = _mm256_max_epu8(largest, digits);
    return _mm256_madd_epi16(_mm256_maddubs_epi16(digits, tens), hundreds);
  };
  const auto store = [&](std::size_t k, __m256i first, __m256i second) __attribute__((always_inline)) {
    const __m256i eights = _mm256_madd_epi16(_mm256_packus_epi32(first, second), myriads);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(values + 2 * k), _mm256_castsi256_si128(eights));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(indices + 2 * k), _mm256_extracti128_si256(eights, 1));
  };
  std::size_t k = 0;
  for (; k + 1 < size; k += 2) {
    const __m256i first = fours(k);
    store(k, first, fours(k + 1));
  }
  if (k < size) store(k, fours(k), _mm256_setzero_si256());
  return _mm256_movemask_epi8(_mm256_cmpeq_epi8(largest, nine)) == -1;
}

}  // namespace

FastRows::FastRows(std::string_view text, const LibsvmOptions& options)
    : text_(text), options_(options), wide_(!options.narrow && simd::has_avx512) {}

bool FastRows::read(const char* p, Index* indices, double* values, Row& row) {
  if (p < pause_) return false;
  if (next_ == lines_.size()) {
    if (2 * found_ < lines_.size()) {  // most lines fall back: stop trying for a while
      pause_ = p + 15 * std::min<std::ptrdiff_t>(reach_, (text_.data() + text_.size() - p) / 15);
      lines_.clear();
      next_ = found_ = 0;
      return read(p, indices, values, row);
    }
    scan(p);
    const auto left = static_cast<std::size_t>(text_.data() + text_.size() - p);
    while (lines_.empty()) {  // a line longer than the window, or the last one without a newline
      if (left <= reach_) return false;
      reach_ *= 2;
      scan(p);
    }
  }
  const Line last = next_ == 0 ? Line{} : lines_[next_ - 1];
  const Line line = lines_[next_++];
  const std::uint32_t* const ends = ends_.get() + last.ends;
  const std::uint32_t* const colons = colons_.get() + last.colons;
  const auto n = static_cast<Index>(line.colons - last.colons);
  if (line.ends - last.ends != line.colons - last.colons + 1) return false;
  if (p - text_.data() < 16) return false;  // 16-byte loads end at a number and begin before it
  // Ten characters hold at most eight digits only if one is a sign.
  const Lengths lengths = classify_lengths(ends, colons, n, signs_ ? longest_compact : longest_compact - 1);
  if (lengths == Lengths::bad || !read_label(p, window_ + ends[0], row.label)) return false;
  row.size = n;
  row.end = window_ + line.newline;
  // Try the form of the previous row first.
  const auto compact = [&] {
    const Words words{window_, ends, colons, static_cast<std::size_t>(n)};
    signs_ = signs_ || !read_compact<false>(words, options_.base, indices, values, row.square);
    return !signs_ || read_compact<true>(words, options_.base, indices, values, row.square);
  };
  if (!with_odd_ && lengths == Lengths::compact && compact()) {
    if (!in_order(indices, n)) return false;
    ++found_;
    return true;
  }
  const bool read = !with_odd_ && lengths != Lengths::some_long && read_plain(ends, colons, n);
  if (!read && !read_mixed(ends, colons, n)) return false;
  with_odd_ = !numbers_.odd.empty();
  row.square = finish_values(values, n);
  if (!read_odd(ends, colons, values)) return false;
  if (with_odd_) row.square = sparse_square(values, n);
  finish_indices(indices, n);
  if (!in_order(indices, n)) return false;
  found_ += 4 * numbers_.odd.size() <= static_cast<std::size_t>(n);
  return true;
}

void FastRows::scan(const char* p) { wide_ ? scan_avx512(p) : scan_avx2(p); }
[[gnu::flatten]] void FastRows::scan_avx2(const char* p) { scan_with<Avx2>(p); }
LOPSIDED_TARGET_END
LOPSIDED_TARGET_BEGIN(LOPSIDED_AVX512)
[[gnu::flatten]] void FastRows::scan_avx512(const char* p) { scan_with<Avx512>(p); }
LOPSIDED_TARGET_END
LOPSIDED_TARGET_BEGIN(LOPSIDED_AVX2)

template <class Machine>
void FastRows::scan_with(const char* p) {
  const auto size = std::min<std::size_t>(reach_, text_.data() + text_.size() - p);
  if (room_ < reach_) {
    room_ = reach_;
    ends_ = std::make_unique_for_overwrite<std::uint32_t[]>(room_ + 64);
    colons_ = std::make_unique_for_overwrite<std::uint32_t[]>(room_ + 64);
  }
  lines_.clear();
  window_ = p;
  next_ = found_ = 0;
  std::uint32_t *ends = ends_.get(), *colons = colons_.get();
  std::uint64_t before = 1;  // the byte before the window is a blank or a newline
  for (std::size_t at = 0; at < size; at += 64) {
    Marks found;
    if (size - at >= 64) {
      found = Machine::marks(p + at);
    } else {
      char rest[64] = {};
      std::memcpy(rest, p + at, size - at);
      found = Machine::marks(rest);
    }
    const std::uint64_t word_ends = found.blanks & ~(found.blanks << 1 | before);
    before = found.blanks >> 63;
    for (std::uint64_t bits = found.newlines; bits != 0; bits &= bits - 1) {
      const std::uint64_t up_to = bits ^ (bits - 1);
      lines_.push_back({static_cast<std::uint32_t>(at) + std::countr_zero(bits),
                        static_cast<std::uint32_t>(ends - ends_.get()) + std::popcount(word_ends & up_to),
                        static_cast<std::uint32_t>(colons - colons_.get()) + std::popcount(found.colons & up_to)});
    }
    ends = Machine::places(word_ends, static_cast<std::uint32_t>(at), ends);
    colons = Machine::places(found.colons, static_cast<std::uint32_t>(at), colons);
  }
}

bool FastRows::read_label(const char* p, const char* end, std::int32_t& label) const {
  if (end - p == 1 && is_digit(*p)) {
    label = *p - '0';
    return true;
  }
  if (end - p == 2 && (*p == '-' || *p == '+') && is_digit(p[1])) {
    label = *p == '-' ? '0' - p[1] : p[1] - '0';
    return true;
  }
  double number = 0;
  if (read_number(p, end, number) != end || number != std::trunc(number) || std::abs(number) > 1e9) return false;
  label = static_cast<std::int32_t>(number);
  return true;
}

// If no length is bad, every word but the first has its colon.
FastRows::Lengths FastRows::classify_lengths(const std::uint32_t* ends, const std::uint32_t* colons, Index n,
                                             int compact) {
  __m256i index = _mm256_setzero_si256(), value = index, pair = index;  // lengths plus one
  const auto look = [&](Index k, auto length) __attribute__((always_inline)) {
    const __m256i before = load(ends + k), colon = load(colons + k), end = load(ends + k + 1);
    index = _mm256_max_epu32(index, length(before, colon));
    value = _mm256_max_epu32(value, length(colon, end));
    pair = _mm256_max_epu32(pair, length(before, end));
  };
  const auto length = [](__m256i from, __m256i to)
                          __attribute__((always_inline)) { return _mm256_sub_epi32(to, from); };
  Index k = 0;
  for (; k + 8 <= n; k += 8) look(k, length);
  const __m256i left = below(n - k);
  look(k, [&](__m256i from, __m256i to)
              __attribute__((always_inline)) { return _mm256_and_si256(length(from, to), left); });
  const auto within = [](__m256i lengths, int most) __attribute__((always_inline)) {
    const __m256i limit = _mm256_set1_epi32(most + 1);
    return _mm256_movemask_epi8(_mm256_cmpeq_epi32(_mm256_max_epu32(lengths, limit), limit)) == -1;
  };
  if (!within(index, longest_index) || !within(value, 1000)) return Lengths::bad;
  if (within(pair, 16) && within(value, compact)) return Lengths::compact;
  return within(value, longest) ? Lengths::plain : Lengths::some_long;
}

bool FastRows::read_plain(const std::uint32_t* ends, const std::uint32_t* colons, Index n) {
  make_room(n);
  return read_digits<false>({window_, ends, colons, static_cast<std::size_t>(n)}, numbers_);
}

bool FastRows::read_mixed(const std::uint32_t* ends, const std::uint32_t* colons, Index n) {
  make_room(n);
  return read_digits<true>({window_, ends, colons, static_cast<std::size_t>(n)}, numbers_);
}

void FastRows::make_room(Index n) {
  const auto size = static_cast<std::size_t>(n);
  if (numbers_.divisors.size() >= size + 8) return;
  numbers_.divisors.resize(2 * size + 16);
  numbers_.values.resize(4 * size + 32);
  numbers_.indices.resize(4 * size + 32);
}

bool FastRows::read_odd(const std::uint32_t* ends, const std::uint32_t* colons, double* values) const {
  for (const std::uint32_t k : numbers_.odd) {
    const char *const value = window_ + colons[k] + 1, *const end = window_ + ends[k + 1];
    if (value == end || read_number(value, end, values[k]) != end || !std::isfinite(values[k])) return false;
  }
  return true;
}

double FastRows::finish_values(double* values, Index n) const {
  const __m256i low = _mm256_set1_epi64x(0xffffffff);
  const __m256d two52 = _mm256_set1_pd(0x1p52);
  const auto to_double = [&](__m256i whole) __attribute__((always_inline)) {
    return _mm256_sub_pd(_mm256_castsi256_pd(_mm256_or_si256(whole, _mm256_castpd_si256(two52))), two52);
  };
  __m256d squares = _mm256_setzero_pd();
  for (Index k = 0; k < n; k += 4) {
    const __m256i parts = load(numbers_.values.data() + 2 * k);
    const __m256d front = to_double(_mm256_and_si256(parts, low));
    const __m256d back = to_double(_mm256_srli_epi64(parts, 32));
    const __m256d mantissa = _mm256_add_pd(_mm256_mul_pd(front, _mm256_set1_pd(1e8)), back);
    // Only sixteen digits without a dot are rounded here (and divided by 1); any other mantissa is exact.
    const __m256d quotient = _mm256_div_pd(mantissa, _mm256_loadu_pd(numbers_.divisors.data() + k));
    _mm256_storeu_pd(values + k, quotient);
    if (k + 4 <= n) squares = _mm256_add_pd(squares, _mm256_mul_pd(quotient, quotient));
  }
  return total(squares, values, n);
}

void FastRows::finish_indices(Index* indices, Index n) const {
  const __m256i base = _mm256_set1_epi32(options_.base);
  for (Index k = 0; k < n; k += 8) {
    const auto part = [&](Index at) __attribute__((always_inline)) {
      return _mm256_castsi256_ps(load(numbers_.indices.data() + 2 * at));
    };
    const __m256i mixed = _mm256_castps_si256(_mm256_shuffle_ps(part(k), part(k + 4), 0xdd));
    const __m256i now = _mm256_sub_epi32(_mm256_permute4x64_epi64(mixed, 0xd8), base);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(indices + k), now);
  }
}

bool FastRows::in_order(const Index* indices, Index n) const {
  if (n == 0) return true;
  const auto rises = [&](Index at) __attribute__((always_inline)) {
    const auto* const p = reinterpret_cast<const std::uint32_t*>(indices) + at;
    return _mm256_cmpgt_epi32(load(p), load(p - 1));
  };
  __m256i all = _mm256_set1_epi32(-1);
  Index k = 1;
  for (; k + 8 <= n; k += 8) all = _mm256_and_si256(all, rises(k));
  if (k < n) all = _mm256_andnot_si256(_mm256_andnot_si256(rises(k), below(n - k)), all);
  return _mm256_movemask_epi8(all) == -1 && indices[0] >= 0 && indices[n - 1] < options_.max_features;
}

}  // namespace lopsided
LOPSIDED_TARGET_END

#else

namespace lopsided {

bool FastRows::possible() { return false; }
FastRows::FastRows(std::string_view text, const LibsvmOptions& options)
    : text_(text), options_(options), wide_(false) {}
bool FastRows::read(const char*, Index*, double*, Row&) { return false; }

}  // namespace lopsided

#endif
