#include "../core/merge/merge.hpp"

#include <cmath>

#include "../core/registry/registry.hpp"
#include "check.hpp"

using namespace lopsided;

namespace {

// A wave with zeros, an indicator in its last column.
struct Wave {
  Index columns;
  std::vector<double> x;
  std::vector<std::int8_t> y;

  Wave(Count rows, Index columns) : columns(columns), x(rows * columns), y(rows) {
    for (std::size_t k = 0; k < x.size(); ++k)
      x[k] = (k + 1) % columns == 0 ? static_cast<double>(k % 3 == 0)
                                    : std::sin(2.3 * static_cast<double>(k)) * (k % 7 != 0);
    for (Count i = 0; i < rows; ++i) y[i] = x[i * columns] > 0.6 ? 1 : -1;
  }
  Rows rows(Count first, Count last, Index wide) const {
    return Rows({x.data() + first * columns, false, columns, 1}, last - first, wide);
  }
  void teach(Model& model, Count first, Count last, Index wide) const {
    Pass pass;
    pass.labels = y.data() + first;
    pass.size = last - first;
    model.learn(rows(first, last, wide), pass);
  }
};

struct Chosen final : OptionVisitor {
  bool scaled;

  explicit Chosen(bool scaled) : scaled(scaled) {}
  void operator()(const char* name, double& value) override {
    if (std::string(name) == "gamma") value = 0.5;  // kernels whose gamma is estimated differ
  }
  void operator()(const char*, std::vector<double>&) override {}
  void operator()(const char* name, bool& value) override {
    const std::string option = name;
    if (!scaled) return;
    if (option == "standard" || option == "centred" || option == "intercept" || option == "balanced") value = true;
    if (option == "scales") value = false;
  }
  int choose(const char*, std::initializer_list<const char*>, int now) override { return now; }
};

bool merges(std::string_view kind) {
  for (const char* none : {"koil-mixture", "norma", "forgetron", "opauc-low-rank", "projectron"})
    if (kind.starts_with(none)) return false;
  return true;
}

std::unique_ptr<Model> fresh(const Kind& kind, bool scaled) {
  auto model = kind.make();
  Chosen options(scaled);
  model->options(options);
  return model;
}

std::unique_ptr<Model> restored(const Kind& kind, bool scaled, const MergedState& merged) {
  auto model = fresh(kind, scaled);
  merging::StateFrom from(merged.state);
  restore(model, merged.features, from);
  return model;
}

}  // namespace

TEST(every_kind_merges_or_says_why_not) {
  const Wave wave(3000, 6);
  for (const Kind& kind : kinds())
    for (const bool scaled : {false, true}) {
      const auto nothing = fresh(kind, scaled);
      std::unique_ptr<Model> base;
      for (Count round = 0; round < 3; ++round) {
        const Model& start = base ? *base : *nothing;
        std::vector<MergePart> parts;
        try {
          for (Count k = 0; k < 3; ++k) {
            auto part = base ? restored(kind, scaled, split_state(kind.name, start, 3)) : fresh(kind, scaled);
            // The last shard of the first round knows fewer features.
            wave.teach(*part, 900 * round + 300 * k, 900 * round + 300 * k + 100 * k + 50, k == 2 && !base ? 4 : 6);
            parts.push_back({std::move(part), {}, 1});
          }
          base = restored(kind, scaled, merge_states(kind.name, start, parts));
          CHECK(merges(kind.name));
        } catch (const std::invalid_argument&) {
          CHECK(!merges(kind.name));
          break;
        }
        CHECK(base->rounds() == 450 * (round + 1));
        std::vector<double> scores(100);
        base->score(wave.rows(0, 100, 6), scores.data());
        for (const double score : scores) CHECK(std::isfinite(score));
      }
    }
}

TEST(features_in_other_places_are_moved) {
  const Wave wave(200, 3);
  const auto find = [](std::string_view name) {
    for (const Kind& kind : kinds())
      if (kind.name == name) return kind;
    return Kind{};
  };
  for (const char* name : {"cog", "arow-full", "ssol-diagonal", "additive-logistic"}) {
    const Kind kind = find(name);
    const auto nothing = fresh(kind, false);
    std::vector<MergePart> same, turned;
    for (const bool turn : {false, true})
      for (Count k = 0; k < 2; ++k) {
        auto part = fresh(kind, false);
        wave.teach(*part, 100 * k, 100 * k + 100, 3);
        std::vector<Index> places;
        if (turn) places = {2, 0, 1};
        (turn ? turned : same).push_back({std::move(part), places, 1});
      }
    const auto straight = restored(kind, false, merge_states(name, *nothing, same));
    const auto moved = restored(kind, false, merge_states(name, *nothing, turned));
    const std::vector<double> a = straight->coefficients(), b = moved->coefficients();
    CHECK(a.size() == 3 && b.size() == 3);
    for (std::size_t j = 0; j < 3; ++j) CHECK(check::near(a[j], b[(j + 2) % 3], 1e-9));
  }
}
