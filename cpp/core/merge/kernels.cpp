// Kernel learners: the average of the functions, then lists of the size that the learner has, by its own policy.
//
// f = sum p_k f_k: a support vector of part k gets p_k times its weight, one of the base the sum over the parts that
// still have it. Of more than fit, a reservoir keeps a sample by the rows that each part has seen, fifo the latest of each
// part in turn, and a dropped row leaves its weight to the nearest kept one if the policy says so.
#include <map>
#include <tuple>

#include "../kernel/support.hpp"
#include "rules.hpp"

namespace lopsided::merging {

namespace {

struct Kept {
  kernel::StoredRow row;
  double weight;
};
using Pool = std::vector<Kept>;

struct List {
  std::string name;
  kernel::Shape shape;
  std::vector<Pool> pools;  // what is left of the base, then the rows of each part
  std::vector<double> chances;  // the rows that each pool stands for
};

Pool read(const State& state, const List& list) {
  kernel::Support rows;
  StateFrom from(state);
  rows.state(from, list.name, {list.shape.features, state.at(list.name + ".sparse").count != 0});
  Pool out(rows.size());
  for (std::size_t p = 0; p < out.size(); ++p) {
    rows.read(rows.slot(p), out[p].row);
    out[p].weight = rows.weights()[rows.slot(p)];
  }
  return out;
}

// Parts with fewer rows first, of equally many those with the smaller values: whatever the order in which they are given.
void order_parts(List& list) {
  using Part = std::pair<double, Pool>;
  std::vector<Part> parts;
  for (std::size_t k = 1; k < list.pools.size(); ++k) parts.emplace_back(list.chances[k], std::move(list.pools[k]));
  const auto smaller = [](const Kept& a, const Kept& b) {
    return std::tie(a.row.indices, a.row.values) < std::tie(b.row.indices, b.row.values);
  };
  std::sort(parts.begin(), parts.end(), [&](const Part& a, const Part& b) {
    return a.first != b.first ? a.first < b.first
                              : std::lexicographical_compare(a.second.begin(), a.second.end(), b.second.begin(),
                                                             b.second.end(), smaller);
  });
  for (std::size_t k = 1; k < list.pools.size(); ++k)
    std::tie(list.chances[k], list.pools[k]) = std::move(parts[k - 1]);
}

// `seen` counts the rows that a list is a sample of; without it the rows of a list stand for themselves.
List collect(const Merge& merge, const std::string& name, const std::vector<double>& scales, const std::string& seen) {
  List list{name, {0, false}, {}, {}};
  for (const State& state : merge.parts) {
    const Count slots = state.at(name + ".slots").count;
    if (slots == 0) continue;
    list.shape.sparse = state.at(name + ".sparse").count != 0;
    const std::size_t values = state.at("kept." + name + ".values").values.size();
    list.shape.features = list.shape.sparse ? max_features : values / slots;
  }
  std::map<std::pair<std::vector<Index>, std::vector<double>>, std::size_t> known;
  Pool base = read(merge.base, list);
  std::vector<char> present(base.size());
  for (std::size_t p = 0; p < base.size(); ++p) {
    known.try_emplace({base[p].row.indices, base[p].row.values}, p);
    base[p].weight = 0;
  }
  list.pools.resize(1);
  for (std::size_t k = 0; k < merge.size(); ++k) {
    Pool own;
    for (Kept& one : read(merge.parts[k], list)) {
      one.weight *= merge.share[k] * scales[k];
      const auto found = known.find({one.row.indices, one.row.values});
      if (found == known.end()) {
        own.push_back(std::move(one));
      } else {
        base[found->second].weight += one.weight;
        present[found->second] = 1;
      }
    }
    list.pools.push_back(std::move(own));
  }
  for (std::size_t p = 0; p < base.size(); ++p)
    if (present[p]) list.pools[0].push_back(std::move(base[p]));
  const double before = seen.empty() ? 0 : merge.base.at(seen).number();
  for (std::size_t k = 0; k < list.pools.size(); ++k)
    list.chances.push_back(seen.empty() ? static_cast<double>(list.pools[k].size())
                           : k == 0     ? before
                                        : merge.parts[k - 1].at(seen).number() - before);
  order_parts(list);
  return list;
}

std::size_t size_of(const List& list) {
  std::size_t sum = 0;
  for (const Pool& pool : list.pools) sum += pool.size();
  return sum;
}

std::vector<Place> all_of(const List& list) {
  std::vector<Place> out;
  for (std::size_t k = 0; k < list.pools.size(); ++k)
    for (std::size_t p = 0; p < list.pools[k].size(); ++p) out.push_back({k, p});
  return out;
}

// The last of each part, then those before them, and so on, and those of the base when there are no others.
std::vector<Place> latest(const List& list, std::size_t room) {
  std::vector<Place> out;
  std::size_t longest = 0;
  for (std::size_t k = 1; k < list.pools.size(); ++k) longest = std::max(longest, list.pools[k].size());
  for (std::size_t back = 1; back <= longest; ++back)
    for (std::size_t k = 1; k < list.pools.size(); ++k)
      if (back <= list.pools[k].size()) out.push_back({k, list.pools[k].size() - back});
  for (std::size_t p = list.pools[0].size(); p > 0; --p) out.push_back({0, p - 1});
  out.resize(std::min(out.size(), room));
  std::reverse(out.begin(), out.end());
  return out;
}

std::vector<Place> sampled(const List& list, std::size_t room, double seed, Count& draws) {
  std::vector<std::size_t> sizes;
  for (const Pool& pool : list.pools) sizes.push_back(pool.size());
  return drawn(sizes, list.chances, room, seed, draws);
}

kernel::Support kept_of(List& list, const std::vector<Place>& places, const kernel::Function& kernel, bool heirs) {
  kernel::Support out;
  std::vector<std::vector<char>> stays;
  for (const Pool& pool : list.pools) stays.emplace_back(pool.size());
  for (const auto& [pool, place] : places) {
    out.push_back(list.pools[pool][place].row, list.pools[pool][place].weight);
    stays[pool][place] = 1;
  }
  if (!heirs || places.empty()) return out;
  std::vector<double> near(out.room());
  Table pad;
  for (const auto& [pool, place] : all_of(list)) {
    if (stays[pool][place]) continue;
    out.values(list.pools[pool][place].row, kernel, pad, near.data());
    const auto end = near.begin() + static_cast<std::ptrdiff_t>(out.size());
    out.weights()[std::max_element(near.begin(), end) - near.begin()] += list.pools[pool][place].weight;
  }
  return out;
}

void put(Merge& merge, const List& list, kernel::Support& rows) {
  merge.out.merge(state_from([&](StateVisitor& visit) { rows.state(visit, list.name, list.shape); }));
}

kernel::Function merge_kernel(Merge& merge) {
  constexpr const char* why =
      "gamma was estimated from the first rows of each shard: give gamma, or start the shards from one model that has "
      "learned from 50 rows";
  const bool estimated = merge.options.numbers.at("gamma") == 0;
  for (const State& part : merge.parts)
    if (part.contains("first.slots")) refuse(why);
  if (estimated) {
    merge.same("kernel.gamma", why);
    merge.same("kernel.taken", why);
  } else {
    merge.start("kernel.gamma");
    merge.largest("kernel.taken");
  }
  merge.largest("kernel.started");
  merge.largest("kernel.sparse");
  for (const State& part : merge.parts)
    if (part.at("kernel.started").count && part.at("kernel.sparse").count != merge.out["kernel.sparse"].count)
      refuse("some models have learned from dense rows and some from sparse ones");
  kernel::Function out;
  constexpr std::string_view forms[] = {"gaussian", "laplacian", "linear", "polynomial"};
  const std::string& form = merge.options.choices.at("kernel");
  out.form = static_cast<kernel::Form>(std::find(forms, forms + 4, form) - forms);
  out.gamma = merge.out["kernel.gamma"].number();
  out.degree = merge.options.numbers.at("degree");
  out.coef0 = merge.options.numbers.at("coef0");
  return out;
}

}  // namespace

void merge_koil(Merge& merge) {
  const kernel::Function kernel = merge_kernel(merge);
  const std::string& policy = merge.options.choices.at("policy");
  const bool heirs = policy.ends_with("++");
  merge.sum("koil.draws");
  Count& draws = merge.out["koil.draws"].count;
  std::vector<double> scales;
  for (const State& part : merge.parts) scales.push_back(part.at("koil.scale").number());
  kernel::Support sides[2];
  const std::string names[] = {"negative", "positive"};
  for (std::size_t s = 0; s < 2; ++s) {
    const std::string seen = names[s] + ".seen";
    merge.sum(seen);
    List list = collect(merge, names[s], scales, seen);
    const double room = merge.options.numbers.at("size." + names[s]);
    const bool fits = policy == "infinite" || static_cast<double>(size_of(list)) <= room;
    const auto most = static_cast<std::size_t>(fits ? 0 : room);
    const std::vector<Place> places = fits ? all_of(list)
                                      : policy.starts_with("fifo")
                                          ? latest(list, most)
                                          : sampled(list, most, merge.options.numbers.at("seed"), draws);
    sides[s] = kept_of(list, places, kernel, heirs);
    put(merge, list, sides[s]);
  }
  merge.start("koil.scale").values = {1};
  merge.start("koil.steps").count = 0;
  kernel::StoredRow row;
  std::vector<double> near;
  Table pad;
  for (std::size_t s = 0; s < 2; ++s) {
    std::vector<double>& scores = merge.start("kept." + names[s] + ".scores").values;
    scores.assign(sides[s].size(), 0);
    for (std::size_t p = 0; p < scores.size(); ++p) {
      sides[s].read(p, row);
      for (const kernel::Support& with : sides) {
        near.assign(with.room(), 0);
        with.values(row, kernel, pad, near.data());
        scores[p] += kernel::weighted(with.weights(), near.data(), with.room());
      }
    }
  }
}

namespace {

void merge_list(Merge& merge, std::size_t most, Count* draws) {
  const kernel::Function kernel = merge_kernel(merge);
  List list = collect(merge, "kept", std::vector<double>(merge.size(), 1), "");
  const std::vector<Place> places =
      size_of(list) <= most ? all_of(list) : sampled(list, most, merge.options.numbers.at("seed"), *draws);
  kernel::Support rows = kept_of(list, places, kernel, false);
  put(merge, list, rows);
}

}  // namespace

void merge_kernel_perceptron(Merge& merge) { merge_list(merge, std::numeric_limits<std::size_t>::max(), nullptr); }

void merge_rbp(Merge& merge) {
  merge.sum("draws");
  merge_list(merge, static_cast<std::size_t>(merge.options.numbers.at("buffer_size")), &merge.out["draws"].count);
}

}  // namespace lopsided::merging
