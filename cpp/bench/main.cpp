// Pieces of work of the core on made-up data, for counting instructions: python -m benchmarks.instructions.
// Each runs within `measured`, by which callgrind knows where to count, and prints its name.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>

#include "../core/bank/learned.hpp"
#include "../core/input/libsvm.hpp"
#include "../core/numbers/random.hpp"
#include "../core/registry/registry.hpp"

extern "C" [[gnu::noinline]] void measured(const std::function<void()>& work) { work(); }

namespace {

using namespace lopsided;

using Given = std::map<std::string, double>;  // choices by their number, switches as 0 and 1

struct SetOptions final : OptionVisitor {
  Given left;
  explicit SetOptions(const Given& given) : left(given) {}

  void operator()(const char* name, double& value) override { value = take(name, value); }
  void operator()(const char* name, bool& value) override { value = take(name, value) != 0; }
  void operator()(const char*, std::vector<double>&) override {}
  int choose(const char* name, std::initializer_list<const char*>, int now) override {
    return static_cast<int>(take(name, now));
  }
  double take(const char* name, double otherwise) {
    const auto at = left.find(name);
    if (at == left.end()) return otherwise;
    const double value = at->second;
    left.erase(at);
    return value;
  }
};

class Random {
 public:
  double uniform() { return static_cast<double>(splitmix64(count_++) >> 11) * 0x1p-53; }

 private:
  std::uint64_t count_ = 0;
};

// Rows of some numbers, one in ten positive; the positives have a larger first number.
struct Data {
  Index columns;
  std::vector<std::int64_t> starts{0};
  std::vector<Index> indices;  // none: dense
  std::vector<double> values;
  std::vector<std::int8_t> labels;

  Rows rows(Count first, Count size) const {
    if (indices.empty())
      return Rows({values.data() + first * static_cast<Count>(columns), false, columns, 1}, size, columns);
    return Rows({starts.data(), indices.data(), values.data(), true, false, false, values.size(), true}, size, columns);
  }
  Rows rows() const { return rows(0, labels.size()); }
};

Data dense(Count size, Index columns) {
  Random random;
  Data out{columns, {}, {}, {}, {}};
  for (Count i = 0; i < size; ++i) {
    out.labels.push_back(random.uniform() < 0.1 ? 1 : -1);
    for (Index j = 0; j < columns; ++j)
      out.values.push_back(random.uniform() - 0.5 + (j == 0 ? 0.3 * out.labels.back() : 0));
  }
  return out;
}

// Few columns occur often, most hardly ever, as words do.
Data sparse(Count size, Index columns, Index nonzeros) {
  Random random;
  Data out{columns, {0}, {}, {}, {}};
  for (Count i = 0; i < size; ++i) {
    out.labels.push_back(random.uniform() < 0.1 ? 1 : -1);
    Index at = 0;
    for (Index k = 0; k < nonzeros; ++k) {
      const Index room = (columns - at) / (nonzeros - k);
      const double u = random.uniform();
      out.indices.push_back(at + static_cast<Index>(u * u * u * std::max<Index>(room - 1, 0)));
      at = out.indices.back() + 1;
      out.values.push_back(random.uniform() + (k == 0 ? 0.5 * out.labels.back() : 0));
    }
    out.starts.push_back(static_cast<std::int64_t>(out.values.size()));
  }
  return out;
}

std::unique_ptr<Model> made(const char* kind, const Given& given) {
  auto model = make_model(kind);
  SetOptions options(given);
  model->options(options);
  for (const auto& [name, _] : options.left) {
    std::fprintf(stderr, "%s has no option %s\n", kind, name.c_str());
    std::exit(1);
  }
  return model;
}

void count(const char* name, const std::function<void()>& work) {
  std::printf("%s\n", name);
  measured(work);
}

// `before`: passes over the same rows that are not counted.
void one_pass(const char* name, const char* kind, const Given& given, const Data& data, int before = 0) {
  const auto model = made(kind, given);
  model->grow(data.columns);
  Pass pass;
  pass.labels = data.labels.data();
  pass.size = data.labels.size();
  const auto learn = [&] { model->learn(data.rows(), pass); };
  for (int k = 0; k < before; ++k) learn();
  count(name, learn);
}

// Eleven models that differ in their rate, in one pass.
void bank(const char* name, const char* kind, Given given, const Data& data) {
  std::vector<std::unique_ptr<Model>> models;
  std::vector<Banked> all;
  Pass pass;
  pass.labels = data.labels.data();
  pass.size = data.labels.size();
  for (int k = -5; k <= 5; ++k) {
    given["learning_rate"] = std::pow(10.0, k);
    models.push_back(made(kind, given));
    all.push_back({models.back().get(), pass});
  }
  bool learned = false;
  count(name, [&] { learned = learn_together(kind, data.rows(), all) != nullptr; });
  if (!learned) std::exit(1);
}

// What a model says of rows it has learned from: the scores, and whether their labels are wanted.
void questions(const std::string& name, const char* kind, Given given, const Data& data) {
  given["query"] = given.contains("query") ? given["query"] : 3;  // by the margin
  given["max_pending"] = 100;
  const auto model = made(kind, given);
  model->grow(data.columns);
  const Count size = data.labels.size();
  Pass pass;
  pass.labels = data.labels.data();
  pass.size = size;
  model->learn(data.rows(), pass);
  std::vector<double> scores(size), probabilities(size);
  std::vector<std::int64_t> forgotten(size);
  std::vector<std::int8_t> alarms(size), asked(size);
  const Answers out{scores.data(), alarms.data(), probabilities.data(), asked.data(), forgotten.data()};
  count((name + ", scores").c_str(), [&] { model->score(data.rows(), scores.data()); });
  count((name + ", questions").c_str(), [&] { model->ask(data.rows(), {}, out); });
}

}  // namespace

int main() {
  setenv("LOPSIDED_THREADS", "1", 1);  // only one is counted
  const Data words = sparse(1500, 50'000, 75), table = dense(1500, 30), wide = dense(300, 120);
  const Given unit{{"unit", 1}}, balanced{{"unit", 1}, {"balanced", 1}};
  const auto with = [](Given given, const Given& more) {
    given.insert(more.begin(), more.end());
    return given;
  };

  one_pass("COG, sparse", "cog", balanced, words);
  one_pass("COG, dense", "cog", balanced, wide);
  one_pass("PA, sparse", "passive-aggressive", unit, words);
  one_pass("FSOL, sparse", "dual-averaging", with(unit, {{"l1", 0.01}}), words);
  one_pass("truncated gradient, sparse", "truncated-gradient", with(unit, {{"l1", 0.001}}), words);
  one_pass("SSOL, sparse", "ssol-diagonal", with(unit, {{"l1", 0.01}}), words);
  one_pass("ACOG diagonal, sparse", "acog-diagonal", balanced, words);
  one_pass("ACOG full, dense", "acog-full", balanced, wide);
  one_pass("ACOG full, float32, dense", "acog-full-float32", balanced, wide);
  bank("COG, bank of eleven, sparse", "cog", balanced, words);
  bank("ACOG diagonal, bank of eleven, sparse", "acog-diagonal", balanced, words);
  questions("COG, dense", "cog", balanced, table);
  questions("ACOG diagonal, dense", "acog-diagonal", with(balanced, {{"query", 4}}), table);
  questions("ACOG full, dense", "acog-full", with(balanced, {{"query", 4}}), table);
  const Given sketch = with(balanced, {{"sketch_size", 5}});
  one_pass("ACOG sketch, sparse", "acog-sketch", sketch, words);
  one_pass("ACOG sketch, sparse, 50,000 features, next pass", "acog-sketch", sketch, words, 1);
  one_pass("ACOG sketch, sparse, 5,000,000 features, next pass", "acog-sketch", sketch, sparse(1500, 5'000'000, 75), 1);
  one_pass("ACOG sketch, dense", "acog-dense-sketch", sketch, wide);
  const Given rates{{"rule.1", 0}, {"learning_rate.1", 0.1}, {"rule.2", 0}, {"learning_rate.2", 1},
                    {"rule.3", 0}, {"learning_rate.3", 0.01}};  // rule 0 is ACOG
  const Given members{{"regularization.4", 0.3}, {"regularization.5", 0.1}, {"scales", 1}, {"dense", 1}};
  one_pass("weighted majority, dense", "weighted-majority", with({{"balanced", 1}}, with(rates, members)), table);
  one_pass("additive logistic, dense", "additive-logistic", balanced, table);
  one_pass("additive logistic, sparse", "additive-logistic", balanced, words);
  one_pass("standard scores, sparse", "cog", with(balanced, {{"standard", 1}}), words);
  one_pass("standard scores, dense", "cog", with(balanced, {{"standard", 1}, {"centred", 1}}), wide);
  one_pass("OAM, dense", "oam", unit, table);
  one_pass("OPAUC, dense", "opauc", unit, table);
  one_pass("KOIL, dense", "koil", with(unit, {{"gamma", 1}}), table);
  one_pass("kernel perceptron, dense", "kernel-perceptron", with(unit, {{"gamma", 1}}), table);
  one_pass("questions, sparse", "cog", with(balanced, {{"query", 3}}), words);

  {
    const auto model = made("cog", with(balanced, {{"standard", 1}}));
    const Data events = sparse(1, 30, 30);
    const auto learn = [&] {
      Pass pass;
      pass.labels = events.labels.data();
      pass.size = 1;
      model->learn(events.rows(), pass);
    };
    learn();
    count("one event, 300 times", [&] {
      for (int k = 0; k < 300; ++k) learn();
    });
    std::vector<double> scores(words.labels.size());
    const auto reader = made("cog", balanced);
    reader->grow(words.columns);
    count("scores, sparse", [&] { reader->score(words.rows(), scores.data()); });
  }
  {
    std::string text;
    for (Count i = 0; i < words.labels.size(); ++i) {
      text += words.labels[i] > 0 ? "+1" : "-1";
      for (auto k = words.starts[i]; k < words.starts[i + 1]; ++k) {
        char pair[40];
        std::snprintf(pair, sizeof pair, " %d:%.6g", words.indices[k] + 1, words.values[k]);
        text += pair;
      }
      text += '\n';
    }
    count("LIBSVM text", [&] { parse_libsvm(text, 1, {}); });
  }
}
