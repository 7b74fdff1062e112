#include "../core/numbers/hash.hpp"

#include <set>
#include <string>

#include "check.hpp"

using lopsided::NameHash;

TEST(hash_of_a_name_never_changes) {
  CHECK(NameHash().add("").value() == 0xe28f2b2061a2b984);
  CHECK(NameHash().add("amount").value() == 0x73bde507ea8b5fa6);
  CHECK(NameHash().add("a long name of a feature").value() == 0x0d29e9eff049f8fa);
}

TEST(hash_spreads_similar_names) {
  std::set<std::uint64_t> top;
  for (int k = 0; k < 1000; ++k) top.insert(NameHash().add("x" + std::to_string(k)).value() >> 40);
  CHECK(top.size() > 990);
}

TEST(hash_tells_lengths_apart) {
  using namespace std::string_view_literals;
  CHECK(NameHash().add("a"sv).value() != NameHash().add("a\0"sv).value());
}
