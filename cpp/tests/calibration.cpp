#include "../core/stream/calibration.hpp"

#include <map>
#include <string>

#include "../core/numbers/random.hpp"
#include "check.hpp"

using namespace lopsided;

namespace {

// A state, to be written out and then read back.
struct Saved {
  std::map<std::string, Count> counts;
  std::map<std::string, double> numbers;
  std::map<std::string, std::vector<double>> lists;
  bool restores = false;

  void operator()(const char* name, Count& value) { exchange(counts[name], value); }
  void operator()(const char* name, double& value) { exchange(numbers[name], value); }
  void operator()(const char* name, Series& value) { exchange(lists[name], value.values); }
  template <class T>
  void exchange(T& kept, T& value) {
    restores ? value = kept : kept = value;
  }
};

constexpr double usual = 1.125;  // the middle of its bin

// Scores of one size; the label agrees with the sign three times of four.
Calibration learned(Count labels) {
  Calibration out;
  for (Count k = 0; k < labels; ++k) {
    const double score = k % 2 ? usual : -usual;
    out.record(score, k / 2 % 4 == 3 ? -score : score, 1);
  }
  return out;
}

}  // namespace

TEST(every_bin_holds_its_own_middle) {
  for (std::size_t bin = 0; bin < Calibration::bins; ++bin) CHECK(Calibration::bin(Calibration::middle(bin)) == bin);
  CHECK(Calibration::bin(0) == Calibration::bin(1e-300));
  CHECK(Calibration::bin(1e300) == Calibration::bins / 2 - 1 && Calibration::bin(-1e300) == Calibration::bins - 1);
}

TEST(scores_in_order_have_bins_in_order) {
  for (double score = 0x1p-15; score < 0x1p15; score *= 1.3) {
    const double middle = Calibration::middle(Calibration::bin(score));
    CHECK(std::abs(middle / score - 1) <= 0.125);
    CHECK(Calibration::middle(Calibration::bin(-score)) == -middle);
  }
}

TEST(without_labels_nothing_is_known) {
  Calibration calibration;
  CHECK(calibration.log_odds(5) == 0 && calibration.labels() == 0);
}

TEST(log_odds_are_those_of_the_labels_and_increase) {
  Calibration calibration = learned(8000);
  CHECK(check::near(calibration.log_odds(usual), std::log(3), 0.001));
  CHECK(check::near(calibration.log_odds(-usual), -std::log(3), 0.001));
  for (double score = -4; score < 4; score += 0.01)
    CHECK(calibration.log_odds(score) < calibration.log_odds(score + 0.01));
}

TEST(a_label_that_was_unlikely_to_be_bought_counts_more) {
  Calibration plain, bought;
  for (Count k = 0; k < 4000; ++k) {
    plain.record(1, k % 10 == 0 ? 1 : -1, 1);
    // The same events, but each negative is bought with probability 1/9.
    bought.record(1, k % 2 ? 1 : -1, k % 2 ? 1 : 9);
  }
  CHECK(check::near(plain.log_odds(1), -std::log(9), 0.03));
  CHECK(check::near(bought.log_odds(1), plain.log_odds(1), 0.03));
}

TEST(old_labels_fade) {
  Calibration calibration = learned(4000);
  for (Count k = 0; k < 20000; ++k) calibration.record(1, -1, 1);
  CHECK(calibration.log_odds(1) < -3);
}

TEST(a_class_that_never_came_leaves_log_odds_finite) {
  Calibration calibration;
  for (Count k = 0; k < 100; ++k) calibration.record(uniform(1, k) - 0.5, -1, 1);
  CHECK(calibration.log_odds(3) < 0 && std::isfinite(calibration.log_odds(1e6)) &&
        std::isfinite(calibration.log_odds(-1e6)));
}

TEST(looking_in_between_changes_nothing) {
  Calibration asked, silent;
  for (Count k = 0; k < 3000; ++k) {
    const double score = 4 * uniform(2, k) - 2, y = uniform(3, k) * 4 - 2 < score ? 1 : -1;
    asked.record(score, y, 1), silent.record(score, y, 1);
    asked.log_odds(score);
  }
  for (double score = -3; score <= 3; score += 0.25) CHECK(asked.log_odds(score) == silent.log_odds(score));
}

TEST(a_calibration_is_saved_and_goes_on) {
  Calibration before = learned(1001), after;
  Saved saved;
  before.state(saved);
  saved.restores = true;
  after.state(saved);
  for (Count k = 0; k < 500; ++k) before.record(0.5, k % 3 ? 1 : -1, 2), after.record(0.5, k % 3 ? 1 : -1, 2);
  CHECK(before.log_odds(0.7) == after.log_odds(0.7) && before.labels() == after.labels());
}

TEST(a_damaged_calibration_is_refused) {
  Calibration good = learned(1000);
  Saved saved;
  good.state(saved);
  saved.restores = true;
  const auto refused = [&](auto damage) {
    Saved bad = saved;
    damage(bad);
    Calibration into;
    CHECK_THROWS(std::invalid_argument, into.state(bad));
  };
  refused([](Saved& s) { s.counts["calibration.checkpoint"] = s.counts["calibration.labels"] + 1; });
  refused([](Saved& s) { s.counts["calibration.labels"] += 10000; });
  refused([](Saved& s) { s.numbers["calibration.unit"] = 0.5; });
  refused([](Saved& s) { s.numbers["calibration.mass"] = -1; });
  refused([](Saved& s) { s.lists["calibration.now"].pop_back(); });
  refused([](Saved& s) { s.lists["calibration.now"][0] = 1e6; });
  refused([](Saved& s) { s.lists["calibration.before"][1] = -1; });
}
