// A saved state with any of its entries changed to anything: every kind of learner refuses it, or works on within its
// memory, with scores that are finite.
#include "../tests/states.hpp"

#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace states;

namespace {

void require(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "not so: %s\n", what);
  std::abort();
}

const Stream& known() {
  static const Stream stream(9, 5, 2);
  return stream;
}
const Stream& wider() {
  static const Stream stream(3, 7, 3);
  return stream;
}

struct Saved {
  std::unique_ptr<Model> fresh;
  Entries state;
  Index features = 0;
  bool asks = false;
};

// A model that has learned a little, made once.
const Saved& saved(std::size_t kind, std::size_t setting, bool sparse) {
  static std::map<std::tuple<std::size_t, std::size_t, bool>, Saved> all;
  const auto [at, is_new] = all.try_emplace({kind, setting, sparse});
  Saved& out = at->second;
  if (!is_new) return out;
  out.fresh = kinds()[kind].make();
  Options options(settings[setting]);
  out.fresh->options(options);
  const auto model = out.fresh->clone();
  out.asks = model->asker().on();
  learn(*model, known(), sparse);
  if (out.asks) ask(*model, known(), sparse);
  StateToEntries visit;
  model->state(visit);
  out.state = std::move(visit.all);
  out.features = model->features();
  return out;
}

class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : at_(data), end_(data + size) {}
  bool done() const { return at_ == end_; }
  std::uint8_t next() { return done() ? std::uint8_t{0} : *at_++; }
  Count word() {
    Count out = 0;
    for (int k = 0; k < 8; ++k) out |= Count{next()} << 8 * k;
    return out;
  }

 private:
  const std::uint8_t *at_, *end_;
};

// Values near the limits of what an entry may be, or any.
double number(Bytes& from, double was, double features) {
  const double some[] = {
      0,    1,      -1,    0.5,          was + 1,  was - 1, -was,  features - 1, features, features + 1,
      1e12, 0x1p31, 1e308, not_a_number, infinite, 5e-324,  1e150, 0x1p53};
  const std::size_t which = from.next();
  return which < std::size(some) ? some[which] : std::bit_cast<double>(from.word());
}
Count count(Bytes& from, Count was, Count features) {
  const Count some[] = {0,
                        1,
                        was + 1,
                        was - 1,
                        features - 1,
                        features,
                        features + 1,
                        ~Count{0},
                        Count{1} << 31,
                        Count{1} << 53,
                        Count{1} << 62};
  const std::size_t which = from.next();
  return which < std::size(some) ? some[which] : from.word();
}

// One change of one entry.
struct Change {
  Bytes& from;
  Count features;

  void operator()(Count& value) { value = count(from, value, features); }
  void operator()(double& value) { value = number(from, value, static_cast<double>(features)); }
  void operator()(List& list) { change(list.values); }
  void operator()(Features& all) {
    const std::uint8_t how = from.next();
    if (how == 255 || all.empty()) return all.resize(from.next() % 12);
    all[how % all.size()] = static_cast<std::uint32_t>(count(from, all[how % all.size()], features));
  }
  void operator()(Values& array) {
    const std::uint8_t how = from.next();
    if (how < 224 && !array.values.empty()) {
      double& value = array.values[how % array.values.size()];
      value = number(from, value, static_cast<double>(features));
      return;
    }
    array.shape.resize(how % 3 + 1);
    std::size_t size = 1;
    for (std::size_t& n : array.shape) size *= n = from.next() % 12;
    array.values.resize(size);
  }

 private:
  void change(std::vector<double>& values) {
    const std::uint8_t how = from.next();
    if (how >= 240 || values.empty()) return values.resize(from.next() % 64);
    double& value = values[how % values.size()];
    value = number(from, value, static_cast<double>(features));
  }
};

void check_scores(Model& model, const Stream& stream, bool sparse) {
  std::vector<double> scores(stream.size());
  try {
    model.score(stream.rows(sparse), scores.data());
  } catch (const std::exception&) {
    return;
  }
  for (const double score : scores) require(std::isfinite(score), "scores are finite");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 4 || size > 400) return 0;
  const Saved& good = saved(data[0] % kinds().size(), data[1] % std::size(settings), data[2] & 1);
  Index features = good.features;
  Entries state = good.state;
  Bytes from(data + 3, size - 3);
  for (int edits = 0; edits < 16 && !from.done(); ++edits) {
    const std::size_t which = from.next();
    if (which >= 250) {
      features = static_cast<Index>(count(from, static_cast<Count>(features), static_cast<Count>(good.features)));
    } else if (!state.empty()) {
      const auto entry = std::next(state.begin(), static_cast<std::ptrdiff_t>(which % state.size()));
      if (which == 249) state.erase(entry);
      else std::visit(Change{from, static_cast<Count>(good.features)}, entry->second);
    }
  }
  auto model = good.fresh->clone();
  try {
    StateFromEntries restorer(state);
    restore(model, features, restorer);
  } catch (const std::invalid_argument&) {
    return 0;
  }
  check_scores(*model, known(), true);
  check_scores(*model, wider(), false);
  use(*model, known(), wider(), good.asks);
  check_scores(*model, known(), false);
  return 0;
}
