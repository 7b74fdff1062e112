// The usual ways to merge an entry, and what surrounds every learner: scaling and calibration.
#include "matrix.hpp"
#include "rules.hpp"

namespace lopsided::merging {

void Merge::sum(const std::string& name) {
  Entry& to = start(name);
  const Entry& from = base.at(name);
  for (std::size_t k = 0; k < size(); ++k) {
    const Entry& part = of(k, name);
    to.count += part.count - from.count;
    for (std::size_t i = 0; i < to.values.size(); ++i) to.values[i] += part.values[i] - from.values[i];
  }
}

void Merge::average(const std::string& name) {
  Entry& to = start(name);
  std::fill(to.values.begin(), to.values.end(), 0.0);
  for (std::size_t k = 0; k < size(); ++k)
    for (std::size_t i = 0; i < to.values.size(); ++i) to.values[i] += share[k] * of(k, name).values[i];
}

void Merge::weights(const std::string& name) {
  Entry& to = start(name);
  for (std::size_t i = 0; i < to.values.size(); ++i)
    to.values[i] = believed(1, to.values[i], [&](std::size_t k) { return Belief{of(k, name).values[i], 0}; }).value;
}

void Merge::largest(const std::string& name) {
  Entry& to = start(name);
  for (std::size_t k = 0; k < size(); ++k) {
    to.count = std::max(to.count, of(k, name).count);
    for (std::size_t i = 0; i < to.values.size(); ++i) to.values[i] = std::max(to.values[i], of(k, name).values[i]);
  }
}

void Merge::same(const std::string& name, const std::string& otherwise) {
  Entry& to = start(name);
  to = of(0, name);
  for (std::size_t k = 1; k < size(); ++k)
    if (of(k, name).count != to.count || of(k, name).values != to.values) refuse(otherwise);
}

// About the mean of the base nothing large cancels.
Moments merged_moments(const Moments& base, std::span<const Moments> parts) {
  double rows = base.rows, first = 0, second = base.spread;
  for (const Moments& one : parts) {
    const double away = one.mean - base.mean;
    rows += one.rows - base.rows;
    first += one.rows * away;
    second += one.spread + one.rows * away * away - base.spread;
  }
  if (!(rows > 0)) return base;
  return {rows, base.mean + first / rows, std::max(0.0, second - first * first / rows)};
}

void merge_scaling(Merge& merge, const std::string& prefix) {
  const std::string rows = prefix + "scaling.rows", mean = prefix + "scaling.mean", spread = prefix + "scaling.spread";
  if (!merge.has(rows)) return;
  merge.sum(rows);
  if (!merge.has(mean)) return merge.sum(spread);
  Entry &means = merge.start(mean), &spreads = merge.start(spread);
  std::vector<Moments> parts(merge.size());
  for (std::size_t j = 0; j < means.values.size(); ++j) {
    const auto of = [&](const State& state) {
      return Moments{state.at(rows).number(), state.at(mean).values[j], state.at(spread).values[j]};
    };
    for (std::size_t k = 0; k < merge.size(); ++k) parts[k] = of(merge.parts[k]);
    const Moments all = merged_moments(of(merge.base), parts);
    means.values[j] = all.mean;
    spreads.values[j] = all.spread;
  }
}

namespace {

// Bins of negatives and positives, in units of the labels that come next.
std::map<double, std::pair<double, double>> bins_of(const State& state) {
  std::map<double, std::pair<double, double>> out;
  const auto& values = state.at("calibration.now").values;
  const double unit = state.at("calibration.unit").number();
  for (std::size_t k = 0; k + 3 <= values.size(); k += 3) out[values[k]] = {values[k + 1] / unit, values[k + 2] / unit};
  return out;
}

double mass_of(const State& state) {
  const double since = state.at("calibration.labels").number() - state.at("calibration.checkpoint").number();
  return state.at("calibration.mass").number() + since;
}

}  // namespace

// Old labels fade in every part, so tables are averaged; their mass is that of the labels of all parts. The merged model
// is at a checkpoint.
void merge_calibration(Merge& merge) {
  if (!merge.has("calibration.labels")) return;
  merge.sum("calibration.labels");
  const double before = merge.base.at("calibration.labels").number();
  std::map<double, std::pair<double, double>> bins;
  double mean = 0, mean_fresh = 0, fresh = 0;
  for (std::size_t k = 0; k < merge.size(); ++k) {
    const State& part = merge.parts[k];
    const double mass = mass_of(part), own = std::min(mass, part.at("calibration.labels").number() - before);
    mean += merge.share[k] * mass;
    mean_fresh += merge.share[k] * own;
    fresh += own;
    for (const auto& [bin, both] : bins_of(part)) {
      bins[bin].first += merge.share[k] * both.first;
      bins[bin].second += merge.share[k] * both.second;
    }
  }
  const Count labels = merge.out["calibration.labels"].count;
  const double mass = std::min(mean - mean_fresh + fresh, static_cast<double>(labels));
  const double factor = mean > 0 ? mass / mean : 1;
  Entry& now = merge.start("calibration.now");
  now.values.clear();
  for (const auto& [bin, both] : bins)
    now.values.insert(now.values.end(), {bin, factor * both.first, factor * both.second});
  merge.start("calibration.before") = now;
  merge.start("calibration.checkpoint").count = labels;
  merge.start("calibration.unit").values = {1};
  merge.start("calibration.mass").values = {mass};
}

namespace {

double gain_of(double variance) { return 1 / std::max(variance, 1e-300) - 1; }

// The precision less the identity.
Matrix gains_of(const Entry& covariance) {
  Matrix out = inverse(covariance.values, covariance.size, 1e-12);
  for (std::size_t i = 0; i < covariance.size; ++i) out[i * covariance.size + i] -= 1;
  return out;
}
Matrix covariance_of(Matrix gains, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) gains[i * n + i] += 1;
  return inverse(gains, n, 1e-15);
}

}  // namespace

void merge_diagonal(Merge& merge, const std::string& mean, const std::string& variance) {
  Entry &means = merge.start(mean), &variances = merge.start(variance);
  for (std::size_t j = 0; j < means.values.size(); ++j) {
    const auto all = merge.believed(1, means.values[j], [&](std::size_t k) {
      return Merge::Belief{merge.of(k, mean).values[j], gain_of(merge.of(k, variance).values[j])};
    });
    means.values[j] = all.value;
    variances.values[j] = 1 / (1 + all.gain);
  }
}

void split_diagonal(State& state, const std::string& variance, double shards) {
  for (double& v : state.at(variance).values) v = 1 / (1 + gain_of(v) / shards);
}

// The matrices q_k sum to the merged precision, because the shares sum to 1.
void merge_full(Merge& merge, const std::string& mean, const std::string& covariance) {
  Entry &means = merge.start(mean), &sigma = merge.start(covariance);
  const std::size_t n = sigma.size;
  Matrix gains(n * n);
  std::vector<double> weighted(n);
  for (std::size_t k = 0; k < merge.size(); ++k) {
    Matrix own = gains_of(merge.of(k, covariance));
    const double* values = merge.of(k, mean).values.data();
    for (double& g : own) g *= merge.rate[k];
    for (std::size_t i = 0; i < n; ++i) weighted[i] += merge.share[k] * values[i] + product(&own[i * n], values, n);
    for (std::size_t i = 0; i < n * n; ++i) gains[i] += own[i];
  }
  sigma.values = covariance_of(std::move(gains), n);
  for (std::size_t i = 0; i < n; ++i) means.values[i] = product(&sigma.values[i * n], weighted.data(), n);
}

void split_full(State& state, const std::string& covariance, double shards) {
  Entry& sigma = state.at(covariance);
  Matrix gains = gains_of(sigma);
  for (double& g : gains) g /= shards;
  sigma.values = covariance_of(std::move(gains), sigma.size);
}

}  // namespace lopsided::merging
