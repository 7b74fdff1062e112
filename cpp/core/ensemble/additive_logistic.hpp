// Online Bayesian logistic regression over linear terms, hat functions and pairs (row_encoder.hpp): eight members side
// by side, mixed by their recent log loss and calibrated. The score is the log odds of the positive class.
//
// A member has for each input a weight w and a precision P = prior + g, a normal distribution of its own. For a row x
// with label y in {0, 1} and weight e it takes the step of assumed density filtering with a diagonal covariance,
//
//   z = prior log odds + sum w x,   p = sigmoid(z),   h = e p (1 - p),   v = sum x^2 / P
//   w += e (y - p) / (1 + h v) x / P,   g += h x^2, at most `cap` for a member that keeps forgetting.
//
// Members 0 to 3 see linear terms, under priors of precision 4, 1, 1/4 and 1, the last with a cap; 4 sees hats too; 5 to
// 7 pairs as well, 6 with a cap, 7 under a wide prior. Linear terms are scaled to the length 2, hats and pairs to at
// most 2 and 1.4 by their number. The prior log odds are those of the labels so far.
//
// Mixed: the logits, weighted by exp(-loss), where losses are sums of log losses that fade by 0.005 p (1 - p) an event.
// Calibrated: a z + b, by Newton steps whose curvature fades by 0.0005 p (1 - p).
// Doubted: p + (q - p) / (2 m + 2), where q is the share of positives and m counts the labels of the rarer class.
#pragma once

#include <tuple>

#include "../learner.hpp"
#include "../numbers/logistic.hpp"
#include "../numbers/real.hpp"
#include "../numbers/vectors.hpp"
#include "pair_index.hpp"
#include "row_encoder.hpp"

LOPSIDED_ISA_BEGIN

class AdditiveLogistic {
 public:
  static constexpr Hooks hooks{.observe = true,
                               .again = true,
                               .keep = true,
                               .prefetch_targets = true,
                               .coefficients = true,
                               .reserve = true,
                               .grow = true,
                               .scales = true,
                               .explain = true,
                               .new_features = true,
                               .log_odds = true};
  static constexpr std::size_t members = 8;

  bool scales() const { return scales_; }

  double observe(const RowLike auto& row) {
    encode(row, features(), [&](const auto& pair) { return new_pair(pair); });
    const double score = forecast();
    if (absorb()) forecast();  // a label that comes now and one that comes later find the same weights
    return score;
  }
  double again(const RowLike auto& row) { return score(row, features()); }
  double score(const RowLike auto& row, Index known) const {
    encode(row, std::min(known, features()), [&](const auto& pair) { return pairs_.find(pair); });
    return forecast();
  }

  // From the row observed last.
  bool learn(const RowLike auto&, const Target& t, double) {
    step(t);
    return true;
  }

  // The inputs of the row observed last.
  void keep(Kept& out) {
    const auto size = [](const auto& list) { return static_cast<double>(list.size()); };
    kept_values_ = {size(row_.linear), size(row_.hats), row_.linear_square, row_.hats_square,
                    static_cast<double>(row_.columns)};
    kept_indices_.clear();
    for (const auto* terms : {&row_.linear, &row_.hats})
      for (const auto& [at, value] : *terms) {
        kept_indices_.push_back(static_cast<Index>(at));
        kept_values_.push_back(value);
      }
    for (const std::uint32_t k : numbers_) kept_indices_.push_back(static_cast<Index>(k));
    out.sparse = true, out.square = 0, out.scale = 1;
    out.values = kept_values_, out.indices = kept_indices_;
  }
  double recall(const Kept& kept) {
    const auto linear = static_cast<std::size_t>(kept.values[0]), hats = static_cast<std::size_t>(kept.values[1]);
    row_.linear_square = kept.values[2], row_.hats_square = kept.values[3];
    row_.columns = static_cast<std::size_t>(kept.values[4]);
    row_.linear.start(linear), row_.hats.start(hats), numbers_.clear();
    for (std::size_t k = 0; k < kept.indices.size(); ++k) {
      const auto at = static_cast<std::uint32_t>(kept.indices[k]);
      if (k < linear) row_.linear.add(at, kept.values[header + k]);
      else if (k < linear + hats) row_.hats.add(at, kept.values[header + k]);
      else numbers_.push_back(at);
    }
    return forecast();
  }
  bool fits(const Kept& kept) const {
    const auto& [values, indices] = std::tie(kept.values, kept.indices);
    if (!kept.sparse || values.size() < header || !all_finite(values)) return false;
    if (!is_whole(values[0], 0x1p31) || !is_whole(values[1], 0x1p31) || !is_whole(values[4], 0x1p31)) return false;
    const auto linear = static_cast<std::size_t>(values[0]), terms = linear + static_cast<std::size_t>(values[1]);
    if (values.size() != header + terms || indices.size() < terms) return false;
    for (std::size_t k = 0; k < indices.size(); ++k) {
      const std::size_t at = static_cast<std::uint32_t>(indices[k]);
      if (k < linear  ? at >= weights_.size()
          : k < terms ? at >= hats_.size() / width
                      : at >= pairs_.size() && at != PairIndex::none)
        return false;
    }
    return true;
  }

  void prefetch_targets(auto visit) const { visit(weights_); }
  // The linear terms, mixed.
  Vector coefficients() const {
    Vector out;
    out.grow(weights_.size());
    const auto [low, high] = shares();
    for (std::size_t j = 0; j < out.size(); ++j) {
      const Double4 sum = low * load4(weights_[j]) + high * load4(weights_[j] + 8);
      out[j] = slope_ * total(sum);
    }
    return out;
  }

  void explain(const RowLike auto& row, Index known, Reasons& out) const {
    score(row, known);
    const auto [low, high] = shares();
    const auto add = [&](const Place& first, const Place& second, const Double4& sum) {
      out.all.push_back({first, second, slope_ * total(sum)});
    };
    for (const auto& [j, value] : row_.linear) {
      const Double4 sum = low * load4(weights_[j]) + high * load4(weights_[j] + 8);
      add({static_cast<Index>(j)}, {}, linear_scale_ * value * sum);
    }
    for (const auto& [at, value] : row_.hats)
      add({encoder_.feature_of_hat(at)}, {}, hats_scale_ * value * high * load4(hats_.data() + at * width));
    std::size_t k = 0;
    const auto& tokens = row_.tokens;
    for (std::size_t a = 0; a < tokens.size(); ++a)
      for (std::size_t b = a + 1; b < tokens.size(); ++b, ++k)
        if (numbers_[k] != PairIndex::none)
          add(encoder_.place_of_token(tokens[a]), encoder_.place_of_token(tokens[b]),
              pair_scale_ * with_pairs * high * load4(pair_weights_.data() + numbers_[k] * width));
    // Log odds are limited and doubted; effects are then scaled to what is left of them.
    double sum = 0;
    for (const Reason& one : out.all) sum += one.effect;
    const double odds = prior_log_odds(), kept = logit_ == odds ? 1 : (score_ - odds) / (logit_ - odds);
    const double within = kept * (logit_ - (slope_ * odds + shift_));
    if (sum != 0 && std::abs(sum - within) > 1e-9 * std::max(1.0, std::abs(within)))
      for (Reason& one : out.all) one.effect *= within / sum;
  }

  void reserve(std::size_t size) {
    encoder_.reserve(size);
    weights_.reserve(size);
  }
  void grow(std::size_t size) {
    encoder_.grow(size);
    weights_.grow(size);
  }
  std::size_t bytes() const {
    return weights_.bytes() + encoder_.bytes() + (hats_.size() + pair_weights_.size()) * sizeof(double) +
           pairs_.bytes();
  }

  void options(auto&& visit) { visit("scales", scales_); }
  void state(auto&& visit) {
    encoder_.state(visit);
    visit("weights", weights_);
    each_restored(visit, weights_, [](const double* row) { validate_gains({row, 2 * width}, "weights"); });
    Series hats{hats_}, keys, pairs{pair_weights_};
    for (std::uint32_t k = 0; k < pairs_.size(); ++k) {
      keys.values.push_back(static_cast<double>(pairs_.key(k) >> 32));
      keys.values.push_back(static_cast<double>(pairs_.key(k) & 0xffffffff));
    }
    visit("kept.hats", hats);
    visit("kept.pairs", keys);
    visit("kept.pairs.weights", pairs);
    visit("positives", positives_);
    visit("negatives", negatives_);
    visit("slope", slope_);
    visit("shift", shift_);
    visit("curvature", curvature_);
    visit("losses", losses_);
    if (restores(visit)) restored(std::move(hats.values), keys.values, std::move(pairs.values));
  }

 private:
  static constexpr std::size_t width = 8;  // of a hat or pair: four weights, then what their precisions have gained
  static constexpr std::size_t header = 5;  // of the values of a kept row
  static constexpr double inf = std::numeric_limits<double>::infinity();
  static constexpr Double4 low_prior{4, 1, 0.25, 1}, high_prior{1, 1, 1, 0.25};
  static constexpr Double4 low_cap{inf, inf, inf, 3}, high_cap{inf, inf, 10, inf}, with_pairs{0, 1, 1, 1};

  struct Half {  // what four members say of a row
    Double4 logit{}, variance{};
  };
  struct Shares {
    Double4 low, high;
  };

  static double total(const Double4& a) { return (a[0] + a[1]) + (a[2] + a[3]); }
  static double smallest(const Double4& a) { return std::min(std::min(a[0], a[1]), std::min(a[2], a[3])); }

  Index features() const { return static_cast<Index>(weights_.size()); }

  LOPSIDED_FLATTEN void encode(const RowLike auto& row, Index known, auto number) const {
    // By what the linear terms of member 4 explain.
    encoder_.encode(row, known, row_, [&](Index j) {
      const double* at = weights_[static_cast<std::size_t>(j)] + width;
      return at[0] * at[0] * at[4];
    });
    const std::span<const std::uint32_t> tokens = row_.tokens;
    const std::size_t size = tokens.size(), pairs = size * (size - 1) / 2;
    found_.resize(pairs), numbers_.resize(pairs);
    PairIndex::Hashed* next = found_.data();
    for (std::size_t a = 0; a < size; ++a)
      for (std::size_t b = a + 1; b < size; ++b, ++next) {
        *next = PairIndex::hashed(PairIndex::key(tokens[a], tokens[b]));
        pairs_.prefetch(*next);
      }
    for (std::size_t k = 0; k < pairs; ++k) {
      const std::uint32_t found = numbers_[k] = number(found_[k]);
      if (found != PairIndex::none) __builtin_prefetch(pair_weights_.data() + found * width);
    }
  }
  std::uint32_t new_pair(const PairIndex::Hashed& pair) {
    const std::uint32_t k = pairs_.add(pair);
    if (k != PairIndex::none && pair_weights_.size() < (k + 1) * width) pair_weights_.resize((k + 1) * width);
    return k;
  }

  Shares shares() const {
    const Double4 low = load4(losses_.data()), high = load4(losses_.data() + 4);
    const double best = std::min(smallest(low), smallest(high));
    const Double4 a = exponential(Double4(best - low)), b = exponential(Double4(best - high));
    const double over = 1 / total(a + b);
    return {a * over, b * over};
  }

  double prior_log_odds() const { return logarithm((positives_ + 0.5) / (negatives_ + 0.5)); }
  LOPSIDED_FLATTEN double forecast() const {
    const auto scaled = [](double most, double square) { return square > 0 ? std::sqrt(most / square) : 0; };
    linear_scale_ = scaled(4, row_.linear_square);
    hats_scale_ = scaled(std::min(4.0, 0.25 * static_cast<double>(row_.columns)), row_.hats_square);
    const auto pairs = static_cast<double>(numbers_.size());
    pair_scale_ = scaled(std::min(2.0, 0.025 * pairs), pairs);
    quotients_.resize(8 * row_.linear.size() + 4 * (row_.hats.size() + numbers_.size()));
    double* q = quotients_.data();
    low_ = high_ = {};
    const auto add = [&q](const double* at, const Double4& x, const Double4& prior, Half& half)
                         __attribute__((always_inline)) {
                           const Double4 quotient = x / (prior + load4(at + 4));
                           store4(q, quotient);
                           q += 4;
                           half.logit += load4(at) * x;
                           half.variance += quotient * x;
                         };
    for (const auto& term : row_.linear) {
      const Double4 x = all<Double4>(linear_scale_ * term.value);
      const double* const at = weights_[term.at];
      add(at, x, low_prior, low_);
      add(at + 8, x, high_prior, high_);
    }
    for (const auto& term : row_.hats)
      add(hats_.data() + term.at * width, all<Double4>(hats_scale_ * term.value), high_prior, high_);
    const Double4 pair = pair_scale_ * with_pairs;
    for (const std::uint32_t k : numbers_)
      if (k != PairIndex::none) add(pair_weights_.data() + k * width, pair, high_prior, high_);
    const double odds = prior_log_odds();
    const auto within = [](const Double4& z) { return most(all<Double4>(-30), least(all<Double4>(30), z)); };
    low_.logit = within(low_.logit + odds), high_.logit = within(high_.logit + odds);
    const auto [low, high] = shares();
    mixed_ = total(low * low_.logit + high * high_.logit);
    logit_ = std::clamp(slope_ * mixed_ + shift_, -30.0, 30.0);
    return score_ = doubted(logit_);
  }

  // Log odds moved towards those of the class counts: after few labels of a class nothing is nearly sure.
  double doubted(double logit) const {
    const double doubt = 0.5 / (std::min(positives_, negatives_) + 1), odds = exponential(-logit);
    const double share = (positives_ + 0.5) / (positives_ + negatives_ + 1), either = doubt * (1 + odds);
    return logarithm((1 - doubt + either * share) / ((1 - doubt) * odds + either * (1 - share)));
  }

  LOPSIDED_FLATTEN void step(const Target& t) {
    const double y = t.y > 0 ? 1 : 0, e = t.weight;
    const Double4 low = sigmoid(low_.logit), high = sigmoid(high_.logit);
    const Double4 low_h = e * low * (1.0 - low), high_h = e * high * (1.0 - high);
    const Double4 low_step = e * (y - low) / (1.0 + low_h * low_.variance);
    const Double4 high_step = e * (y - high) / (1.0 + high_h * high_.variance);
    const double* q = quotients_.data();
    const auto take = [&q](double* at, const Double4& step, const Double4& gain, const Double4& cap)
                          __attribute__((always_inline)) {
                            store4(at, load4(at) + step * load4(q));
                            store4(at + 4, least(Double4(load4(at + 4) + gain), cap));
                            q += 4;
                          };
    for (const auto& term : row_.linear) {
      double* const at = weights_[term.at];
      const double x = linear_scale_ * term.value, xx = x * x;
      take(at, low_step, low_h * xx, low_cap);
      take(at + 8, high_step, high_h * xx, high_cap);
    }
    for (const auto& term : row_.hats) {
      const double x = hats_scale_ * term.value;
      take(hats_.data() + term.at * width, high_step, high_h * (x * x), high_cap);
    }
    const Double4 pair_h = high_h * (pair_scale_ * pair_scale_) * with_pairs;
    for (const std::uint32_t k : numbers_)
      if (k != PairIndex::none) take(pair_weights_.data() + k * width, high_step, pair_h, high_cap);
    account(y, e);
  }

  // The row has been scored: it enters the statistics. Returns whether knots have moved.
  LOPSIDED_FLATTEN bool absorb() {
    bool moved = false;
    const auto make_room = [&] { hats_.resize(encoder_.columns() * RowEncoder::knots * width); };
    encoder_.absorb([&](std::size_t c, std::span<const RowEncoder::Moved> from, double shrink) {
      moved = true;
      make_room();
      move_knots(c, from, shrink);
    });
    make_room();
    const auto rows = static_cast<std::uint64_t>(encoder_.rows());
    if (rows >= 512 && std::has_single_bit(rows)) rank_columns();
    return moved;
  }
  // The weights of new knots are interpolated; their precisions are shared among more of them.
  [[gnu::noinline]] void move_knots(std::size_t c, std::span<const RowEncoder::Moved> from, double shrink) {
    double* const first = hats_.data() + c * RowEncoder::knots * width;
    const std::vector<double> old(first, first + RowEncoder::knots * width);
    std::fill_n(first, RowEncoder::knots * width, 0.0);
    for (std::size_t k = 0; k < from.size(); ++k)
      for (std::size_t i = 0; i < width; ++i) {
        const double *a = old.data() + from[k].left * width, *b = a + width;
        const double between = (1 - from[k].share) * a[i] + from[k].share * b[i];
        first[k * width + i] = i < 4 ? between : shrink * between;
      }
  }
  // By what the hats of member 4 explain.
  [[gnu::noinline]] void rank_columns() {
    std::vector<double> useful(encoder_.columns());
    for (std::size_t c = 0; c < useful.size(); ++c)
      for (std::size_t k = 0; k < RowEncoder::knots; ++k) {
        const double* at = hats_.data() + (c * RowEncoder::knots + k) * width;
        useful[c] += at[0] * at[0] * at[4];
      }
    encoder_.rank(useful);
  }

  // Losses, calibration and class counts.
  void account(double y, double e) {
    const double p = sigmoid(logit_), h = e * p * (1 - p), g = e * (p - y), sign = y > 0 ? 1 : -1;
    const double fade = 1 - std::min(0.5, 0.005 * h + 1e-6);
    store4(losses_.data(), fade * load4(losses_.data()) + e * log_loss(Double4(sign * low_.logit)));
    store4(losses_.data() + 4, fade * load4(losses_.data() + 4) + e * log_loss(Double4(sign * high_.logit)));
    const double kept = 1 - std::min(0.5, 0.0005 * h);
    double &aa = curvature_[0], &ab = curvature_[1], &bb = curvature_[2];
    aa = kept * aa + h * mixed_ * mixed_;
    ab = kept * ab + h * mixed_;
    bb = kept * bb + h;
    const double ga = g * mixed_, over = 1 / (aa * bb - ab * ab);
    slope_ -= (bb * ga - ab * g) * over;
    shift_ -= (aa * g - ab * ga) * over;
    (y > 0 ? positives_ : negatives_) += e;
  }

  static void validate_gains(std::span<const double> all, std::string_view entry) {
    for (std::size_t k = 0; k + width <= all.size(); k += width)
      for (std::size_t i = 4; i < width; ++i) validate(all[k + i] >= 0, entry);
  }

  // What was loaded fits together.
  void restored(std::vector<double> hats, const std::vector<double>& keys, std::vector<double> pairs) {
    const std::size_t size = encoder_.columns() * RowEncoder::knots * width;
    validate(hats.size() == size && all_finite(hats), "kept.hats");
    validate(keys.size() % 2 == 0 && keys.size() / 2 <= PairIndex::limit, "kept.pairs");
    validate(pairs.size() == keys.size() / 2 * width && all_finite(pairs), "kept.pairs.weights");
    pairs_.clear();
    for (std::size_t k = 0; k < keys.size(); k += 2) {
      validate(is_whole(keys[k], 0x1p32) && is_whole(keys[k + 1], 0x1p32), "kept.pairs");
      const std::uint32_t before = pairs_.size();
      pairs_.add(PairIndex::hashed(
          PairIndex::key(static_cast<std::uint32_t>(keys[k]), static_cast<std::uint32_t>(keys[k + 1]))));
      validate(pairs_.size() == before + 1, "kept.pairs");
    }
    hats_ = std::move(hats);
    pair_weights_ = std::move(pairs);
    validate_gains(hats_, "kept.hats");
    validate_gains(pair_weights_, "kept.pairs.weights");
    validate(positives_ >= 0 && negatives_ >= 0 && std::isfinite(positives_ + negatives_), "positives");
    validate(std::isfinite(slope_ + shift_), "slope");
    validate(curvature_.size() == 3 && all_finite(curvature_) &&
                 curvature_[0] * curvature_[2] - curvature_[1] * curvature_[1] > 0,
             "curvature");
    validate(losses_.size() == members && all_finite(losses_) &&
                 std::all_of(losses_.begin(), losses_.end(), [](double v) { return v >= 0; }),
             "losses");
  }

  bool scales_ = true;
  RowEncoder encoder_;
  Table weights_{2 * width};  // of the features: members 0 to 3, then 4 to 7
  std::vector<double> hats_;  // of the knots of each column
  PairIndex pairs_;
  std::vector<double> pair_weights_;
  double positives_ = 0, negatives_ = 0;
  double slope_ = 1, shift_ = 0;
  std::vector<double> curvature_{20, 0, 5}, losses_ = std::vector<double>(members);

  // Of the row encoded last.
  mutable RowEncoder::Encoded row_;
  mutable std::vector<PairIndex::Hashed> found_;  // its pairs
  mutable std::vector<std::uint32_t> numbers_;
  mutable double linear_scale_ = 0, hats_scale_ = 0, pair_scale_ = 0;
  mutable std::vector<double> quotients_;  // x / P of each input and member
  mutable Half low_, high_;
  mutable double mixed_ = 0, logit_ = 0, score_ = 0;
  std::vector<double> kept_values_;
  std::vector<Index> kept_indices_;
};

LOPSIDED_ISA_END
