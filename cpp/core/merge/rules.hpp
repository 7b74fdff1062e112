// What the rules of the learners share: the states at hand and the usual ways to merge an entry.
//
// s0 is an entry of the base, s_k that of part k, n_k the rows that part k learned from and w_k their weight.
//   share p_k = w_k n_k / sum w n, rate r_k = p_k / (n_k / sum n)
//   sum      s0 + sum (s_k - s0)                  for what is counted
//   average  sum p_k s_k                          for settings that are learned
//   believed values v_k of precision P0 + g_k     sum q_k v_k / sum q_k, q_k = m_k P0 + r_k g_k; g = sum r_k g_k
// where m_k is p_k divided by the sum over those parts that have moved the value, 0 for others: a part that has not met a
// feature says nothing about it. Weights without a precision have g = 0.
// Parts start a round with 1 / K of the gains g of the base, so these sum to the gain of all rows.
#pragma once

#include "state.hpp"

namespace lopsided::merging {

[[noreturn]] inline void refuse(const std::string& why) { throw std::invalid_argument(why); }

struct Merge {
  State base;
  std::vector<State> parts;
  std::vector<double> share, rate;
  Options options;
  State out;

  std::size_t size() const { return parts.size(); }
  bool has(const std::string& name) const { return base.contains(name); }
  bool done(const std::string& name) const { return out.contains(name); }
  const Entry& of(std::size_t k, const std::string& name) const { return parts[k].at(name); }
  // A copy of the base's entry, to be filled in.
  Entry& start(const std::string& name) { return out[name] = base.at(name); }

  void sum(const std::string& name);  // a count, number, list, vector or matrix
  void average(const std::string& name);  // a number or list
  void weights(const std::string& name);  // a vector, believed
  void largest(const std::string& name);  // of a count or number
  void same(const std::string& name, const std::string& otherwise);  // refuses unless all parts have the same

  // Calls each(feature, rows of the parts, row of the base, out) for every feature that has numbers in the table of a
  // part. Without numbers there are zeros.
  template <class Each>
  void rows(const std::string& name, Each each) {
    Entry& to = out[name] = {Entry::Form::table, {}, {}, base.at(name).size, 0};
    const std::size_t width = to.size;
    const Entry& old = base.at(name);
    std::size_t in_base = 0;
    std::vector<std::size_t> at(size());
    std::vector<const double*> rows(size());
    const std::vector<double> zeros(width);
    std::vector<double> row(width);
    for (;;) {
      std::uint64_t next = std::uint64_t{1} << 32;
      for (std::size_t k = 0; k < size(); ++k)
        if (at[k] < of(k, name).rows.size()) next = std::min<std::uint64_t>(next, of(k, name).rows[at[k]]);
      if (next >> 32) return;
      for (std::size_t k = 0; k < size(); ++k) {
        const Entry& entry = of(k, name);
        const bool here = at[k] < entry.rows.size() && entry.rows[at[k]] == next;
        rows[k] = here ? entry.values.data() + at[k]++ * width : zeros.data();
      }
      while (in_base < old.rows.size() && old.rows[in_base] < next) ++in_base;
      const bool known = in_base < old.rows.size() && old.rows[in_base] == next;
      const double* before = known ? old.values.data() + in_base * width : zeros.data();
      std::fill(row.begin(), row.end(), 0.0);
      each(static_cast<std::uint32_t>(next), rows, before, row.data());
      to.rows.push_back(static_cast<std::uint32_t>(next));
      to.values.insert(to.values.end(), row.begin(), row.end());
    }
  }

  struct Belief {
    double value, gain;
  };
  // get(k) is the value of part k and the gain of its precision, `before` the value of the base.
  template <class Get>
  Belief believed(double prior, double before, Get get) const {
    double moved = 0;
    const auto has_moved = [=](double value) { return std::abs(value - before) > 1e-12 * std::abs(before); };
    for (std::size_t k = 0; k < size(); ++k) moved += has_moved(get(k).value) ? share[k] : 0;
    double above = 0, below = 0, gain = 0;
    for (std::size_t k = 0; k < size(); ++k) {
      const Belief one = get(k);
      const double data = rate[k] * one.gain, q = (has_moved(one.value) ? share[k] / moved * prior : 0) + data;
      above += q * one.value;
      below += q;
      gain += data;
    }
    return {moved > 0 ? above / below : before, gain};
  }
};

// mean and variance = diagonal of the covariance; mean and full covariance.
void merge_diagonal(Merge& merge, const std::string& mean, const std::string& variance);
void merge_full(Merge& merge, const std::string& mean, const std::string& covariance);
void split_diagonal(State& state, const std::string& variance, double shards);
void split_full(State& state, const std::string& covariance, double shards);
// The entries of scaling, prefix + "scaling.rows" and so on.
void merge_scaling(Merge& merge, const std::string& prefix);
void merge_calibration(Merge& merge);

// First and second moments about the mean, summed exactly: `base` and the parts it is in.
struct Moments {
  double rows, mean, spread;
};
Moments merged_moments(const Moments& base, std::span<const Moments> parts);

// A sample of the rows of several pools, which stand for rows by their chances: as many as there is room for.
struct Place {
  std::size_t pool, place;
};
std::vector<Place> drawn(const std::vector<std::size_t>& sizes, std::vector<double> chances, std::size_t room,
                         double seed, Count& draws);

// One rule for each kind of learner.
void merge_sketch(Merge& merge);
void merge_sparse_sketch(Merge& merge);
void merge_opauc(Merge& merge);
void merge_oam(Merge& merge);
void merge_koil(Merge& merge);
void merge_kernel_perceptron(Merge& merge);
void merge_rbp(Merge& merge);
void merge_additive_logistic(Merge& merge);
void merge_weighted_majority(Merge& merge);
void split_additive_logistic(State& state, double shards);
void split_weighted_majority(State& state, double shards);
// Features of a part are in other places in the merged model.
void move_additive_logistic(State& state, std::span<const Index> places);

}  // namespace lopsided::merging
