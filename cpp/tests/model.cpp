#include "../core/registry/registry.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "check.hpp"
#include "flatten.hpp"

using namespace lopsided;

namespace {

// Scaling, an intercept and a wanted sparsity.
struct SetScaling final : OptionVisitor {
  void operator()(const char* name, double& value) override {
    if (std::string(name) == "target_sparsity") value = 0.5;
  }
  void operator()(const char*, std::vector<double>&) override {}
  void operator()(const char* name, bool& value) override {
    const std::string option = name;
    if (option == "standard" || option == "centred" || option == "intercept") value = true;
    if (option == "scales") value = false;  // it would scale a second time
  }
  int choose(const char*, std::initializer_list<const char*>, int now) override { return now; }
};

struct SetTransductive final : OptionVisitor {
  void operator()(const char*, double&) override {}
  void operator()(const char* name, bool& value) override {
    if (std::string(name) == "transductive") value = true;
  }
  void operator()(const char*, std::vector<double>&) override {}
  int choose(const char*, std::initializer_list<const char*>, int now) override { return now; }
};

// Questions where the score is small, for at most 3 labels in 10 events.
struct SetAsking final : OptionVisitor {
  void operator()(const char* name, double& value) override {
    const std::string option = name;
    if (option == "budget") value = 3;
    if (option == "budget_per") value = 10;
    if (option == "delta_pos" || option == "delta_neg") value = 0.3;
    if (option == "max_pending") value = 4;
  }
  void operator()(const char*, bool&) override {}
  void operator()(const char*, std::vector<double>&) override {}
  int choose(const char* name, std::initializer_list<const char*>, int now) override {
    return std::string(name) == "query" ? static_cast<int>(QueryRule::Kind::margin) : now;
  }
};

struct Stream {
  Index columns;
  std::vector<double> x;
  std::vector<std::int8_t> y;

  Stream(Count n, Index columns, double start = 0) : columns(columns), x(n * columns), y(n) {
    for (std::size_t k = 0; k < x.size(); ++k) x[k] = std::sin(start + 2.3 * static_cast<double>(k)) * (k % 5 != 0);
    for (Count i = 0; i < n; ++i) y[i] = x[i * columns] + 0.2 > 0.9 ? 1 : -1;
  }
  Rows rows(Count first, Count last) const {
    return Rows({x.data() + first * columns, false, columns, 1}, last - first, columns);
  }
  Pass pass(Count first, Count last) const {
    Pass p;
    p.labels = y.data() + first;
    p.size = last - first;
    return p;
  }
  void teach(Model& model, Count first, Count last) const {
    Pass p = pass(first, last);
    model.learn(rows(first, last), p);
  }
};

}  // namespace

TEST(every_kind_learns_the_same_bits_in_any_chunks) {
  const Stream stream(60, 7);
  for (const Kind& kind : kinds())
    for (const bool scaled : {false, true}) {
      const auto whole = kind.make(), parts = kind.make();
      SetScaling options;
      if (scaled) whole->options(options), parts->options(options);
      stream.teach(*whole, 0, 60);
      for (const auto& [first, last] : {std::pair{0, 1}, {1, 2}, {2, 30}, {30, 60}}) stream.teach(*parts, first, last);
      CHECK(state(*whole) == state(*parts));
    }
}

TEST(every_kind_buys_the_same_labels_in_any_chunks_and_at_no_delay) {
  const Stream stream(60, 7);
  const std::vector<double> at_once(60, 0.0);
  for (const Kind& kind : kinds())
    for (const bool scaled : {false, true}) {
      const auto whole = kind.make(), parts = kind.make(), late = kind.make();
      for (Model* model : {whole.get(), parts.get(), late.get()}) {
        SetScaling scaling;
        SetAsking asking;
        if (scaled) model->options(scaling);
        model->options(asking);
      }
      stream.teach(*whole, 0, 60);
      for (const auto& [first, last] : {std::pair{0, 1}, {1, 2}, {2, 30}, {30, 60}}) stream.teach(*parts, first, last);
      Pass pass = stream.pass(0, 60);
      pass.delays = at_once.data();
      late->learn(stream.rows(0, 60), pass);
      CHECK(state(*whole) == state(*parts));
      CHECK(state(*whole) == state(*late));
      CHECK(whole->asker().budget.used > 3 && whole->asker().budget.used <= 18);
    }
}

TEST(every_kind_learns_from_labels_that_are_told_later) {
  const Stream stream(60, 7);
  const std::vector<double> delays(60, 5.0);
  for (const Kind& kind : kinds()) {
    const auto whole = kind.make(), told = kind.make();
    SetAsking asking;
    for (Model* model : {whole.get(), told.get()}) model->options(asking);
    Pass pass = stream.pass(0, 60);
    pass.delays = delays.data();
    whole->learn(stream.rows(0, 60), pass);
    std::vector<Count> due;
    for (Count i = 0; i < 60; ++i) {
      std::int64_t forgotten;
      double score, probability;
      std::int8_t alarmed, asked;
      told->ask(stream.rows(i, i + 1), {}, {&score, &alarmed, &probability, &asked, &forgotten});
      if (asked) due.push_back(i);
      if (due.empty() || due[0] + 5 > i) continue;
      if (told->asker().pending.waits(due[0])) told->tell(due[0], stream.y[due[0]], 1);
      due.erase(due.begin());
    }
    CHECK(state(*whole) == state(*told));
    CHECK_THROWS(std::out_of_range, told->tell(60, 1, 1));
  }
}

TEST(every_kind_is_as_it_was_after_a_bad_row) {
  const Stream stream(40, 6);
  for (const Kind& kind : kinds())
    for (const Count rows : {2, 40}) {  // checked before, checked on the way
      const auto model = kind.make();
      stream.teach(*model, 0, 40);
      const auto before = state(*model);
      Stream bad(rows, 9);
      bad.x.back() = std::nan("");
      CHECK_THROWS(DataError, bad.teach(*model, 0, rows));
      CHECK(state(*model) == before);
      CHECK(model->features() == 6);
    }
}

TEST(every_kind_grows_as_if_it_had_known_all_features) {
  const Stream narrow(30, 4), wide(30, 9, 1);
  for (const Kind& kind : kinds()) {
    const auto grown = kind.make(), known = kind.make();
    known->grow(9);
    for (Model* model : {grown.get(), known.get()}) {
      narrow.teach(*model, 0, 30);
      wide.teach(*model, 0, 30);
    }
    CHECK(state(*grown) == state(*known));
  }
}

TEST(a_model_that_grew_and_took_no_step_can_be_read) {
  for (const char* kind : {"acog-full", "arow-full", "ssol-full", "acog-full-float32"}) {
    const auto model = make_model(kind);
    const std::vector<double> narrow{1, 0.5}, wide(3000, 0.0);
    const std::int8_t y = 1;
    Pass pass;
    pass.labels = &y;
    pass.size = 1;
    model->learn(Rows({narrow.data(), false, 2, 1}, 1, 2), pass);
    model->learn(Rows({wide.data(), false, 3000, 1}, 1, 3000), pass);
    const std::vector<double> all = state(*model);
    CHECK(std::all_of(all.begin(), all.end(), [](double v) { return std::isfinite(v); }));
  }
}

TEST(a_copy_goes_its_own_way) {
  const Stream stream(40, 5);
  for (const Kind& kind : kinds()) {
    const auto model = kind.make();
    stream.teach(*model, 0, 20);
    const auto copy = model->clone();
    CHECK(state(*copy) == state(*model));
    const auto before = state(*copy);
    stream.teach(*model, 20, 40);
    CHECK(state(*copy) == before);
    stream.teach(*copy, 20, 40);
    CHECK(state(*copy) == state(*model));
  }
}

TEST(scoring_says_what_the_next_round_will_score) {
  const Stream stream(30, 5);
  for (const Kind& kind : kinds())
    for (const bool scaled : {false, true}) {
      const auto model = kind.make();
      SetScaling options;
      if (scaled) model->options(options);
      SetTransductive as_in_learning;
      model->options(as_in_learning);
      stream.teach(*model, 0, 10);
      for (Count i = 10; i < 30; ++i) {
        double asked, progressive;
        model->score(stream.rows(i, i + 1), &asked);
        Pass pass = stream.pass(i, i + 1);
        pass.scores = &progressive;
        model->learn(stream.rows(i, i + 1), pass);
        CHECK(std::memcmp(&asked, &progressive, sizeof(double)) == 0);
      }
    }
}

TEST(weightless_rows_leave_no_trace) {
  const Stream stream(20, 5), wide(3, 8);
  const std::vector<double> none(3, 0.0);
  for (const Kind& kind : kinds()) {
    const auto model = kind.make();
    stream.teach(*model, 0, 20);
    const auto before = state(*model);
    Pass pass = wide.pass(0, 3);
    pass.weights = none.data();
    std::vector<double> scores(3), probabilities(3);
    pass.scores = scores.data();
    pass.probabilities = probabilities.data();
    model->learn(wide.rows(0, 3), pass);
    CHECK(state(*model) == before);
    for (const double v : scores) CHECK(std::isnan(v));
    for (const double v : probabilities) CHECK(std::isnan(v));
    CHECK(model->features() == 5);
  }
}

TEST(there_is_no_model_of_an_unknown_kind) { CHECK(make_model("oracle") == nullptr); }

TEST(each_kind_is_listed_once_and_found_by_its_name) {
  CHECK(kinds().size() >= 31);
  for (const Kind& kind : kinds()) {
    CHECK(make_model(kind.name) != nullptr);
    CHECK(std::ranges::count(kinds(), kind.name, &Kind::name) == 1);
  }
}
