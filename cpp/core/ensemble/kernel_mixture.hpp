// One rule with several kernels: a learner for each kernel, whose vote is weighted by how well it has ranked so far.
//
// A vote is the rank of the score s of a member among the scores it gave to the last 100 events of either class: the
// share of the negatives below plus the share of the positives below, ties counting half, minus 1. So members of any
// scale can be added, and 0 lies between the classes. A term s / sqrt(1 + s^2) / 128 preserves the order of scores with
// the same rank.
//
// The loss of a member in a round is the share of the last events of the other class that it ranked wrongly
// against the new one. (Scores of support vectors would favour a narrow kernel, which has memorised them.) The
// weight of a vote is exp(-eta L), where L is the sum of the losses and eta = sqrt(8 ln(members) / rounds): the
// hedge algorithm (Freund & Schapire 1997).
#pragma once

#include <array>

#include "../kernel/learner.hpp"

namespace lopsided {

template <class Rule>
class KernelMixture {
 public:
  static constexpr Hooks hooks{.observe = true, .reserve = true, .grow = true, .new_features = true};

  KernelMixture() { make({{kernel::Form::gaussian}, {kernel::Form::linear, 1}}); }

  double observe(const RowLike auto& x) {
    return vote([&](std::size_t k) { return met_[k] = members_[k].observe(x); });
  }
  double score(const RowLike auto& x) const {
    return vote([&](std::size_t k) { return members_[k].score(x); });
  }
  bool learn(const RowLike auto& x, const Target& t, double score) {
    judge(t);
    bool stepped = false;
    for (auto& member : members_) stepped |= member.learn(x, t, score);
    return stepped;
  }

  void reserve(std::size_t) {}
  void grow(std::size_t features) {
    for (auto& member : members_) member.grow(features);
  }
  std::size_t bytes() const {
    std::size_t sum = 0;
    for (const auto& member : members_) sum += member.bytes();
    return sum;
  }

  void options(auto&& visit) {
    usual_.options(visit);
    double count = 0;
    visit("members", count);
    std::vector<Given> kernels(static_cast<std::size_t>(count));
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      const auto numbered = [k](const char* name) { return std::string(name) + '.' + std::to_string(k); };
      visit(numbered("kernel").c_str(), kernels[k].form, {"gaussian", "laplacian", "linear", "polynomial"});
      visit(numbered("gamma").c_str(), kernels[k].gamma);
      visit(numbered("degree").c_str(), kernels[k].degree);
      visit(numbered("coef0").c_str(), kernels[k].coef0);
    }
    if (!kernels.empty()) make(kernels);
  }
  void state(auto&& visit) {
    visit("hedge.rounds", rounds_);
    visit("hedge.losses", losses_);
    validate(rounds_ >= 0 && std::isfinite(rounds_), "hedge.rounds");
    validate(losses_.size() == members_.size() &&
                 std::all_of(losses_.begin(), losses_.end(), [](double l) { return l >= 0 && std::isfinite(l); }),
             "hedge.losses");
    for (std::size_t s = 0; s < 2; ++s) {
      Recent& side = recent_[s];
      const std::string name = s ? "positive" : "negative";
      visit(("hedge." + name).c_str(), side.seen);
      const std::string entry = "kept.hedge." + name;
      visit(entry.c_str(), side.scores);
      validate(side.scores.values.size() == members_.size() * window && all_finite(side.scores.values), entry);
    }
    for (std::size_t k = 0; k < members_.size(); ++k) members_[k].state(Numbered<decltype(visit)>{visit, k});
    weigh();
  }

 private:
  template <class Visit>
  struct Numbered {
    Visit visit;
    std::size_t number;
    bool restores() const { return visit.restores(); }
    void operator()(const char* name, auto& value) {
      const std::string numbered = std::string(name) + '.' + std::to_string(number);
      visit(numbered.c_str(), value);
    }
  };

  static constexpr Count window = 100;
  struct Recent {
    Count seen = 0;
    Series scores;  // of the last events, `window` for each member
  };

  // The kernel of a member as it is given; gamma 0: from the first rows.
  struct Given {
    kernel::Form form = kernel::Form::gaussian;
    double gamma = 0, degree = 3, coef0 = 1;
  };

  void make(const std::vector<Given>& kernels) {
    members_.clear();
    for (const Given& given : kernels) {
      members_.emplace_back();
      members_.back().rule = usual_;
      members_.back().set_kernel(given.form, given.gamma, given.degree, given.coef0);
    }
    losses_.assign(members_.size(), 0);
    met_.assign(members_.size(), 0);
    for (Recent& side : recent_) side.scores.values.assign(members_.size() * window, 0);
    weigh();
  }
  // Number of scores stored for a class.
  std::size_t known(std::size_t side) const { return static_cast<std::size_t>(std::min(recent_[side].seen, window)); }
  // The share of a member's last scores of a class that are below s, ties counting half; 0.5 if there are none.
  double below(std::size_t member, std::size_t side, double s) const {
    const double* scores = recent_[side].scores.values.data() + member * window;
    const std::size_t n = known(side);
    if (n == 0) return 0.5;
    const std::size_t least = kernel::at_least(scores, n, s);  // at least s
    std::size_t more = 0;
    for (std::size_t i = 0; i < n; ++i) more += scores[i] > s;
    return 1 - (static_cast<double>(least) + static_cast<double>(more)) / (2 * static_cast<double>(n));
  }
  double vote(auto score_of) const {
    double sum = 0;
    for (std::size_t k = 0; k < members_.size(); ++k) {
      const double s = score_of(k);
      if (!std::isfinite(s)) return s;
      sum += weights_[k] * (below(k, 0, s) + below(k, 1, s) - 1 + s / std::sqrt(1 + s * s) / 128);
    }
    return sum;
  }
  // Adds the loss of the pairs of the new event with the last ones of the other class.
  void judge(const Target& t) {
    const std::size_t own = t.y > 0, other = 1 - own;
    if (known(other) > 0) {
      for (std::size_t k = 0; k < members_.size(); ++k) {
        const double share = below(k, other, met_[k]);
        losses_[k] += t.weight * (t.y > 0 ? 1 - share : share);
      }
      rounds_ += t.weight;
      weigh();
    }
    const std::size_t at = static_cast<std::size_t>(recent_[own].seen++ % window);
    for (std::size_t k = 0; k < members_.size(); ++k) recent_[own].scores.values[k * window + at] = met_[k];
  }
  // By a series: std::log may differ in its last bit between machines.
  static double logarithm(double n) {
    const double z = (n - 1) / (n + 1);
    double sum = 0, power = z;
    for (int k = 1; k < 500; k += 2, power *= z * z) sum += power / k;
    return 2 * sum;
  }
  void weigh() {
    const double least = *std::min_element(losses_.begin(), losses_.end());
    const double rate = rounds_ > 0 ? std::sqrt(8 * logarithm(static_cast<double>(losses_.size())) / rounds_) : 0;
    weights_.resize(losses_.size());
    for (std::size_t k = 0; k < losses_.size(); ++k) weights_[k] = -rate * (losses_[k] - least);
    kernel::exponentials(weights_.data(), weights_.size());
    double sum = 0;
    for (const double w : weights_) sum += w;
    for (double& w : weights_) w /= sum;
  }

  Rule usual_;
  std::vector<KernelLearner<Rule>> members_;
  std::vector<double> losses_, weights_;
  std::vector<double> met_;  // scores of the event observed last
  std::array<Recent, 2> recent_;  // negative, positive
  double rounds_ = 0;  // rounds with a loss, by the weights of their events
};

}  // namespace lopsided
