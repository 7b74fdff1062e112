// Prints a digest of what every kind of learner has learned from the same rows, to compare the bits of processors:
// tools/aarch64.sh.
#include <bit>
#include <cinttypes>
#include <cstdio>
#include <string>

#include "../core/input/libsvm.hpp"
#include "../core/numbers/random.hpp"
#include "flatten.hpp"

using namespace lopsided;

namespace {

struct Scaled final : OptionVisitor {
  void operator()(const char*, double&) override {}
  void operator()(const char*, std::vector<double>&) override {}
  void operator()(const char* name, bool& value) override {
    const std::string option = name;
    if (option == "standard" || option == "centred" || option == "intercept") value = true;
    if (option == "scales") value = false;
  }
  int choose(const char*, std::initializer_list<const char*>, int now) override { return now; }
};

// No function of the standard library: those may differ.
double uniform() {
  static std::uint64_t count = 0;
  return static_cast<double>(splitmix64(count++) >> 11) * 0x1p-53;
}

struct Data {
  Index columns;
  std::vector<double> values;
  std::vector<std::int8_t> labels;

  Data(Count size, Index columns) : columns(columns) {
    for (Count i = 0; i < size; ++i) {
      labels.push_back(uniform() < 0.2 ? 1 : -1);
      for (Index j = 0; j < columns; ++j)
        values.push_back(uniform() < 0.3 ? 0 : uniform() - 0.5 + (j == 0 ? 0.3 * labels.back() : 0));
    }
  }
};

std::uint64_t digest(const std::vector<double>& values) {
  std::uint64_t sum = values.size();
  for (const double v : values) sum = splitmix64(sum ^ std::bit_cast<std::uint64_t>(v));
  return sum;
}

}  // namespace

int main() {
  for (const Index columns : {7, 130}) {
    const Data data(400, columns);
    for (const Kind& kind : kinds())
      for (const bool scaled : {false, true}) {
        const auto model = kind.make();
        Scaled options;
        if (scaled) model->options(options);
        Pass pass;
        pass.labels = data.labels.data();
        pass.size = data.labels.size();
        std::vector<double> scores(pass.size);
        pass.scores = scores.data();
        model->learn(Rows({data.values.data(), false, columns, 1}, pass.size, columns), pass);
        std::printf("%s %d %d %016" PRIx64 " %016" PRIx64 "\n", std::string(kind.name).c_str(), columns, scaled,
                    digest(state(*model)), digest(scores));
      }
  }
}
