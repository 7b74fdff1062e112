#include "calibration.hpp"

#include "../numbers/logistic.hpp"
#include "../validate.hpp"

namespace lopsided {

namespace {

constexpr Count longest_memory = Count{1} << 15;
constexpr double rescale = 0x1p-32;       // exact: a power of two
constexpr double most = 0x1p200;          // of an entry, which a file may claim
constexpr double steepest_log_odds = 30;  // of Platt's sigmoid, where it is a prior

constexpr double platts_share = 1.0 / 16;  // of the log odds in the end

// How many labels come between a checkpoint after n of them and the next one.
Count until_next(Count n) { return std::clamp<Count>(n / 8, 4, longest_memory / 8); }
// How much more a label after that checkpoint counts than one before.
double growth_after(Count n) {
  if (n == 0) return 1;
  const Count memory = std::clamp<Count>(n / 4, 16, longest_memory);
  return 1 + static_cast<double>(until_next(n)) / static_cast<double>(memory);
}

// What is known of one bin.
struct Bin {
  double at, positives, all;
};

// Platt's sigmoid of the scaled scores z: 1 / (1 + exp(-(a z + b))).
struct Sigmoid {
  double a = 0, b = 0;
};

// The negative log likelihood with Platt's targets, its gradient and its Hessian.
struct Fit {
  double loss = 0, a = 0, b = 0, aa = 0, ab = 0, bb = 0;
};

class Platt {
 public:
  Platt(const std::vector<Bin>& bins, double scale, double positives, double negatives)
      : bins_(bins), scale_(scale), hit_((positives + 1) / (positives + 2)), miss_(1 / (negatives + 2)) {}

  Fit at(const Sigmoid& s) const {
    Fit out;
    for (const Bin& bin : bins_) {
      const double z = bin.at / scale_, f = s.a * z + s.b;
      const double target = bin.positives * hit_ + (bin.all - bin.positives) * miss_;
      const double p = sigmoid(f), slope = bin.all * p - target, curve = bin.all * p * (1 - p);
      out.loss += bin.all * log_loss(-f) - target * f;
      out.a += slope * z, out.b += slope;
      out.aa += curve * z * z, out.ab += curve * z, out.bb += curve;
    }
    return out;
  }

  // Newton's method, with the step halved until it helps (Lin, Lin & Weng 2007).
  Sigmoid found(Sigmoid now) const {
    constexpr double small = 1e-7, ridge = 1e-9;
    Fit fit = at(now);
    for (int round = 0; round < 50 && (std::abs(fit.a) > small || std::abs(fit.b) > small); ++round) {
      const double aa = fit.aa + ridge, bb = fit.bb + ridge, determinant = aa * bb - fit.ab * fit.ab;
      const double da = (fit.ab * fit.b - bb * fit.a) / determinant, db = (fit.ab * fit.a - aa * fit.b) / determinant;
      const double gain = 1e-4 * (fit.a * da + fit.b * db);
      bool better = false;
      for (double step = 1; step > 1e-6 && !better; step /= 2) {
        const Sigmoid next{now.a + step * da, now.b + step * db};
        const Fit there = at(next);
        better = there.loss < fit.loss + step * gain;
        if (better) now = next, fit = there;
      }
      if (!better) break;
    }
    return now;
  }

 private:
  const std::vector<Bin>& bins_;
  double scale_, hit_, miss_;
};

double log_odds_of(double share) {
  const double p = std::clamp(share, 0x1p-50, 1 - 0x1p-50);
  return logarithm(p / (1 - p));
}

// A run of bins with one share of positives.
struct Pool {
  double share, weight;
  std::size_t bins;
};

// The share of positives in each bin with one expected case of the rarer class before any was seen, made increasing.
std::vector<Pool> pooled(const std::vector<Bin>& bins, const auto& prior) {
  std::vector<Pool> out;
  for (const Bin& bin : bins) {
    const double p = sigmoid(std::clamp(prior(bin.at), -steepest_log_odds, steepest_log_odds));
    const double before = 1 / std::min(p, 1 - p), weight = bin.all + before;
    out.push_back({(bin.positives + before * p) / weight, weight, 1});
    while (out.size() > 1 && out[out.size() - 2].share > out.back().share) {
      const Pool last = out.back();
      out.pop_back();
      Pool& joined = out.back();
      const double sum = joined.weight + last.weight;
      joined.share = (joined.share * joined.weight + last.share * last.weight) / sum;
      joined.weight = sum;
      joined.bins += last.bins;
    }
  }
  return out;
}

}  // namespace

double Calibration::middle(std::size_t bin) {
  const std::size_t place = bin % (bins / 2);
  const double size =
      std::bit_cast<double>((first + place) << 50) + std::bit_cast<double>((first + place / 4 * 4) << 50) / 8;
  return bin < bins / 2 ? size : -size;
}

void Calibration::reach_checkpoint() {
  mass_ = mass_ / growth_after(checkpoint_) + static_cast<double>(labels_ - checkpoint_);
  checkpoint_ = labels_;
  before_ = now_;
  unit_ *= growth_after(checkpoint_);
  if (unit_ > 1 / rescale) {
    unit_ *= rescale;
    for (double& entry : now_) entry *= rescale;
  }
  next_ = checkpoint_ + until_next(checkpoint_);
  fitted_ = false;
}

void Calibration::fit() {
  fitted_ = true;
  slope_ = offset_ = 0;
  at_.clear(), value_.clear();
  std::vector<Bin> known;
  double positives = 0, all = 0, squares = 0;
  for (std::size_t k = 0; k < bins; ++k) {  // from the lowest score on
    const std::size_t bin = k < bins / 2 ? bins - 1 - k : k - bins / 2;
    const double negative = before_[bin], positive = before_[bins + bin], at = middle(bin);
    if (!(negative + positive > 0)) continue;
    known.push_back({at, positive, negative + positive});
    positives += positive, all += negative + positive, squares += (negative + positive) * at * at;
  }
  if (known.empty() || !std::isfinite(mass_ / all)) return;
  const double count = mass_ / all, scale = std::sqrt(squares / all);  // weights as numbers of labels
  for (Bin& bin : known) bin.positives *= count, bin.all *= count;
  positives *= count;
  const double negatives = std::max(0.0, mass_ - positives);
  const Sigmoid constant{0, logarithm((positives + 1) / (negatives + 1))};
  Sigmoid sigmoid = Platt(known, scale, positives, negatives).found(constant);
  if (!(sigmoid.a >= 0)) sigmoid = constant;
  slope_ = sigmoid.a / scale, offset_ = sigmoid.b;
  for (const Pool& pool : pooled(known, [&](double score) { return slope_ * score + offset_; }))
    value_.insert(value_.end(), pool.bins, log_odds_of(pool.share));
  for (std::size_t k = 0; k < known.size(); ++k) {  // increasing within a pool, too: ranks are kept
    at_.push_back(known[k].at);
    value_[k] += platts_share * (slope_ * known[k].at + offset_ - value_[k]);
  }
}

double Calibration::look_up(double score) const {
  if (at_.empty()) return 0;
  const auto above = static_cast<std::size_t>(std::upper_bound(at_.begin(), at_.end(), score) - at_.begin());
  if (above == 0) return value_.front() + slope_ * (score - at_.front());
  if (above == at_.size()) return value_.back() + slope_ * (score - at_.back());
  const double share = (score - at_[above - 1]) / (at_[above] - at_[above - 1]);
  return value_[above - 1] + share * (value_[above] - value_[above - 1]);
}

void Calibration::resume() {
  validate(checkpoint_ <= labels_, "calibration.checkpoint");
  next_ = checkpoint_ == 0 ? 1 : checkpoint_ + until_next(checkpoint_);
  validate(labels_ < next_, "calibration.labels");
  validate(unit_ >= 1 && unit_ <= 1 / rescale, "calibration.unit");
  validate(mass_ >= 0 && mass_ <= static_cast<double>(checkpoint_), "calibration.mass");
  fitted_ = false;
}

// Only bins that are not empty: number, negatives, positives.
void Calibration::pack(const Entries& entries, Series& out) {
  for (std::size_t bin = 0; bin < bins; ++bin)
    if (entries[bin] != 0 || entries[bins + bin] != 0)
      out.values.insert(out.values.end(), {static_cast<double>(bin), entries[bin], entries[bins + bin]});
}

void Calibration::unpack(const char* name, const Series& from, Entries& out) {
  const std::vector<double>& values = from.values;
  out.fill(0);
  validate(values.size() % 3 == 0, name);
  for (std::size_t k = 0; k < values.size(); k += 3) {
    validate(is_whole(values[k], bins) && (k == 0 || values[k - 3] < values[k]), name);
    const auto bin = static_cast<std::size_t>(values[k]);
    for (std::size_t label : {0, 1}) {
      const double entry = values[k + 1 + label];
      validate(entry >= 0 && entry < most, name);
      out[label * bins + bin] = entry;
    }
  }
}

}  // namespace lopsided
