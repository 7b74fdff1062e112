// Oja's sketch stands for the precision I + V' diag(e) V. Those of the parts sum to one of K m directions, of which the m
// with the largest energies are kept. Means are averaged: outside of the sketch the precisions say nothing.
#include "matrix.hpp"
#include "rules.hpp"

namespace lopsided::merging {

namespace {

struct Directions {
  std::size_t m, columns;  // the columns of the features, then those of the m coordinates that no row touches
  Matrix rows;
  std::vector<double> energy;
};

void check_batches(const Merge& merge) {
  if (merge.has("sketch.waiting"))
    refuse("rows wait to enter the sketch of each model: learn with sketch_every=1 to merge");
}

// Rows of length 1 at right angles to those before, or false.
bool orthonormalised(std::span<const double> taken, std::size_t width, double* row) {
  for (int twice = 0; twice < 2; ++twice)
    for (std::size_t at = 0; at < taken.size(); at += width) {
      const double along = product(row, taken.data() + at, width);
      for (std::size_t j = 0; j < width; ++j) row[j] -= along * taken[at + j];
    }
  const double length = std::sqrt(product(row, row, width));
  if (!(length > 1e-6)) return false;
  for (std::size_t j = 0; j < width; ++j) row[j] /= length;
  return true;
}

Directions strongest(const std::vector<Directions>& parts, std::span<const double> rate) {
  const std::size_t m = parts[0].m, width = parts[0].columns, all = m * parts.size();
  Matrix stacked, gram(all * all);
  for (std::size_t k = 0; k < parts.size(); ++k)
    for (std::size_t i = 0; i < m; ++i) {
      const double root = std::sqrt(rate[k] * parts[k].energy[i]);
      for (std::size_t j = 0; j < width; ++j) stacked.push_back(root * parts[k].rows[i * width + j]);
    }
  for (std::size_t i = 0; i < all; ++i)
    for (std::size_t j = 0; j <= i; ++j)
      gram[i * all + j] = gram[j * all + i] = product(&stacked[i * width], &stacked[j * width], width);
  const Eigen found = eigen(gram, all);
  Directions out{m, width, {}, {}};
  std::vector<double> row(width);
  for (std::size_t i = 0; i < all && out.energy.size() < m; ++i) {
    if (!(found.values[i] > 1e-12 * found.values[0])) break;
    std::fill(row.begin(), row.end(), 0.0);
    for (std::size_t k = 0; k < all; ++k)
      for (std::size_t j = 0; j < width; ++j) row[j] += found.vectors[i * all + k] * stacked[k * width + j];
    if (!orthonormalised(out.rows, width, row.data())) break;
    out.rows.insert(out.rows.end(), row.begin(), row.end());
    out.energy.push_back(found.values[i]);
  }
  // Directions without energy, as long as rows have been few.
  for (std::size_t i = 0; i < m && out.energy.size() < m; ++i) {
    std::copy_n(&parts[0].rows[i * width], width, row.begin());
    if (!orthonormalised(out.rows, width, row.data())) continue;
    out.rows.insert(out.rows.end(), row.begin(), row.end());
    out.energy.push_back(0);
  }
  if (out.energy.size() < m) refuse("the sketches have too few directions in common");
  return out;
}

// Coordinates that no row touches may be turned: the block becomes lower triangular, L L' = B B'.
std::vector<double> triangular(const Directions& all, std::size_t features) {
  const std::size_t m = all.m;
  std::vector<double> out(m * m);
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      const double* a = &all.rows[i * all.columns + features];
      const double* b = &all.rows[j * all.columns + features];
      const double left = product(a, b, m) - product(&out[i * m], &out[j * m], j);
      if (i == j) out[i * m + i] = left > 1e-24 ? std::sqrt(left) : 0;
      else out[i * m + j] = out[j * m + j] > 0 ? left / out[j * m + j] : 0;
    }
  return out;
}

void finish(Merge& merge, const Directions& all, std::size_t features) {
  merge.sum("sketch.rows");
  merge.start("sketch.energy").values = all.energy;
  merge.start("sketch.outside").values = triangular(all, features);
  Count entered = 0;
  for (std::size_t j = 0; j < features; ++j) {
    bool in = false;
    for (std::size_t i = 0; i < all.m; ++i) in |= all.rows[i * all.columns + j] != 0;
    entered += in;
  }
  Count most = 0;  // given directions have all entered
  for (std::size_t k = 0; k < merge.size(); ++k) most = std::max(most, merge.of(k, "sketch.entered").count);
  merge.start("sketch.entered").count = std::max(entered, most);
}

// w + Z' b of some features, which are in order and hold all that have entered.
std::vector<double> means_of(const State& state, std::span<const std::uint32_t> features) {
  std::vector<double> out(features.size());
  const auto& b = state.at("sketch.b").values;
  const Entry& table = state.at("sketch");
  for (std::size_t at = 0, column = 0; at < table.rows.size(); ++at) {
    while (features[column] != table.rows[at]) ++column;
    const double* row = table.values.data() + at * table.size;
    out[column] = row[0] + product(b.data(), row + 1, b.size());
  }
  return out;
}

}  // namespace

void merge_sketch(Merge& merge) {
  check_batches(merge);
  const std::size_t m = merge.base.at("sketch.energy").values.size(), features = merge.base.at("mean").values.size();
  const auto direction = [](std::size_t i) { return "sketch.direction." + std::to_string(i); };
  std::vector<Directions> parts;
  for (const State& part : merge.parts) {
    Directions one{m, features + m, {}, part.at("sketch.energy").values};
    for (std::size_t i = 0; i < m; ++i) {
      const auto& row = part.at(direction(i)).values;
      const auto outside = part.at("sketch.outside").values.begin() + static_cast<std::ptrdiff_t>(i * m);
      one.rows.insert(one.rows.end(), row.begin(), row.end());
      one.rows.insert(one.rows.end(), outside, outside + static_cast<std::ptrdiff_t>(m));
    }
    parts.push_back(std::move(one));
  }
  const Directions all = strongest(parts, merge.rate);
  merge.weights("mean");
  for (std::size_t i = 0; i < m; ++i) {
    const auto row = all.rows.begin() + static_cast<std::ptrdiff_t>(i * all.columns);
    merge.start(direction(i)).values.assign(row, row + static_cast<std::ptrdiff_t>(features));
  }
  finish(merge, all, features);
}

// V = F Z and the mean is w + Z' b: both are computed, then F = I and b = 0. Columns are the features of any part.
void merge_sparse_sketch(Merge& merge) {
  check_batches(merge);
  const std::size_t m = merge.base.at("sketch.energy").values.size();
  std::vector<std::uint32_t> features;
  for (const State& part : merge.parts) {
    const auto& rows = part.at("sketch").rows;
    features.insert(features.end(), rows.begin(), rows.end());
  }
  std::sort(features.begin(), features.end());
  features.erase(std::unique(features.begin(), features.end()), features.end());
  const std::size_t n = features.size();
  std::vector<Directions> parts;
  const std::vector<double> before = means_of(merge.base, features);
  std::vector<std::vector<double>> means;
  for (const State& part : merge.parts) {
    means.push_back(means_of(part, features));
    const auto &basis = part.at("sketch.basis").values, &outside = part.at("sketch.outside").values;
    const Entry& table = part.at("sketch");
    Directions one{m, n + m, Matrix(m * (n + m)), part.at("sketch.energy").values};
    const auto put = [&](std::size_t column, auto z) {
      for (std::size_t i = 0; i < m; ++i) {
        double sum = 0;
        for (std::size_t l = 0; l <= i; ++l) sum += basis[i * m + l] * z(l);
        one.rows[i * (n + m) + column] = sum;
      }
    };
    std::size_t column = 0;
    for (std::size_t at = 0; at < table.rows.size(); ++at) {
      while (features[column] != table.rows[at]) ++column;
      const double* row = table.values.data() + at * table.size;
      put(column, [&](std::size_t l) { return row[1 + l]; });
    }
    for (std::size_t j = 0; j < m; ++j) put(n + j, [&](std::size_t l) { return outside[l * m + j]; });
    parts.push_back(std::move(one));
  }
  const Directions all = strongest(parts, merge.rate);
  Entry& table = merge.start("sketch");
  table.rows = features;
  table.values.assign(n * table.size, 0.0);
  for (std::size_t j = 0; j < n; ++j) {
    table.values[j * table.size] =
        merge.believed(1, before[j], [&](std::size_t k) { return Merge::Belief{means[k][j], 0}; }).value;
    for (std::size_t i = 0; i < m; ++i) table.values[j * table.size + 1 + i] = all.rows[i * all.columns + j];
  }
  finish(merge, all, n);
  auto& basis = merge.start("sketch.basis").values;
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t l = 0; l < m; ++l) basis[i * m + l] = i == l;
  auto& b = merge.start("sketch.b").values;
  std::fill(b.begin(), b.end(), 0.0);
  merge.start("sketch.straight").count = merge.out["sketch.rows"].count;
}

}  // namespace lopsided::merging
