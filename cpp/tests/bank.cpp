#include "../core/bank/learned.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <string>

#include "../core/registry/registry.hpp"
#include "check.hpp"

using namespace lopsided;

namespace {

std::vector<Kind> banked_kinds() {
  std::vector<Kind> out;
  std::ranges::copy_if(kinds(), std::back_inserter(out), [](const Kind& kind) { return learns_together(kind.name); });
  return out;
}

// Every number that may differ; all rows get a constant and those of features are divided.
struct Set final : OptionVisitor {
  double number;
  explicit Set(double number) : number(number) {}
  void operator()(const char* name, double& value) override {
    const std::string option = name;
    if (option == "learning_rate" || option == "C" || option == "regularization" || option == "l1") value = number;
  }
  void operator()(const char* name, bool& value) override {
    const std::string option = name;
    if (option == "standard" || option == "intercept" || option == "balanced") value = true;
  }
  void operator()(const char*, std::vector<double>&) override {}
  int choose(const char*, std::initializer_list<const char*>, int now) override { return now; }
};

std::vector<Count> bits(Model& model, const Rows& rows) {
  std::vector<double> scores(rows.size());
  model.score(rows, scores.data());
  std::vector<Count> out{model.rounds(), model.updates()};
  for (const double s : scores) out.push_back(std::bit_cast<Count>(s));
  return out;
}

}  // namespace

TEST(models_in_a_bank_have_the_bits_of_models_alone) {
  constexpr Index d = 21;
  constexpr Count n = 60, models = 13;
  std::vector<double> values(n * d);
  std::vector<std::int8_t> labels(n);
  for (Count i = 0; i < n; ++i) {
    labels[i] = i % 3 == 0 ? 1 : -1;
    for (Index j = 0; j < d; ++j)
      if ((i + static_cast<Count>(j)) % 4 != 0)
        values[i * d + j] = std::sin(1.0 + 7 * double(i) + 3 * j) + 0.2 * labels[i];
  }
  std::vector<std::int32_t> starts(n + 1), indices;
  std::vector<double> stored;
  for (Count i = 0; i < n; ++i) {
    for (Index j = 0; j < d; ++j)
      if (values[i * d + j] != 0) indices.push_back(j), stored.push_back(values[i * d + j]);
    starts[i + 1] = static_cast<std::int32_t>(indices.size());
  }
  const Rows dense({values.data(), false, d, 1}, n, d);
  const Rows csr({starts.data(), indices.data(), stored.data(), false, false, false, stored.size()}, n, d);
  std::vector<std::int32_t> apart;  // most features never come
  for (const std::int32_t j : indices) apart.push_back(50 * j + 7);
  const Rows wide({starts.data(), apart.data(), stored.data(), false, false, false, stored.size()}, n, 50 * d);
  CHECK(banked_kinds().size() == 10);
  for (const Kind& kind : banked_kinds())
    for (const Rows& rows : {dense, csr, wide}) {
      std::vector<std::unique_ptr<Model>> alone, together;
      std::vector<Banked> bank;
      Pass pass;
      pass.labels = labels.data();
      pass.size = n;
      for (Count m = 0; m < models; ++m) {
        Set set(std::pow(3.0, double(m) - 6));
        for (auto* all : {&alone, &together}) {
          all->push_back(kind.make());
          all->back()->options(set);
        }
        Pass own = pass;
        alone[m]->learn(rows, own);
        bank.push_back({together[m].get(), pass});
      }
      const auto learned = learn_together(kind.name, rows, bank);
      CHECK(learned != nullptr);
      CHECK(learned->models() == models && learned->features() == rows.columns());
      std::vector<double> all(models * n, -1);  // of one model nothing is wanted
      std::vector<double*> said;
      for (Count m = 0; m < models; ++m) said.push_back(m == 4 ? nullptr : all.data() + m * n);
      CHECK(learned->score(rows, said));
      CHECK(!learned->score(Rows({values.data(), false, d, 1}, n, d - 1), said));
      for (Count m = 0; m < models; ++m) {
        std::vector<double> scores(n, -1);
        if (m != 4) alone[m]->score(rows, scores.data());
        CHECK(std::ranges::equal(scores, std::span(all).subspan(m * n, n)));
        std::vector<Index> features;
        std::vector<double> weights;
        alone[m]->nonzeros(features, weights);
        CHECK(learned->nonzeros(m) == features.size() - (!features.empty() && features[0] == 0));
      }
      for (Count m = 0; m < models; ++m) learned->give(m, *together[m]);
      for (Count m = 0; m < models; ++m) CHECK(bits(*together[m], rows) == bits(*alone[m], rows));
    }
}

TEST(models_of_different_scaling_or_of_other_kinds_are_no_bank) {
  const double values[] = {1, 2};
  const std::int8_t label = 1;
  const Rows rows({values, false, 2, 1}, 1, 2);
  const auto first = make_model("cog"), second = make_model("cog");
  Set set(1);
  first->options(set);
  Pass pass;
  pass.labels = &label;
  pass.size = 1;
  std::vector<Banked> bank{{first.get(), pass}, {second.get(), pass}};
  CHECK(!learn_together("cog", rows, bank));
  CHECK(!learn_together("romma", rows, bank));
  CHECK(first->rounds() == 0 && second->rounds() == 0);
}
