#include "../core/kernel/koil.hpp"

#include <cstring>
#include <optional>
#include <string>

#include "../core/ensemble/kernel_mixture.hpp"
#include "../core/stream/model.hpp"
#include "check.hpp"

using namespace lopsided;
using kernel::Form;

namespace {

bool same_bits(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; }

double wave(std::size_t k) { return std::sin(2.3 * static_cast<double>(k)) * (k % 5 != 0); }

kernel::StoredRow dense_row(std::size_t start, Index n) {
  std::vector<double> values;
  for (Index j = 0; j < n; ++j) values.push_back(wave(start + static_cast<std::size_t>(j)));
  kernel::StoredRow out;
  out.take(DenseRow{values.data(), n, 0}, false);
  return out;
}
kernel::StoredRow sparse_row(std::size_t start, Index n) {
  kernel::StoredRow out = dense_row(start, n);
  out.make_sparse();
  return out;
}

// Few rows a class and a gamma that is known.
struct Small {
  int policy = 1;
  bool code = false, squared = false;
  double rate = 0.05, gamma = 0.5;
  void operator()(const char* name, double& value) const {
    const std::string option = name;
    if (option == "gamma") value = gamma;
    if (option == "learning_rate") value = rate;
    if (option.starts_with("size.")) value = 5;
    if (option.starts_with("neighbors.")) value = 2;
  }
  void operator()(const char* name, bool& value) const {
    if (std::string(name) == "violators_first") value = code;
  }
  void operator()(const char*, std::vector<double>&) const {}
  template <class Choice>
  void operator()(const char* name, Choice& value, std::initializer_list<const char*>) const {
    if (std::string(name) == "policy") value = static_cast<Choice>(policy);
    if (std::string(name) == "loss" && squared) value = static_cast<Choice>(1);
  }
};

// Saves every part of a state, or puts it back.
struct Parts {
  bool restoring = false;
  std::vector<std::pair<std::string, std::vector<double>>> parts;
  std::size_t at = 0;

  bool restores() const { return restoring; }
  const std::vector<double>& get(const std::string& name) const {
    for (const auto& [known, values] : parts)
      if (known == name) return values;
    throw std::invalid_argument("no part " + name);
  }
  void operator()(const char* name, std::vector<double>& values) {
    if (restoring) values = next(name);
    else parts.push_back({name, values});
  }
  void operator()(const char* name, Series& many) { (*this)(name, many.values); }
  void operator()(const char* name, double& value) {
    if (restoring) value = next(name).at(0);
    else parts.push_back({name, {value}});
  }
  void operator()(const char* name, Count& value) {
    if (restoring) value = static_cast<Count>(next(name).at(0));
    else parts.push_back({name, {static_cast<double>(value)}});
  }

 private:
  std::vector<double>& next(const char* name) {
    if (at == parts.size() || parts[at].first != name) throw std::invalid_argument("no such part");
    return parts[at++].second;
  }
};

template <class Learner>
Parts saved(Learner& learner) {
  Parts out;
  learner.state(out);
  return out;
}

template <class Learner, bool sparse>
double teach(Learner& learner, std::size_t round, Index n) {
  const kernel::StoredRow row = sparse ? sparse_row(round * 7, n) : dense_row(round * 7, n);
  const Target t{wave(round * 7) + wave(round * 7 + 1) > 0.4 ? 1.0 : -1.0, 1, 1 + 0.5 * (round % 2), round + 1};
  const auto step = [&](const auto& x) {
    const double score = learner.observe(x);
    learner.learn(x, t, score);
    return score;
  };
  if constexpr (sparse)
    return step(SparseRow{row.indices.data(), row.values.data(), static_cast<Index>(row.indices.size()), 0});
  else return step(DenseRow{row.values.data(), n, 0});
}

}  // namespace

TEST(exponentials_are_those_of_more_digits) {
  std::vector<double> x;
  for (int i = 0; i <= 20000; ++i) x.push_back(-708.0 * i / 20000);
  for (int i = 0; i < 2000; ++i) x.push_back(-std::pow(10.0, -i / 100.0));
  std::vector<double> all = x;
  kernel::exponentials(all.data(), all.size());
  long double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const long double e = std::exp(static_cast<long double>(x[i]));
    worst = std::max(worst, std::abs(all[i] - e) / e);
    double one = x[i];  // alone, so not in a vector
    kernel::exponentials(&one, 1);
    CHECK(same_bits(one, all[i]));
  }
  CHECK(worst < 1e-14L);
  double ends[] = {0.0, -0.0, -708.5, -1e300};
  kernel::exponentials(ends, 4);
  CHECK(ends[0] == 1 && ends[1] == 1 && ends[2] == 0 && ends[3] == 0);
}

TEST(kernels_are_their_formulas) {
  const kernel::StoredRow x = dense_row(3, 9), z = dense_row(40, 9);
  double squared = 0, absolute = 0, dot = 0;
  for (std::size_t j = 0; j < 9; ++j) {
    const double gap = x.values[j] - z.values[j];
    squared += gap * gap, absolute += std::abs(gap), dot += x.values[j] * z.values[j];
  }
  const std::pair<Form, double> wanted[] = {{Form::gaussian, std::exp(-0.7 * squared)},
                                            {Form::laplacian, std::exp(-0.7 * absolute)},
                                            {Form::linear, dot},
                                            {Form::polynomial, std::pow(0.7 * dot + 0.5, 5)}};
  Table pad;
  for (const auto& [form, value] : wanted) {
    const kernel::Function k{form, 0.7, 5, 0.5};
    kernel::Support rows;
    rows.push_back(z, 1);
    std::vector<double> out(rows.room());
    rows.values(x, k, pad, out.data());
    CHECK(check::near(out[0], value, 1e-13));
    rows.values(z, k, pad, out.data());
    CHECK(same_bits(out[0], k.of_itself(z.self(form))));
    CHECK(!k.radial() || out[0] == 1);
  }
}

TEST(inner_sums_have_the_same_bits_dense_sparse_wider_and_turned_round) {
  for (const Form form : {Form::gaussian, Form::laplacian})
    for (std::size_t a = 0; a < 20; ++a) {
      Table pad;
      kernel::Support dense, sparse, turned;
      for (std::size_t b = 0; b < 37; ++b) {
        const Index n = b % 3 ? 11 : 6;
        dense.push_back(dense_row(9 * b, n), 1);
        sparse.push_back(sparse_row(9 * b, n), 1);
      }
      turned.push_back(dense_row(1000 + a, 8), 1);
      std::vector<double> ours(dense.room()), theirs(sparse.room()), back(turned.room());
      dense.inner(dense_row(1000 + a, 8), form, pad, ours.data());
      sparse.inner(sparse_row(1000 + a, 8), form, pad, theirs.data());
      for (std::size_t b = 0; b < 37; ++b) {
        turned.inner(dense_row(9 * b, b % 3 ? 11 : 6), form, pad, back.data());
        CHECK(same_bits(ours[b], theirs[b]));
        CHECK(same_bits(ours[b], back[0]));
      }
    }
}

TEST(rows_are_kept_in_a_list) {
  for (const bool sparse : {false, true}) {
    const auto row = [&](std::size_t k) { return sparse ? sparse_row(k, 5) : dense_row(k, 5); };
    kernel::Support rows;
    std::vector<std::size_t> list;
    const auto check_list = [&] {
      CHECK(rows.size() == list.size());
      kernel::StoredRow out;
      for (std::size_t p = 0; p < list.size(); ++p) {
        rows.read(rows.slot(p), out);
        CHECK(out.values == row(list[p]).values && out.indices == row(list[p]).indices);
        CHECK(rows.weights()[rows.slot(p)] == static_cast<double>(list[p]));
        CHECK(rows.position(rows.slot(p)) == p);
      }
    };
    for (std::size_t k = 0; k < 120; ++k) {  // longer and shorter, so that the ring turns and grows
      rows.push_back(row(k), static_cast<double>(k));
      list.push_back(k);
      if (k % 3 == 2 || k > 80) {
        rows.pop_front();
        list.erase(list.begin());
      }
      if (k % 7 == 3) {
        rows.write(rows.slot(1), row(500 + k), 500 + static_cast<double>(k));
        list[1] = 500 + k;
      }
      check_list();
    }
    if (!sparse) rows.make_sparse();
    kernel::StoredRow out;
    rows.read(rows.slot(0), out);
    CHECK(out.sparse && out.values == sparse_row(list[0], 5).values);
  }
}

TEST(the_largest_are_those_of_a_stable_sort) {
  for (std::size_t n = 1; n < 60; ++n)
    for (std::size_t levels : {2, 7, 1000}) {
      kernel::Support rows;
      for (std::size_t s = 0; s < n; ++s) rows.push_back(dense_row(s, 2), 1);
      for (std::size_t s = 0; s < n / 3; ++s) rows.turn(dense_row(s, 2), 1);
      std::vector<double> values;
      for (std::size_t s = 0; s < n; ++s)
        values.push_back((static_cast<double>(s * s * 7919 % levels) - static_cast<double>(levels / 3)) * 0.37);
      std::vector<std::size_t> order;
      for (std::size_t p = 0; p < n; ++p) order.push_back(rows.slot(p));
      std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return values[a] > values[b]; });
      for (std::size_t k = 1; k < n; ++k) {
        std::vector<std::size_t> found, wanted(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(k));
        kernel::largest(rows, values.data(), n, k, found);
        std::sort(found.begin(), found.end());
        std::sort(wanted.begin(), wanted.end());
        CHECK(found == wanted);
      }
    }
}

TEST(koil_goes_on_from_its_state_with_the_same_bits) {
  for (int policy = 0; policy < 5; ++policy)
    for (const bool code : {false, true})
      for (const double gamma : {0.0, 0.5}) {
        KernelLearner<Koil> whole, part;
        Small options{policy, code, policy % 2 == 1, 0.05, gamma};
        whole.options(options);
        whole.grow(7);
        for (std::size_t k = 0; k < 120; ++k) {
          if (k % 40 == 30) {
            Parts parts = saved(whole);
            parts.restoring = true;
            part = {};
            part.options(options);
            part.grow(7);
            part.state(parts);
          }
          const double score = teach<KernelLearner<Koil>, false>(whole, k, 7);
          if (k >= 30) {
            const double other = teach<KernelLearner<Koil>, false>(part, k, 7);
            CHECK(same_bits(score, other));
          }
        }
        CHECK(saved(whole).parts == saved(part).parts);
      }
}

TEST(koil_has_the_same_bits_on_every_machine) {  // tests/test_kernel.py has the same numbers
  KernelLearner<Koil> learner;
  learner.options(Small{});
  learner.grow(7);
  double score = 0;
  for (std::uint32_t i = 0; i < 200; ++i) {
    double values[7];
    for (std::uint32_t j = 0; j < 7; ++j)
      values[j] = static_cast<double>((i * 7 + j + 1) * 2654435761u) * 0x1p-32 - 0.5;
    const DenseRow x{values, 7, 0};
    score = learner.observe(x);
    learner.learn(x, {values[0] + values[1] > 0.2 ? 1.0 : -1.0, 1, 1, i + 1}, score);
  }
  CHECK(score == -0x1.bf5b9e7fbcf42p-5);
}

TEST(koil_keeps_wide_sparse_rows_sparse_with_the_same_bits) {
  KernelLearner<Koil> narrow, wide;
  for (auto* learner : {&narrow, &wide}) learner->options(Small{});
  narrow.grow(7);
  wide.grow(7);
  for (std::size_t k = 0; k < 100; ++k) {
    if (k == 50) wide.grow(1000);
    const double a = teach<KernelLearner<Koil>, true>(narrow, k, 7);
    const double b = teach<KernelLearner<Koil>, true>(wide, k, 7);
    CHECK(same_bits(a, b));
  }
}

TEST(remembered_scores_do_not_drift) {
  // Long enough to shrink the scale to its limit several times, and beyond an exact sum.
  for (const int policy : {1, 3}) {
    KernelLearner<Koil> learner;
    learner.options(Small{policy, false, false, 0.3});
    learner.grow(7);
    const auto worst = [&](const Parts& parts) {
      double gap = 0;
      for (const std::string side : {"negative", "positive"}) {
        const std::vector<double>& rows = parts.get("kept." + side + ".values");
        const std::vector<double>& scores = parts.get("kept." + side + ".scores");
        for (std::size_t s = 0; s < scores.size(); ++s) {
          const double exact = learner.score(DenseRow{rows.data() + 7 * s, 7, 0});
          gap = std::max(gap, std::abs(parts.get("koil.scale")[0] * scores[s] - exact));
        }
      }
      return gap;
    };
    bool summed = false, rounded = false;
    for (std::size_t k = 0; k < 6000; ++k) {
      teach<KernelLearner<Koil>, false>(learner, k, 7);
      if (k < 3900) continue;
      const Parts parts = saved(learner);
      const double gap = worst(parts);
      CHECK(gap < 1e-12);
      if (parts.get("koil.steps")[0] == 0) {
        CHECK(gap == 0);
        summed = true;
      } else {
        rounded |= gap > 0;
      }
    }
    CHECK(summed && rounded);
  }
}

TEST(a_state_that_cannot_be_is_refused) {
  KernelLearner<Koil> learner;
  learner.options(Small{});
  learner.grow(7);
  for (std::size_t k = 0; k < 60; ++k) teach<KernelLearner<Koil>, false>(learner, k, 7);
  const Parts good = saved(learner);
  for (std::size_t broken = 0; broken < good.parts.size(); ++broken) {
    const std::string& name = good.parts[broken].first;
    for (const double value : {std::nan(""), 1e9}) {
      Parts bad = good;
      bad.restoring = true;
      auto& values = bad.parts[broken].second;
      // Counts of events, draws and steps may be anything; a finite weight, row or score too.
      const bool number = name.starts_with("kept.") || name == "kernel.gamma" || name == "koil.scale";
      if (name.ends_with(".seen") || name == "koil.draws" || (!number && std::isnan(value))) continue;
      if (number && !std::isnan(value) && name != "koil.scale") {
        if (values.size() < 2) continue;
        values.pop_back();
      } else {
        values[0] = value;
      }
      KernelLearner<Koil> other;
      other.options(Small{});
      other.grow(7);
      CHECK_THROWS(std::invalid_argument, other.state(bad));
    }
  }
}

TEST(a_mixture_goes_on_from_its_state_with_the_same_bits) {
  KernelMixture<Koil> whole, part;
  for (auto* learner : {&whole, &part}) {
    learner->options(Small{});
    learner->grow(7);
  }
  for (std::size_t k = 0; k < 300; ++k) {
    if (k == 200) {
      Parts parts = saved(whole);
      parts.restoring = true;
      part.state(parts);
    }
    const double score = teach<KernelMixture<Koil>, false>(whole, k, 7);
    CHECK(score >= -1.01 && score <= 1.01);
    if (k >= 200) {
      const double other = teach<KernelMixture<Koil>, false>(part, k, 7);
      CHECK(same_bits(score, other));
    }
  }
}
