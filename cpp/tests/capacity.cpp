#include "../core/stream/capacity.hpp"

#include <string_view>

#include "../core/numbers/random.hpp"
#include "check.hpp"

using namespace lopsided;

namespace {

Capacity with(double alarms, double per, bool daily = false) {
  Capacity out;
  out.options([&](std::string_view name, auto& value) {
    using Value = std::remove_reference_t<decltype(value)>;
    value = static_cast<Value>(name == "capacity" ? alarms : name == "capacity_per" ? per : daily);
  });
  return out;
}

}  // namespace

TEST(without_a_capacity_there_is_no_limit) {
  Capacity capacity;
  CHECK(!capacity.on());
  CHECK(with(5, 100).on());
}

TEST(no_period_has_more_alarms_than_it_may) {
  Capacity capacity = with(7, 50);
  Count raised = 0, all = 0;
  for (Count k = 0; k < 2000; ++k) {
    if (k % 50 == 0) raised = 0;
    raised += capacity.allows(uniform(1, k) < 0.9, uniform(2, k), 0);
    all += raised > 7;
    CHECK(capacity.left() == 7.0 - static_cast<double>(raised));
  }
  CHECK(all == 0);
}

TEST(alarms_are_spread_over_the_period) {
  Capacity capacity = with(40, 1000);
  std::vector<Count> quarters(4);
  for (Count k = 0; k < 5000; ++k) {
    const bool raised = capacity.allows(true, std::exp2(10 * uniform(3, k)), 0);  // few in each bin
    if (k >= 4000) quarters[(k - 4000) / 250] += raised;
  }
  for (const Count raised : quarters) CHECK(raised >= 5 && raised <= 15);
}

TEST(alarms_of_one_gain_are_spread_too) {
  Capacity capacity = with(40, 1000);
  std::vector<Count> quarters(4);
  for (Count k = 0; k < 5000; ++k) {
    const bool raised = capacity.allows(uniform(5, k) < 0.3, 7, 0);
    if (k >= 4000) quarters[(k - 4000) / 250] += raised;
  }
  for (const Count raised : quarters) CHECK(raised >= 8 && raised <= 12);
}

TEST(few_high_gains_among_many_of_one_bin_are_not_missed) {
  Capacity capacity = with(40, 1000);
  Count high = 0, low = 0, missed = 0;
  for (Count k = 0; k < 20000; ++k) {
    const bool is_high = uniform(6, k) < 0.01;
    const bool raised = capacity.allows(true, is_high ? 100 : 1, 0);
    if (k < 1000) continue;
    (is_high ? high : low) += raised;
    missed += is_high && !raised;
  }
  CHECK(missed * 20 <= high && low > 2 * high);
}

TEST(the_highest_gains_are_chosen) {
  Capacity capacity = with(20, 1000);
  double sum = 0, count = 0;
  for (Count k = 0; k < 20000; ++k) {
    const double gain = uniform(4, k);
    if (k >= 2000 && capacity.allows(true, gain, 0)) sum += gain, ++count;
    else if (k < 2000) capacity.allows(true, gain, 0);
  }
  CHECK(count > 200 && sum / count > 0.9);  // 0.5 at random
}

TEST(nothing_is_raised_that_is_not_wanted) {
  Capacity capacity = with(1000, 10);
  for (Count k = 0; k < 100; ++k) CHECK(!capacity.allows(false, 5, 0));
  CHECK(capacity.allows(true, 5, 0));
}

TEST(a_new_day_has_its_own_capacity) {
  Capacity capacity = with(3, 0, true);
  for (int day = 10; day < 14; ++day) {
    Count raised = 0;
    for (Count k = 0; k < 200; ++k)
      raised += capacity.allows(true, uniform(day, k), day + static_cast<double>(k) / 200);
    CHECK(raised <= 3 && raised >= 1);
  }
  Count late = 0;  // events of an earlier day count for the present one
  for (Count k = 0; k < 200; ++k) late += capacity.allows(true, 9, 10);
  CHECK(late <= 3);
}
