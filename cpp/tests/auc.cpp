#include "../core/metrics/running_auc.hpp"

#include "../core/numbers/symmetric.hpp"
#include "check.hpp"

using namespace lopsided;

namespace {

double noise(std::size_t k) { return std::sin(1.7 * static_cast<double>(k * k) + 0.3); }

// Scores repeat, classes are lopsided.
double score(std::size_t k) { return std::round(8 * noise(k)) / 8; }
bool positive(std::size_t k) { return noise(3 * k + 1) > 0.6; }
double weight(std::size_t k) { return k % 5 == 0 ? 0 : 1 + 0.5 * noise(k + 7); }

double by_pairs(const std::vector<std::size_t>& events) {
  double won = 0, pairs = 0;
  for (const std::size_t i : events)
    for (const std::size_t j : events) {
      if (!positive(i) || positive(j)) continue;
      const double both = weight(i) * weight(j), a = score(i), b = score(j);
      pairs += both;
      won += a > b ? both : a == b ? both / 2 : 0;
    }
  return won / pairs;
}

}  // namespace

TEST(running_auc_is_the_share_of_pairs_in_order) {
  for (const std::size_t window : {0u, 1u, 2u, 40u}) {
    RunningAuc running(window);
    std::vector<std::size_t> events;
    for (std::size_t k = 0; k < 300; ++k) {
      running.add(positive(k), score(k), weight(k));
      if (weight(k) == 0) continue;
      events.push_back(k);
      if (window > 0 && events.size() > window) events.erase(events.begin());
      const double want = by_pairs(events), got = running.value();
      CHECK(std::isnan(want) ? std::isnan(got) : check::near(got, want));
    }
  }
}

TEST(running_auc_stays_within_its_limit_and_its_error) {
  for (const std::size_t window : {0u, 500u}) {
    RunningAuc exact(window), coarse(window, 16);
    for (std::size_t k = 0; k < 2000; ++k) {
      for (RunningAuc* one : {&exact, &coarse}) one->add(positive(k), noise(k) * (k % 3 ? 1e-9 : 1), 1);
      CHECK(coarse.size() <= 16);
      if (k > 20) CHECK(std::abs(exact.value() - coarse.value()) <= coarse.error() + 1e-12);
    }
    RunningAuc again(window, 16);
    again.restore(coarse.dropped(), coarse.levels(), coarse.events());
    for (std::size_t k = 0; k < 700; ++k) {
      for (RunningAuc* one : {&again, &coarse}) one->add(positive(k), noise(k), 1);
      CHECK(again.value() == coarse.value() && again.error() == coarse.error());
    }
  }
}

TEST(symmetric_starts_as_a_multiple_of_the_identity_and_adds) {
  Symmetric matrix(0);
  matrix.grow(6);
  std::vector<double> s(matrix.padded());
  for (std::size_t j = 0; j < 6; ++j) s[j] = noise(j);
  matrix.add(s.data());
  matrix.grow(9);
  for (std::size_t i = 0; i < 9; ++i)
    for (std::size_t j = 0; j <= i; ++j) CHECK(matrix.at(i, j) == (i < 6 ? s[i] * s[j] : 0.0));
}
