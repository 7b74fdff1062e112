// From a raw row to the inputs of an additive model: linear terms, hat functions of numeric columns, and tokens, of
// which pairs are made.
//
// A feature that has had one nonzero value only is an indicator and enters as 1, however rare it is. A feature with
// several values is numeric. If it is nonzero in more than 30 % of the rows it becomes a column: it enters as a
// z-score, where zeros count, and once more through hat functions, piecewise linear between quantiles of its first
// 1,024 values (8 intervals from the first 64 values, 16 from 256). Other numeric features are divided by their root
// mean square, but differ from each other in scale by at most a factor of 4 from the average.
// Tokens are at most ten: columns, each in one of six ranges, and frequent indicators, the most useful of each first.
//
// Zeros are left out of dense rows, so every form of a row is encoded the same way.
#pragma once

#include <numeric>
#include <span>

#include "../numbers/row.hpp"
#include "../simd.hpp"
#include "../state.hpp"
#include "../stream/reasons.hpp"
#include "../validate.hpp"

LOPSIDED_ISA_BEGIN

class RowEncoder {
 public:
  static constexpr std::size_t knots = 33;  // of a column, at most
  static constexpr std::size_t max_columns = 64;

  struct Term {
    std::size_t at;  // feature, or column * knots + knot
    double value;
  };
  // A list with room for all that a row can have.
  class Terms {
   public:
    void start(std::size_t most) {
      if (room_.size() < most) room_.resize(most);
      size_ = 0;
    }
    LOPSIDED_INLINE void add(std::size_t at, double value) { room_[size_++] = {at, value}; }
    std::size_t size() const { return size_; }
    const Term* begin() const { return room_.data(); }
    const Term* end() const { return room_.data() + size_; }

   private:
    std::vector<Term> room_;
    std::size_t size_ = 0;
  };
  struct Encoded {
    Terms linear, hats;
    std::vector<std::uint32_t> tokens;
    double linear_square = 0, hats_square = 0;
    std::size_t columns = 0;  // with hats
  };
  // The knots of a column have moved: new knot k lies at `share` between the old knots `left` and `left` + 1.
  struct Moved {
    std::size_t left;
    double share;
  };

  std::size_t columns() const { return feature_.size(); }
  double rows() const { return rows_; }

  // Encodes a row as if it came next. Features from `known` on have no state; useful(j) ranks the others.
  void encode(const RowLike auto& row, Index known, Encoded& out, auto useful) const {
    out.linear.start(static_cast<std::size_t>(row.size) + columns()), out.hats.start(2 * columns());
    out.tokens.clear(), frequent_.clear(), others_.clear();
    out.linear_square = out.hats_square = 0;
    std::fill(raw_.begin(), raw_.end(), 0.0);
    each_nonzero(row, [&](Index j, double x) {
      const double* s = j < known ? stats_[static_cast<std::size_t>(j)] : unseen;
      if (s[column] > 0) raw_[static_cast<std::size_t>(s[column]) - 1] = x;
      else add_other(j, x, s, j < known, out, useful);
    });
    standardize(out);
    add_hats(out);
    add_tokens(out);
  }

  // Where a token or, of hats, a column lies.
  Place place_of_token(std::uint32_t token) const {
    if (token < 0x80000000u) return {static_cast<Index>(token)};
    const std::size_t c = (token & 0x7fffffffu) >> 3, range = token & 7, n = placed_[c];
    const auto first = (range * (n + 1) + 5) / 6, next = ((range + 1) * (n + 1) + 5) / 6;  // knots below the range
    Place out{static_cast<Index>(feature_[c])};
    if (first > 0) out.from = knots_[c * knots + first - 1];
    if (next <= n) out.below = knots_[c * knots + next - 1];
    return out;
  }
  Index feature_of_hat(std::size_t at) const { return static_cast<Index>(feature_[at / knots]); }

  // The row encoded last enters the statistics. Calls moved(column, span of Moved, shrink) where knots change.
  void absorb(auto moved) {
    ++rows_;
    std::swap(mean_, next_mean_), std::swap(spread_, next_spread_);
    if (sampling_ > 0)
      for (std::size_t c = 0; c < columns(); ++c)
        if (!sample_[c].done) sample(c, moved);
    const auto earlier = [](const Other& a, const Other& b) { return a.feature < b.feature; };
    if (!std::is_sorted(others_.begin(), others_.end(), earlier)) std::sort(others_.begin(), others_.end(), earlier);
    for (const auto& [j, x] : others_) {
      double* s = stats_[static_cast<std::size_t>(j)];
      if (s[count] == 0) s[first] = x;
      else if (s[first] != x) s[first] = 0;
      ++s[count];
      s[sum] += x;
      s[squares] += x * x;
      if (s[first] != 0) continue;
      scale_.add(x);
      if (rows_ >= 8 && s[count] > 0.3 * rows_ && columns() < max_columns) {
        begin_column(j, s, x);
        sample(columns() - 1, moved);
      }
    }
  }

  // The columns from the most useful on.
  void rank(std::span<const double> usefulness) {
    std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
      return usefulness[a] != usefulness[b] ? usefulness[a] > usefulness[b] : feature_[a] < feature_[b];
    });
  }

  const Table& features() const { return stats_; }
  void reserve(std::size_t features) { stats_.reserve(features); }
  void grow(std::size_t features) { stats_.grow(features); }
  std::size_t bytes() const { return stats_.bytes() + columns() * (knots + 1024) * sizeof(double); }

  void state(auto&& visit) {
    visit("rows", rows_);
    visit("scale.squares", scale_.squares);
    visit("scale.count", scale_.count);
    visit("features", stats_);
    std::size_t named = 0;
    each_restored(visit, stats_, [&](const double* s) {
      validate(s[count] >= 0 && s[squares] >= 0, "features");
      named += s[column] != 0;
    });
    Series all;
    write(all.values);
    visit("kept.columns", all);
    if (!restores(visit)) return;
    validate(rows_ >= 0 && rows_ < 0x1p53, "rows");
    validate(scale_.squares >= 0 && scale_.count >= 0 && std::isfinite(scale_.squares + scale_.count), "scale");
    read(all.values, named);
  }

 private:
  enum { count, first, sum, squares, column, width };  // of a feature; `first` is 0 once there are several values
  static constexpr double unseen[width] = {};

  struct Scale {  // of numeric features that are not columns
    double squares = 0, count = 0;
    void add(double x) { squares += x * x, ++count; }
    double scaled(double x, double square) const {
      const double root = std::sqrt(square), usual = std::sqrt(squares / count);
      if (!(root > 0)) return 0;
      return std::clamp(x / root, -5.0, 5.0) * (usual > 0 ? std::clamp(root / usual, 0.25, 4.0) : 1);
    }
  };
  struct Sample {  // the first values of a column, until its knots are final
    std::vector<double> values;
    bool done = false;
  };
  struct Other {
    Index feature;
    double value;
  };
  struct Frequent {
    double useful;
    Index feature;
  };

  static double bounded(double x) { return std::clamp(x, -1e100, 1e100); }
  LOPSIDED_INLINE static void each_nonzero(const SparseRow& row, auto visit) {
    for (Index k = 0; k < row.size; ++k)
      if (const double x = bounded(row.scale * row.values[k]); x != 0) visit(row.indices[k], x);
  }
  LOPSIDED_INLINE static void each_nonzero(const DenseRow& row, auto visit) {
    for (Index j = 0; j < row.size; ++j)
      if (const double x = bounded(row.scale * row.values[j]); x != 0) visit(j, x);
  }

  void add_other(Index j, double x, const double* s, bool known, Encoded& out, auto useful) const {
    const double seen = s[count] + 1;
    const bool indicator = s[count] == 0 || s[first] == x;
    const double value = indicator ? 1 : scale_.scaled(x, (s[squares] + x * x) / seen);
    out.linear_square += value * value;
    others_.push_back({j, x});
    if (!known) return;
    out.linear.add(static_cast<std::size_t>(j), value);
    if (indicator && seen >= 16 && seen * 64 >= rows_ + 1) frequent_.push_back({useful(j), j});
  }

  void standardize(Encoded& out) const {
    const std::size_t n = columns();
    const double over = 1 / (rows_ + 1);
    const double* __restrict x = raw_.data(), * __restrict mean = mean_.data(), * __restrict spread = spread_.data();
    double* __restrict next = next_mean_.data(), * __restrict next_spread = next_spread_.data();
    double* __restrict z = z_.data();
    for (std::size_t c = 0; c < n; ++c) {
      const double away = x[c] - mean[c];
      next[c] = mean[c] + away * over;
      next_spread[c] = spread[c] + away * (x[c] - next[c]);
      const double variance = next_spread[c] * over, found = (x[c] - next[c]) / std::sqrt(variance);
      const double score = variance > 0 ? found : 0;
      z[c] = score < -5 ? -5 : score > 5 ? 5 : score;
    }
    for (std::size_t c = 0; c < n; ++c) {
      out.linear.add(feature_[c], z[c]);
      out.linear_square += z[c] * z[c];
    }
  }

  // How many knots are at or below x. Knots that are not there are infinite.
  LOPSIDED_INLINE static std::size_t below(const double* at, double x) {
    std::int64_t found = 0;
    for (std::size_t k = 0; k < knots - 1; ++k) found += at[k] <= x;
    return static_cast<std::size_t>(found) + (at[knots - 1] <= x);
  }

  void add_hats(Encoded& out) const {
    out.columns = 0;
    for (std::size_t c = 0; c < columns(); ++c) {
      const std::size_t n = placed_[c], at = c * knots;
      range_[c] = -1;
      if (n < 2) continue;
      const double* k = knots_.data() + at;
      const std::size_t above = below(k, raw_[c]), low = above == 0 ? 0 : above - 1, high = above < n ? above : n - 1;
      ++out.columns;
      range_[c] = static_cast<int>(above * 6 / (n + 1));
      if (low == high) {
        out.hats.add(at + low, 1);
        out.hats_square += 1;
      } else {
        const double share = (raw_[c] - k[low]) / (k[high] - k[low]);
        out.hats.add(at + low, 1 - share);
        out.hats.add(at + high, share);
        out.hats_square += share * share + (1 - share) * (1 - share);
      }
    }
  }

  void add_tokens(Encoded& out) const {
    constexpr std::size_t most = 10;
    const std::size_t indicators = frequent_.size();
    const std::size_t for_columns = std::min(out.columns, most - std::min(indicators, most / 2));
    for (const std::uint32_t c : order_) {
      if (out.tokens.size() == for_columns) break;
      if (range_[c] >= 0) out.tokens.push_back(0x80000000u | c << 3 | static_cast<std::uint32_t>(range_[c]));
    }
    const std::size_t rest = std::min(indicators, most - out.tokens.size());
    const auto more = [](const Frequent& a, const Frequent& b) {
      return a.useful != b.useful ? a.useful > b.useful : a.feature < b.feature;
    };
    std::partial_sort(frequent_.begin(), frequent_.begin() + static_cast<std::ptrdiff_t>(rest), frequent_.end(), more);
    for (std::size_t k = 0; k < rest; ++k) out.tokens.push_back(static_cast<std::uint32_t>(frequent_[k].feature));
  }

  // `s` has this row already, and so has the column.
  [[gnu::noinline]] void begin_column(Index feature, double* s, double x) {
    const double mean = s[sum] / rows_, spread = s[squares] - s[sum] * mean;
    feature_.push_back(static_cast<std::size_t>(feature));
    mean_.push_back(mean), spread_.push_back(std::max(0.0, spread));
    order_.push_back(static_cast<std::uint32_t>(columns() - 1));
    placed_.push_back(0);
    knots_.resize(columns() * knots, inf);
    sample_.emplace_back();
    ++sampling_;
    size_scratch();
    s[column] = static_cast<double>(columns());
    raw_.back() = x;
  }
  void size_scratch() {
    for (auto* values : {&raw_, &next_mean_, &next_spread_, &z_}) values->resize(columns());
    range_.resize(columns());
  }

  void sample(std::size_t c, auto moved) {
    std::vector<double>& values = sample_[c].values;
    values.push_back(raw_[c]);
    const std::size_t n = values.size();
    if (n == 64) place_knots(c, 8, moved);
    else if (n == 256) place_knots(c, 16, moved);
    else if (n == 1024) {
      place_knots(c, 32, moved);
      sample_[c] = {{}, true};
      --sampling_;
    }
  }
  [[gnu::noinline]] void place_knots(std::size_t c, std::size_t intervals, auto moved) {
    std::vector<double> sorted = sample_[c].values, next;
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 0; i <= intervals; ++i) {
      const double x = sorted[(i * (sorted.size() - 1) + intervals / 2) / intervals];
      if (next.empty() || x > next.back()) next.push_back(x);
    }
    double* const old = knots_.data() + c * knots;
    const std::size_t before = placed_[c];
    std::vector<Moved> from;
    for (std::size_t k = 0; k < next.size() && before > 1; ++k) {
      const std::size_t left = std::clamp<std::size_t>(below(old, next[k]), 1, before - 1) - 1;
      from.push_back({left, std::clamp((next[k] - old[left]) / (old[left + 1] - old[left]), 0.0, 1.0)});
    }
    placed_[c] = next.size();
    std::copy(next.begin(), next.end(), old);
    std::fill(old + next.size(), old + knots, inf);
    moved(c, std::span<const Moved>(from), static_cast<double>(before) / static_cast<double>(next.size()));
  }

  void write(std::vector<double>& out) const {
    out.push_back(static_cast<double>(columns()));
    out.insert(out.end(), order_.begin(), order_.end());
    for (std::size_t c = 0; c < columns(); ++c) {
      const auto& values = sample_[c].values;
      out.insert(out.end(), {static_cast<double>(feature_[c]), mean_[c], spread_[c], static_cast<double>(placed_[c]),
                             static_cast<double>(sample_[c].done ? 1024 : values.size())});
      out.insert(out.end(), knots_.begin() + static_cast<std::ptrdiff_t>(c * knots),
                 knots_.begin() + static_cast<std::ptrdiff_t>(c * knots + placed_[c]));
      out.insert(out.end(), values.begin(), values.end());
    }
  }
  void read(std::span<const double> from, std::size_t named) {
    const auto check = [](bool valid) { validate(valid, "kept.columns"); };
    const auto list = [&](std::size_t n) {
      check(from.size() >= n);
      const auto out = from.first(n);
      check(all_finite(out));
      from = from.subspan(n);
      return out;
    };
    const auto whole = [&](std::size_t limit) {
      const double v = list(1)[0];
      check(is_whole(v, static_cast<double>(limit)));
      return static_cast<std::size_t>(v);
    };
    RowEncoder read;
    const std::size_t n = whole(max_columns + 1);
    std::vector<bool> met(n);
    for (std::size_t k = 0; k < n; ++k) {
      const std::size_t c = whole(n);
      check(!met[c]);
      met[c] = true;
      read.order_.push_back(static_cast<std::uint32_t>(c));
    }
    for (std::size_t c = 0; c < n; ++c) {
      const std::size_t feature = whole(stats_.size());
      check(stats_[feature][column] == static_cast<double>(c + 1));
      read.feature_.push_back(feature);
      const auto moments = list(2);
      check(moments[1] >= 0);
      read.mean_.push_back(moments[0]), read.spread_.push_back(moments[1]);
      const std::size_t placed = whole(knots + 1), sampled = whole(1025);
      const auto at = list(placed);
      check(std::adjacent_find(at.begin(), at.end(), std::greater_equal<>()) == at.end());
      read.placed_.push_back(placed);
      read.knots_.resize((c + 1) * knots, inf);
      std::copy(at.begin(), at.end(), read.knots_.end() - knots);
      const bool done = sampled == 1024;
      const auto values = list(done ? 0 : sampled);
      read.sample_.push_back({{values.begin(), values.end()}, done});
      read.sampling_ += !done;
    }
    check(from.empty());
    check(named == n);
    read.size_scratch();
    read.stats_ = std::move(stats_);
    read.rows_ = rows_, read.scale_ = scale_;
    *this = std::move(read);
  }

  static constexpr double inf = std::numeric_limits<double>::infinity();

  double rows_ = 0;
  Scale scale_;
  Table stats_{width};
  // Of each column.
  std::vector<std::size_t> feature_, placed_;  // its feature; how many knots it has
  std::vector<double> mean_, spread_, knots_;
  std::vector<Sample> sample_;
  std::size_t sampling_ = 0;  // columns whose knots are not final
  std::vector<std::uint32_t> order_;  // columns from the most useful on

  // Of the row encoded last.
  mutable std::vector<double> raw_, next_mean_, next_spread_, z_;
  mutable std::vector<int> range_;
  mutable std::vector<Other> others_;  // values of features that are no columns
  mutable std::vector<Frequent> frequent_;
};

LOPSIDED_ISA_END
