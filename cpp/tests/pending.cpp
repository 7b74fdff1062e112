#include <map>

#include "../core/query.hpp"
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
        Kept kept = pending.spare();
        kept.values.assign(1 + draw(5), double(id));
        expected[id] = double(id);
        const bool full = static_cast<double>(expected.size()) > most;
        CHECK(pending.add(id, std::move(kept)) == (full ? std::int64_t(expected.begin()->first) : -1));
        if (full) expected.erase(expected.begin());
      } else if (!expected.empty()) {
        const Count some[] = {expected.begin()->first, expected.rbegin()->first, draw(id + 2)};
        const Count which = some[draw(3)];
        CHECK(pending.forget(which) == (expected.erase(which) == 1));
      }
      if (round % 300 == 7) pending.state([](const char*, Series&) {}, [](const Kept&) { return true; });
      const Kept* found = pending.find(draw(id + 2));
      CHECK(!found || expected.contains(static_cast<Count>(found->values[0])));
      std::vector<Count> ids;
      for (const auto& [key, value] : expected) {
        ids.push_back(key);
        CHECK(pending.find(key) && pending.find(key)->values[0] == value);
      }
      CHECK(pending.ids() == ids);
    }
  }
}
