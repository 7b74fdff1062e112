// The members of an ensemble are merged one by one, each by the rule of its kind.
#include <optional>
#include <unordered_map>

#include "matrix.hpp"
#include "rules.hpp"

namespace lopsided::merging {

namespace {

// Values followed by their gains, `members` of either, for one input.
void believe(const Merge& merge, const double* prior, const double* cap, std::size_t members, const double* before,
             auto row_of, double* out) {
  for (std::size_t i = 0; i < members; ++i) {
    const auto all = merge.believed(prior[i], before[i], [&](std::size_t k) {
      const double* row = row_of(k);
      return Merge::Belief{row[i], row[members + i]};
    });
    out[i] = all.value;
    out[members + i] = std::min(all.gain, cap[i]);
  }
}

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double ones[4] = {1, 1, 1, 1}, no_cap[4] = {inf, inf, inf, inf};
constexpr const char* trial_differs =
    "WeightedMajority: the models are not at the same point of their trial period, in which members are chosen: let "
    "one "
    "model learn from the first rows until it is over, and start the shards from that";

}  // namespace

void merge_weighted_majority(Merge& merge) {
  for (const char* name : {"narrow", "wide", "left"}) merge.same(name, trial_differs);
  for (const State& part : merge.parts)
    for (const auto& [name, entry] : part)
      if (!merge.has(name) && !name.starts_with("full.")) refuse(trial_differs);
  merge.sum("rows");
  merge.sum("values");
  merge_scaling(merge, "uncentred.");
  for (const auto& [name, entry] : merge.base)
    if (name.starts_with("missed.") || name.starts_with("alarmed.")) merge.sum(name);
  merge.average("rho");
  const auto& numbers = merge.options.numbers;
  if (numbers.at("balanced") != 0) {
    merge.sum("cost.positives");
    merge.sum("cost.negatives");
    merge.out["rho"].values = {numbers.at("odds") * (merge.out["cost.negatives"].number() + 1) /
                               (merge.out["cost.positives"].number() + 1)};
  }
  merge.rows("members", [&](std::uint32_t, const auto& rows, const double* before, double* out) {
    believe(merge, ones, no_cap, 4, before, [&](std::size_t k) { return rows[k]; }, out);
  });
  for (const std::string member : {"full.4.", "full.5."})
    if (merge.parts[0].contains(member + "mean")) merge_full(merge, member + "mean", member + "covariance");
}

void split_weighted_majority(State& state, double shards) {
  Entry& members = state.at("members");
  for (std::size_t at = 0; at < members.values.size(); ++at)
    if (at % 8 >= 4) members.values[at] /= shards;
  for (const std::string member : {"full.4.", "full.5."})
    if (state.contains(member + "mean")) split_full(state, member + "covariance", shards);
}

// Recommended --------------------------------------------------------------------------------------------------------

namespace {

constexpr std::size_t most_knots = 33, most_columns = 64, most_pairs = 1 << 16, hat_width = 8;
constexpr double low_prior[4] = {4, 1, 0.25, 1}, high_prior[4] = {1, 1, 1, 0.25};
constexpr double low_cap[4] = {inf, inf, inf, 3}, high_cap[4] = {inf, inf, 10, inf};
enum { stat_count, stat_first, stat_sum, stat_squares, stat_column, stat_width };

struct Column {
  std::size_t feature = 0;
  double mean = 0, spread = 0;
  std::vector<double> knots, sample;
  bool done = false;  // the knots are final and the sample is gone
};
struct Columns {
  std::vector<std::size_t> order;
  std::vector<Column> all;

  const Column* of(std::size_t feature) const {
    for (const Column& one : all)
      if (one.feature == feature) return &one;
    return nullptr;
  }
  std::size_t place(std::size_t feature) const { return static_cast<std::size_t>(of(feature) - all.data()); }
};

Columns columns_of(const State& state) {
  Columns out;
  const auto& from = state.at("kept.columns").values;
  std::size_t at = 0;
  const auto whole = [&] { return static_cast<std::size_t>(from[at++]); };
  const auto list = [&](std::size_t n) {
    at += n;
    return std::vector<double>(from.begin() + static_cast<std::ptrdiff_t>(at - n),
                               from.begin() + static_cast<std::ptrdiff_t>(at));
  };
  out.all.resize(whole());
  for (std::size_t k = 0; k < out.all.size(); ++k) out.order.push_back(whole());
  for (Column& one : out.all) {
    one.feature = whole();
    one.mean = from[at++];
    one.spread = from[at++];
    const std::size_t placed = whole(), sampled = whole();
    one.knots = list(placed);
    one.done = sampled == 1024;
    if (!one.done) one.sample = list(sampled);
  }
  return out;
}

std::vector<double> written(const Columns& columns) {
  std::vector<double> out{static_cast<double>(columns.all.size())};
  out.insert(out.end(), columns.order.begin(), columns.order.end());
  for (const Column& one : columns.all) {
    out.insert(out.end(),
               {static_cast<double>(one.feature), one.mean, one.spread, static_cast<double>(one.knots.size()),
                one.done ? 1024 : static_cast<double>(one.sample.size())});
    out.insert(out.end(), one.knots.begin(), one.knots.end());
    out.insert(out.end(), one.sample.begin(), one.sample.end());
  }
  return out;
}

std::vector<double> quantiles(std::vector<double> values, std::size_t intervals) {
  std::sort(values.begin(), values.end());
  std::vector<double> out;
  for (std::size_t i = 0; i <= intervals; ++i) {
    const double x = values[(i * (values.size() - 1) + intervals / 2) / intervals];
    if (out.empty() || x > out.back()) out.push_back(x);
  }
  return out;
}

// Knots that are final in a part are quantiles of its rows: those of all parts are the quantiles of the knots. As long as
// all have samples, so has the merged column.
void place_knots(Column& out, const Column* base, const std::vector<const Column*>& parts) {
  std::vector<double> pooled;
  const Column* first = nullptr;
  bool alike = true, done = false;
  for (const Column* one : parts) {
    if (!one) continue;
    if (!first) first = one;
    alike = alike && one->knots == first->knots;
    done = done || one->done;
    if (one->done) pooled.insert(pooled.end(), one->knots.begin(), one->knots.end());
  }
  const std::size_t before = base ? base->sample.size() : 0;
  if (!done && base) out.sample = base->sample;
  for (const Column* one : parts)
    if (!done && one)
      out.sample.insert(out.sample.end(), one->sample.begin() + static_cast<std::ptrdiff_t>(before), one->sample.end());
  const auto intervals = [](std::size_t n) { return n >= 1024 ? most_knots - 1 : n >= 256 ? 16 : n >= 64 ? 8 : 0; };
  const std::size_t n = out.sample.size(), wanted = intervals(n);
  if (alike && (done || wanted == intervals(first->sample.size()))) out.knots = first->knots;
  else if (done) out.knots = quantiles(std::move(pooled), most_knots - 1);
  else if (wanted) out.knots = quantiles(out.sample, wanted);
  out.done = done || n >= 1024;
  if (out.done) out.sample.clear();
}

// The weights of a part at other knots, by interpolation; its gains are shared among more of them.
std::vector<double> moved_hats(const double* hats, const std::vector<double>& from, const std::vector<double>& to) {
  std::vector<double> out(most_knots * hat_width);
  if (from == to) {
    std::copy_n(hats, out.size(), out.begin());
  } else if (from.size() >= 2) {
    const double shrink = static_cast<double>(from.size()) / static_cast<double>(to.size());
    for (std::size_t k = 0; k < to.size(); ++k) {
      const auto above = static_cast<std::size_t>(std::upper_bound(from.begin(), from.end(), to[k]) - from.begin());
      const std::size_t left = std::clamp<std::size_t>(above, 1, from.size() - 1) - 1;
      const double share = std::clamp((to[k] - from[left]) / (from[left + 1] - from[left]), 0.0, 1.0);
      const double *a = hats + left * hat_width, *b = a + hat_width;
      for (std::size_t i = 0; i < hat_width; ++i)
        out[k * hat_width + i] = (i < 4 ? 1 : shrink) * ((1 - share) * a[i] + share * b[i]);
    }
  }
  return out;
}

class AdditiveLogisticMerge {
 public:
  explicit AdditiveLogisticMerge(Merge& merge) : merge_(merge), base_(columns_of(merge.base)) {
    for (const State& part : merge.parts) parts_.push_back(columns_of(part));
  }

  void run() {
    for (const char* name : {"rows", "scale.squares", "scale.count", "positives", "negatives"}) merge_.sum(name);
    for (const char* name : {"slope", "shift", "curvature", "losses"}) merge_.average(name);
    find_columns();
    statistics();
    merge_.rows("weights", [&](std::uint32_t, const auto& rows, const double* before, double* out) {
      believe(merge_, low_prior, low_cap, 4, before, [&](std::size_t k) { return rows[k]; }, out);
      believe(merge_, high_prior, high_cap, 4, before + 8, [&](std::size_t k) { return rows[k] + 8; }, out + 8);
    });
    hats();
    order();
    merge_.start("kept.columns").values = written(columns_);
    pairs();
  }

 private:
  void find_columns() {
    const auto add = [&](const Columns& from) {
      for (const Column& one : from.all)
        if (!columns_.of(one.feature) && columns_.all.size() < most_columns)
          columns_.all.emplace_back().feature = one.feature;
    };
    add(base_);
    for (const Columns& part : parts_) add(part);
    for (Column& column : columns_.all) {
      std::vector<const Column*> found;
      std::vector<Moments> moments;
      for (std::size_t k = 0; k < merge_.size(); ++k) {
        found.push_back(parts_[k].of(column.feature));
        moments.push_back(moments_of(merge_.parts[k], found.back(), column.feature));
      }
      const Column* const before = base_.of(column.feature);
      const Moments all = merged_moments(moments_of(merge_.base, before, column.feature), moments);
      column.mean = all.mean;
      column.spread = all.spread;
      place_knots(column, before, found);
    }
  }
  // Of all rows, where zeros count; a feature that is no column yet has sums.
  static Moments moments_of(const State& state, const Column* column, std::size_t feature) {
    const double rows = state.at("rows").number();
    if (column) return {rows, column->mean, column->spread};
    const Entry& stats = state.at("features");
    const auto found = std::lower_bound(stats.rows.begin(), stats.rows.end(), feature);
    if (found == stats.rows.end() || *found != feature || !(rows > 0)) return {rows, 0, 0};
    const double* s = &stats.values[static_cast<std::size_t>(found - stats.rows.begin()) * stat_width];
    const double mean = s[stat_sum] / rows;
    return {rows, mean, std::max(0.0, s[stat_squares] - s[stat_sum] * mean)};
  }

  void statistics() {
    merge_.rows("features", [&](std::uint32_t feature, const auto& rows, const double* before, double* out) {
      double only = 0;
      bool one_value = true;
      for (const int i : {stat_count, stat_sum, stat_squares}) {
        out[i] = before[i];
        for (const double* row : rows) out[i] += row[i] - before[i];
      }
      for (const double* row : rows) {
        if (row[stat_count] == 0) continue;
        if (only == 0) only = row[stat_first];
        one_value = one_value && row[stat_first] != 0 && row[stat_first] == only;
      }
      out[stat_first] = one_value ? only : 0;
      const Column* const column = columns_.of(feature);
      out[stat_column] = column ? static_cast<double>(columns_.place(feature)) + 1 : 0;
    });
  }

  void hats() {
    auto& out = merge_.start("kept.hats").values;
    out.assign(columns_.all.size() * most_knots * hat_width, 0.0);
    std::vector<std::vector<double>> here(merge_.size());
    for (std::size_t c = 0; c < columns_.all.size(); ++c) {
      const Column& column = columns_.all[c];
      const auto in = [&](const State& state, const Columns& columns) {
        const Column* own = columns.of(column.feature);
        if (!own) return std::vector<double>(most_knots * hat_width);
        const std::size_t first = columns.place(column.feature) * most_knots * hat_width;
        return moved_hats(&state.at("kept.hats").values[first], own->knots, column.knots);
      };
      const std::vector<double> before = in(merge_.base, base_);
      for (std::size_t k = 0; k < merge_.size(); ++k) here[k] = in(merge_.parts[k], parts_[k]);
      for (std::size_t i = 0; i < column.knots.size(); ++i)
        believe(
            merge_, high_prior, high_cap, 4, &before[i * hat_width],
            [&](std::size_t k) { return &here[k][i * hat_width]; }, &out[(c * most_knots + i) * hat_width]);
    }
  }

  // Columns from the most useful on: as all parts have it or by the merged hats.
  void order() {
    const auto in_features = [](const Columns& from) {
      std::vector<std::size_t> out;
      for (const std::size_t c : from.order) out.push_back(from.all[c].feature);
      return out;
    };
    const auto first = in_features(parts_[0]);
    bool alike = first.size() == columns_.all.size();
    for (const Columns& part : parts_) alike = alike && in_features(part) == first;
    std::vector<double> useful(columns_.all.size());
    const auto& hats = merge_.out["kept.hats"].values;
    for (std::size_t c = 0; c < useful.size(); ++c) {
      columns_.order.push_back(alike ? columns_.place(first[c]) : c);
      for (std::size_t k = 0; k < most_knots; ++k) {
        const double* at = &hats[(c * most_knots + k) * hat_width];
        useful[c] += at[0] * at[0] * at[4];
      }
    }
    if (alike || merge_.out["rows"].number() < 512) return;
    std::sort(columns_.order.begin(), columns_.order.end(), [&](std::size_t a, std::size_t b) {
      return useful[a] != useful[b] ? useful[a] > useful[b] : columns_.all[a].feature < columns_.all[b].feature;
    });
  }

  // By the tokens of a pair: features, and ranges of columns, which have other numbers here.
  void pairs() {
    static constexpr double nothing[hat_width] = {};
    std::unordered_map<std::uint64_t, std::size_t> numbers;
    std::vector<std::pair<double, double>> keys;
    std::vector<std::vector<const double*>> rows;
    const auto add = [&](const State& state, const Columns& columns, std::size_t place) {
      const auto &own = state.at("kept.pairs").values, &weights = state.at("kept.pairs.weights").values;
      for (std::size_t i = 0; i + 2 <= own.size(); i += 2) {
        const auto a = token(columns, own[i]), b = token(columns, own[i + 1]);
        if (!a || !b) continue;
        const auto [low, high] = std::minmax(*a, *b);
        const auto [at, fresh] = numbers.try_emplace(std::uint64_t{low} << 32 | high, keys.size());
        if (fresh && keys.size() == most_pairs) {
          numbers.erase(at);
          continue;
        }
        if (fresh) {
          keys.emplace_back(low, high);
          rows.emplace_back(merge_.size() + 1, nothing);
        }
        rows[at->second][place] = &weights[i / 2 * hat_width];
      }
    };
    add(merge_.base, base_, merge_.size());
    for (std::size_t k = 0; k < merge_.size(); ++k) add(merge_.parts[k], parts_[k], k);
    auto &out = merge_.start("kept.pairs").values, &weights = merge_.start("kept.pairs.weights").values;
    out.clear();
    weights.assign(keys.size() * hat_width, 0.0);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      out.insert(out.end(), {keys[i].first, keys[i].second});
      believe(
          merge_, high_prior, high_cap, 4, rows[i].back(), [&](std::size_t k) { return rows[i][k]; },
          &weights[i * hat_width]);
    }
  }
  std::optional<std::uint32_t> token(const Columns& columns, double of_part) const {
    const auto token = static_cast<std::uint32_t>(of_part);
    if (token < 0x80000000u) return token;
    const std::size_t feature = columns.all[(token & 0x7fffffffu) >> 3].feature;
    if (!columns_.of(feature)) return {};
    return 0x80000000u | static_cast<std::uint32_t>(columns_.place(feature)) << 3 | (token & 7);
  }

  Merge& merge_;
  Columns base_, columns_;
  std::vector<Columns> parts_;
};

}  // namespace

void merge_additive_logistic(Merge& merge) { AdditiveLogisticMerge(merge).run(); }

void split_additive_logistic(State& state, double shards) {
  for (const char* name : {"weights", "kept.hats", "kept.pairs.weights"}) {
    auto& values = state.at(name).values;
    for (std::size_t at = 0; at < values.size(); ++at)
      if (at % 8 >= 4) values[at] /= shards;
  }
}

void move_additive_logistic(State& state, std::span<const Index> places) {
  Columns columns = columns_of(state);
  for (Column& one : columns.all) one.feature = static_cast<std::size_t>(places[one.feature]);
  state.at("kept.columns").values = written(columns);
  for (double& token : state.at("kept.pairs").values)
    if (token < 0x1p31) token = places[static_cast<std::size_t>(token)];
}

}  // namespace lopsided::merging
