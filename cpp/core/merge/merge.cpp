#include "merge.hpp"

#include <optional>

#include "matrix.hpp"
#include "rules.hpp"

namespace lopsided {

namespace merging {
namespace {

// Weights that are multiplied with rows ------------------------------------------------------------------------------

void merge_weights(Merge& merge) { merge.weights("weights"); }

void merge_paum(Merge& merge) {
  merge.weights("weights");
  merge.average("bias");
  merge.largest("longest");
}

void merge_romma(Merge& merge) {
  auto& w = merge.start("direction").values;
  std::fill(w.begin(), w.end(), 0.0);
  for (std::size_t k = 0; k < merge.size(); ++k) {
    const double scale = merge.share[k] * merge.of(k, "scale").number();
    for (std::size_t j = 0; j < w.size(); ++j) w[j] += scale * merge.of(k, "direction").values[j];
  }
  merge.start("scale").values = {1};
  merge.largest("reach");
  merge.start("touched").count = 0;
  merge.start("square").values = {product(w.data(), w.data(), w.size())};
}

void merge_second_order(Merge& merge) { merge_diagonal(merge, "mean", "variance"); }
void merge_full_covariance(Merge& merge) { merge_full(merge, "mean", "covariance"); }

// Sparse learners ----------------------------------------------------------------------------------------------------

bool aims(const Merge& merge) { return merge.options.numbers.at("target_sparsity") > 0; }

// With a target sparsity: the magnitude that as many others may exceed as may have a weight.
double cut(const Merge& merge, std::vector<double> sizes) {
  const double reach = merge.out.at("target.reach").number(), share = merge.options.numbers.at("target_sparsity");
  const auto room = static_cast<std::size_t>(reach - std::ceil(share * reach * (1 - 1e-12)));
  if (sizes.size() <= room) return 0;
  const auto last = sizes.begin() + static_cast<std::ptrdiff_t>(room);
  std::nth_element(sizes.begin(), last, sizes.end(), std::greater<>());
  return *last;
}

void merge_counts(Merge& merge) {
  merge.sum("seen");
  merge.average("target.chosen");
  merge.largest("target.reach");
}
// level(row) is what the shrinkage is taken from.
void choose_shrinkage(Merge& merge, auto level) {
  if (!aims(merge)) return;
  std::vector<double> sizes;
  const Entry& table = merge.out["features"];
  for (std::size_t k = 0; k < table.rows.size(); ++k) sizes.push_back(std::abs(level(&table.values[k * table.size])));
  merge.out["target.chosen"].values = {cut(merge, std::move(sizes))};
}

// The weights are theta divided by a power of the rounds: the average of the weights.
void merge_dual_averaging(Merge& merge) {
  merge_counts(merge);
  const std::string& beta = merge.options.choices.at("beta");
  const auto divisor = [&](double rounds) {
    return beta == "constant" || rounds == 0 ? 1 : beta == "sqrt" ? std::sqrt(rounds) : rounds;
  };
  std::vector<double> factor;
  for (std::size_t k = 0; k < merge.size(); ++k)
    factor.push_back(divisor(merge.out["seen"].number()) / divisor(merge.of(k, "seen").number()));
  merge.rows("features", [&](std::uint32_t, const auto& rows, const double* before, double* out) {
    double moved = 0, sum = 0;
    for (std::size_t k = 0; k < merge.size(); ++k) {
      if (rows[k][0] == before[0]) continue;
      moved += merge.share[k];
      sum += merge.share[k] * factor[k] * rows[k][0];
    }
    out[0] = moved > 0 ? sum / moved : before[0];
  });
  choose_shrinkage(merge, [](const double* row) { return row[0]; });
}

// Weights count by the squared gradients behind them, which are summed.
Merge::Belief by_squares(const Merge& merge, Merge::Belief before, auto get) {
  Merge::Belief out = merge.believed(1, before.value, [&](std::size_t k) {
    const Merge::Belief one = get(k);
    return Merge::Belief{one.value, std::max(0.0, one.gain - before.gain)};
  });
  out.gain = before.gain;
  for (std::size_t k = 0; k < merge.size(); ++k) out.gain += get(k).gain - before.gain;
  return out;
}

void merge_adaptive_rda(Merge& merge) {
  merge_counts(merge);
  const double delta = merge.options.numbers.at("delta");
  const auto of = [=](const double* row) { return Merge::Belief{row[0] / (delta + std::sqrt(row[1])), row[1]}; };
  merge.rows("features", [&](std::uint32_t, const auto& rows, const double* before, double* out) {
    const auto all = by_squares(merge, of(before), [&](std::size_t k) { return of(rows[k]); });
    out[0] = all.value * (delta + std::sqrt(all.gain));
    out[1] = all.gain;
  });
  choose_shrinkage(merge, [](const double* row) { return row[0]; });
}

double shrunk(double v, double by) { return v - std::min(std::max(v, -by), by); }

// What is owed is settled first. The merged model owes nothing, or what leaves its target sparsity.
void settle(Merge& merge) {
  merge.start("due").values = {0};
  if (!aims(merge)) return;
  std::vector<double> sizes;
  Entry& table = merge.out["features"];
  for (std::size_t k = 0; k < table.rows.size(); ++k) {
    const double* row = &table.values[k * table.size];
    const double size = std::abs(row[0]);
    sizes.push_back(table.size == 2 ? size : row[3] > 0 ? size / row[3] : 0);
  }
  const double due = cut(merge, sizes);
  for (std::size_t k = 0; k < sizes.size(); ++k)
    if (sizes[k] <= due) table.values[k * table.size] = 0;
  merge.out["due"].values = {due};
  if (merge.has("shrinks")) merge.out["shrinks"].values = {due};
}

void merge_truncated_gradient(Merge& merge) {
  merge_counts(merge);
  const double ceiling = merge.options.numbers.at("ceiling");
  double waiting = 0;
  for (std::size_t k = 0; k < merge.size(); ++k)
    waiting += merge.share[k] * (merge.of(k, "shrinks").number() - merge.of(k, "due").number());
  merge.start("shrinks").values = {waiting};
  merge.rows("features", [&](std::uint32_t, const auto& rows, const double* before, double* out) {
    double moved = 0, sum = 0, all = 0;
    for (std::size_t k = 0; k < merge.size(); ++k) {
      const double w = rows[k][0], due = merge.of(k, "due").number();
      const double settled = merge.share[k] * (std::abs(w) > ceiling ? w : shrunk(w, due - rows[k][1]));
      all += settled;
      if (w == before[0] && rows[k][1] == before[1]) continue;
      moved += merge.share[k];
      sum += settled;
    }
    out[0] = moved > 0 ? sum / moved : all;
  });
  settle(merge);
}

void merge_adaptive_fobos(Merge& merge) {
  merge_counts(merge);
  const double delta = merge.options.numbers.at("delta");
  const auto of = [](const double* row, const State& state) {
    return Merge::Belief{shrunk(row[0], (state.at("due").number() - row[1]) * row[3]), row[2]};
  };
  merge.rows("features", [&](std::uint32_t, const auto& rows, const double* before, double* out) {
    const auto all =
        by_squares(merge, of(before, merge.base), [&](std::size_t k) { return of(rows[k], merge.parts[k]); });
    out[0] = all.value;
    out[2] = all.gain;
    out[3] = all.gain == 0 ? 0 : 1 / (delta + std::sqrt(all.gain));
  });
  settle(merge);
}

double ssol_variance(const double* row) { return row[1] == 0 ? 1 : row[1]; }

void merge_ssol(Merge& merge) {
  merge_counts(merge);
  merge.rows("features", [&](std::uint32_t, const auto& rows, const double* before, double* out) {
    const auto all = merge.believed(1, before[0] * ssol_variance(before), [&](std::size_t k) {
      const double a = ssol_variance(rows[k]);
      return Merge::Belief{a * rows[k][0], 1 / a - 1};
    });
    out[1] = std::max(1 / (1 + all.gain), std::numeric_limits<double>::min());
    out[0] = all.value / out[1];
  });
  choose_shrinkage(merge, [](const double* row) { return row[0] * ssol_variance(row); });
}
void split_ssol(State& state, double shards) {
  Entry& table = state.at("features");
  for (std::size_t at = 0; at < table.values.size(); at += 2) {
    double* row = &table.values[at];
    const double a = ssol_variance(row), next = 1 / (1 + (1 / a - 1) / shards);
    row[0] *= a / next;
    row[1] = next;
  }
}

void merge_ssol_full(Merge& merge) {
  merge_counts(merge);
  merge_full(merge, "dual", "covariance");
  if (!aims(merge)) return;
  std::vector<double> sizes = merge.out["dual"].values;
  for (double& size : sizes) size = std::abs(size);
  merge.out["target.chosen"].values = {cut(merge, std::move(sizes))};
}

// The table of rules --------------------------------------------------------------------------------------------------

void split_variance(State& state, double shards) { split_diagonal(state, "variance", shards); }
void split_covariance(State& state, double shards) { split_full(state, "covariance", shards); }
void split_energy(State& state, double shards) {
  for (double& e : state.at("sketch.energy").values) e /= shards;
}

struct MergeRule {
  std::string_view kind;
  void (*merge)(Merge&);
  void (*split)(State&, double) = nullptr;  // none: there are no precisions
};
constexpr MergeRule rules[] = {
    {"perceptron", merge_weights},
    {"passive-aggressive", merge_weights},
    {"cost-sensitive-passive-aggressive", merge_weights},
    {"cog", merge_weights},
    {"paum", merge_paum},
    {"romma", merge_romma},
    {"arow-diagonal", merge_second_order, split_variance},
    {"acog-diagonal", merge_second_order, split_variance},
    {"arow-full", merge_full_covariance, split_covariance},
    {"arow-full-float32", merge_full_covariance, split_covariance},
    {"acog-full", merge_full_covariance, split_covariance},
    {"acog-full-float32", merge_full_covariance, split_covariance},
    {"acog-dense-sketch", merge_sketch, split_energy},
    {"acog-sketch", merge_sparse_sketch, split_energy},
    {"dual-averaging", merge_dual_averaging},
    {"adaptive-rda", merge_adaptive_rda},
    {"truncated-gradient", merge_truncated_gradient},
    {"adaptive-fobos", merge_adaptive_fobos},
    {"ssol-diagonal", merge_ssol, split_ssol},
    {"ssol-full", merge_ssol_full, split_covariance},
    {"ssol-full-float32", merge_ssol_full, split_covariance},
    {"opauc", merge_opauc},
    {"oam", merge_oam},
    {"koil", merge_koil},
    {"kernel-perceptron", merge_kernel_perceptron},
    {"rbp", merge_rbp},
    {"weighted-majority", merge_weighted_majority, split_weighted_majority},
    {"additive-logistic", merge_additive_logistic, split_additive_logistic},
};

struct Refusal {
  std::string_view kind, why;
};
constexpr Refusal refusals[] = {
    {"norma", "the age of each support vector counts, in rounds of its own shard"},
    {"forgetron", "its bound on what forgetting costs holds for one sequence of mistakes only"},
    {"projectron", "its support vectors must be independent of each other, and those of several shards are not"},
    {"opauc-low-rank",
     "the random signs of several shards are those of the same draws, so their sketches do not add up"},
    {"koil-mixture", "votes are ranks among the last scores of one stream"},
};

const MergeRule& rule_of(std::string_view kind) {
  for (const Refusal& one : refusals)
    if (one.kind == kind) refuse("this learner has no merge rule: " + std::string(one.why));
  for (const MergeRule& rule : rules)
    if (rule.kind == kind) return rule;
  refuse("this learner has no merge rule");
}

// What surrounds a learner.
void merge_rest(Merge& merge) {
  for (const char* name : {"rounds", "updates", "cost.positives", "cost.negatives"})
    if (!merge.done(name)) merge.sum(name);
  merge_scaling(merge, "");
  merge_calibration(merge);
  for (const auto& [name, entry] : merge.base)
    if (name.starts_with("capacity.")) merge.start(name);  // it binds decisions, which are made elsewhere
  for (const auto& [name, entry] : merge.parts[0])
    if (name.starts_with("query.") || name.starts_with("pending.")) refuse("a model that asks cannot be merged");
    else if (!merge.done(name)) refuse("there is no rule for the state " + name);
}

// Features in other places. A table has a row for each column, of which `offset` come before the features.
void move(State& state, std::string_view kind, const std::vector<Index>& places, std::size_t offset) {
  const std::size_t columns = places.size() + offset;
  const auto place = [&](std::size_t j) {
    return j < offset ? j : static_cast<std::size_t>(places[j - offset]) + offset;
  };
  if (kind == "additive-logistic") move_additive_logistic(state, places);
  else if (kind == "weighted-majority" || state.contains("kernel.started") || kind == "oam")
    refuse("the models met their features in another order: start the shards from one model that knows the features");
  for (auto& [name, entry] : state) {
    const std::vector<double> old = entry.values;
    if (entry.form == Entry::Form::vector) {
      const std::size_t before = old.size() == columns ? offset : 0;  // scaling comes before the intercept
      for (std::size_t j = before; j < old.size(); ++j)
        entry.values[static_cast<std::size_t>(places[j - before]) + before] = old[j];
    } else if (entry.form == Entry::Form::symmetric) {
      for (std::size_t i = 0; i < columns; ++i)
        for (std::size_t j = 0; j < columns; ++j) entry.values[place(i) * columns + place(j)] = old[i * columns + j];
    } else if (entry.form == Entry::Form::table) {
      std::vector<std::pair<std::size_t, std::size_t>> order;
      for (std::size_t k = 0; k < entry.rows.size(); ++k) order.emplace_back(place(entry.rows[k]), k);
      std::sort(order.begin(), order.end());
      for (std::size_t k = 0; k < order.size(); ++k) {
        entry.rows[k] = static_cast<std::uint32_t>(order[k].first);
        std::copy_n(&old[order[k].second * entry.size], entry.size, &entry.values[k * entry.size]);
      }
    }
  }
}

void set_shares(Merge& merge, std::span<const MergePart> parts) {
  double rows = 0, weighted = 0, weights = 0;
  std::vector<double> own;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    own.push_back(merge.of(k, "rounds").number() - merge.base.at("rounds").number());
    if (own[k] < 0) refuse("model " + std::to_string(k) + " has learned from fewer rows than the base");
    rows += own[k];
    weighted += parts[k].weight * own[k];
    weights += parts[k].weight;
  }
  const bool any = weighted > 0;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    merge.share.push_back(any ? parts[k].weight * own[k] / weighted : parts[k].weight / weights);
    merge.rate.push_back(any ? parts[k].weight * rows / weighted : 1);
  }
}

}  // namespace
}  // namespace merging

MergedState merge_states(std::string_view kind, const Model& base, std::span<MergePart> parts) {
  const merging::MergeRule& rule = merging::rule_of(kind);
  Index features = base.features();
  for (const MergePart& part : parts)
    features = std::max({features, part.model->features(), static_cast<Index>(part.places.size())});
  merging::Merge merge;
  merge.options = merging::options_of(base);
  const std::size_t offset = base.intercept();
  const std::unique_ptr<Model> grown = base.clone();
  grown->grow(features);
  merge.base = merging::state_of(*grown);
  for (MergePart& part : parts) {
    part.model->grow(features);
    merge.parts.push_back(merging::state_of(*part.model));
    if (!part.places.empty()) merging::move(merge.parts.back(), kind, part.places, offset);
  }
  merging::set_shares(merge, parts);
  rule.merge(merge);
  merging::merge_rest(merge);
  return {features, std::move(merge.out)};
}

MergedState split_state(std::string_view kind, const Model& base, double shards) {
  const merging::MergeRule& rule = merging::rule_of(kind);
  merging::State state = merging::state_of(*base.clone());
  if (rule.split && shards > 1) rule.split(state, shards);
  return {base.features(), std::move(state)};
}

}  // namespace lopsided
