// Learners of the area under the ROC curve: class statistics are summed exactly, reservoirs are sampled again.
#include "../numbers/random.hpp"
#include "matrix.hpp"
#include "rules.hpp"

namespace lopsided::merging {

// Means and scatters about the mean of the base, as for scaling.
void merge_opauc(Merge& merge) {
  merge.weights("weights");
  for (const std::string side : {"negatives.", "positives."}) {
    const std::string weight = side + "weight", mean = side + "mean", scatter = side + "scatter";
    merge.sum(weight);
    const double rows = merge.out[weight].number();
    Entry &means = merge.start(mean), &scatters = merge.start(scatter);
    if (!(rows > 0)) continue;
    const std::size_t n = means.values.size();
    std::vector<double> first(n), away(n);
    for (std::size_t k = 0; k < merge.size(); ++k) {
      const double own = merge.of(k, weight).number();
      for (std::size_t j = 0; j < n; ++j) {
        away[j] = merge.of(k, mean).values[j] - merge.base.at(mean).values[j];
        first[j] += own * away[j];
      }
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
          scatters.values[i * n + j] += merge.of(k, scatter).values[i * n + j] -
                                        merge.base.at(scatter).values[i * n + j] + own * away[i] * away[j];
    }
    for (std::size_t i = 0; i < n; ++i) {
      means.values[i] += first[i] / rows;
      for (std::size_t j = 0; j < n; ++j) scatters.values[i * n + j] -= first[i] * first[j] / rows;
    }
  }
}

// The rows that a pool still stands for are its chance.
std::vector<Place> drawn(const std::vector<std::size_t>& sizes, std::vector<double> chances, std::size_t room,
                         double seed, Count& draws) {
  std::vector<std::vector<std::size_t>> left(sizes.size());
  for (std::size_t k = 0; k < sizes.size(); ++k)
    for (std::size_t p = 0; p < sizes[k]; ++p) left[k].push_back(p);
  std::vector<Place> out;
  while (out.size() < room) {
    double sum = 0;
    for (std::size_t k = 0; k < left.size(); ++k) sum += chances[k] = left[k].empty() ? 0 : std::max(1.0, chances[k]);
    if (sum == 0) break;
    double at = uniform(seed, draws++) * sum;
    std::size_t pool = 0;
    for (; pool + 1 < left.size() && (left[pool].empty() || at >= chances[pool]); ++pool) at -= chances[pool];
    while (left[pool].empty()) --pool;
    const auto place = static_cast<std::size_t>(uniform(seed, draws++) * static_cast<double>(left[pool].size()));
    out.push_back({pool, left[pool][place]});
    left[pool].erase(left[pool].begin() + static_cast<std::ptrdiff_t>(place));
    chances[pool] -= 1;
  }
  return out;
}

namespace {

using StoredRows = std::vector<std::vector<double>>;

// A row is its number of values, whether it is sparse, the values, and the features of a sparse one.
StoredRows rows_of(const std::vector<double>& all) {
  StoredRows out;
  for (auto at = all.begin(); at != all.end();) {
    const auto end = at + 2 + static_cast<std::ptrdiff_t>(at[1] != 0 ? 2 * at[0] : at[0]);
    out.emplace_back(at, end);
    at = end;
  }
  return out;
}

// Rows that are not in `known`, each of which stands for one row only.
StoredRows others(StoredRows rows, StoredRows known) {
  std::erase_if(rows, [&](const std::vector<double>& row) {
    const auto found = std::find(known.begin(), known.end(), row);
    if (found == known.end()) return false;
    known.erase(found);
    return true;
  });
  return rows;
}

}  // namespace

// A uniform sample of all rows: those of the base, which stand for the rows it has seen, and the new ones of each part,
// which stand for the rows seen since.
void merge_oam(Merge& merge) {
  merge.weights("weights");
  merge.sum("draws");
  Count& draws = merge.out["draws"].count;
  const double seed = merge.options.numbers.at("seed");
  for (const std::string side : {"negatives", "positives"}) {
    const std::string seen = "seen." + side, kept = "kept." + side;
    merge.sum(seen);
    const double room = merge.options.numbers.at(side == "negatives" ? "buffer_negative" : "buffer_positive");
    std::vector<StoredRows> pools{rows_of(merge.base.at(kept).values)};
    std::vector<double> left{merge.base.at(seen).number()};
    std::vector<std::pair<double, StoredRows>> parts;
    for (const State& part : merge.parts)
      parts.emplace_back(part.at(seen).number() - left[0], others(rows_of(part.at(kept).values), pools[0]));
    std::sort(parts.begin(), parts.end());  // the same sample, whatever the order in which they are given
    for (auto& [rows, own] : parts) {
      left.push_back(rows);
      pools.push_back(std::move(own));
    }
    Entry& to = merge.start(kept);
    to.values.clear();
    const auto take = [&](const std::vector<double>& row) {
      to.values.insert(to.values.end(), row.begin(), row.end());
    };
    if (merge.out[seen].number() <= room) {
      for (const StoredRows& pool : pools)
        for (const auto& row : pool) take(row);
    } else {
      std::vector<std::size_t> sizes;
      for (const StoredRows& pool : pools) sizes.push_back(pool.size());
      for (const auto& [pool, place] : drawn(sizes, left, static_cast<std::size_t>(room), seed, draws))
        take(pools[pool][place]);
    }
  }
}

}  // namespace lopsided::merging
