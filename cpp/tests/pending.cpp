#include <map>

#include "../core/numbers/random.hpp"
#include "../core/stream/pending.hpp"
#include "check.hpp"

using namespace lopsided;

TEST(pending_events_are_those_of_a_map) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    std::uint64_t draws = seed << 32;
    const auto draw = [&](std::uint64_t below) { return splitmix64(draws++) % below; };
    const double most = 1 + static_cast<double>(draw(40));
    Pending pending;
    pending.options([&](const char*, double& value) { value = most; });
    std::map<Count, double> expected;
    Count id = 0;
    for (int round = 0; round < 1000; ++round) {
      if (draw(10) < 6) {
        id += 1 + draw(3);
        // In long runs of one size rows meet the end of the room at every place.
        const std::vector<double> values(1 + (round / 200 % 2 ? draw(5) : 2), double(id));
        const std::vector<Index> indices(draw(4), static_cast<Index>(id));
        const Kept kept{.values = values, .indices = indices};
        expected[id] = double(id);
        const bool full = static_cast<double>(expected.size()) > most;
        CHECK(pending.add(id, kept) == (full ? std::int64_t(expected.begin()->first) : -1));
        if (full) expected.erase(expected.begin());
      } else if (!expected.empty()) {
        const Count some[] = {expected.begin()->first, expected.rbegin()->first, draw(id + 2)};
        const Count which = some[draw(3)];
        CHECK(pending.forget(which) == (expected.erase(which) == 1));
      }
      if (round % 300 == 7) pending.state([](const char*, Series&) {}, 1u << 30, [](const Kept&) { return true; });
      const std::optional<Kept> found = pending.find(draw(id + 2));
      CHECK(!found || expected.contains(static_cast<Count>(found->values[0])));
      std::vector<Count> ids;
      for (const auto& [key, value] : expected) {
        ids.push_back(key);
        const std::optional<Kept> waits = pending.find(key);
        CHECK(waits.has_value());
        CHECK(std::ranges::all_of(waits->values, [=](double v) { return v == value; }));
        CHECK(std::ranges::all_of(waits->indices, [=](Index j) { return j == static_cast<Index>(key); }));
      }
      CHECK(pending.ids() == ids);
    }
  }
}
