// Sessions, banks and shared memory in several threads at once. Under the thread sanitizer every race is a failure.
#include <mutex>
#include <thread>

#include "../core/input/row_cache.hpp"
#include "../core/stream/session.hpp"
#include "check.hpp"

using namespace lopsided;

namespace {

// As the interpreter: one thread at a time, unless it has left.
struct OneAtATime final : Host {
  std::mutex mutex;
  void* leave() override {
    mutex.unlock();
    return nullptr;
  }
  void come_back(void*) override { mutex.lock(); }
};

struct Stream {
  Index columns;
  std::vector<double> values;
  std::vector<std::int8_t> labels;
  Stream(Count rows, Index columns) : columns(columns), values(rows * static_cast<Count>(columns)), labels(rows) {
    for (Count k = 0; k < values.size(); ++k) values[k] = std::sin(1 + 0.7 * static_cast<double>(k));
    for (Count i = 0; i < rows; ++i) labels[i] = i % 3 == 0 ? 1 : -1;
  }
  Rows rows() const { return Rows({values.data(), false, columns, 1}, labels.size(), columns); }
  Pass pass() const {
    Pass out;
    out.labels = labels.data();
    out.size = labels.size();
    return out;
  }
};

struct Source final : RowSource {
  const Stream& stream;
  explicit Source(const Stream& stream) : stream(stream) {}
  Rows rows(const Model&) override { return stream.rows(); }
};

// What saving does: it reads everything.
struct Reader final : StateVisitor {
  double sum = 0;
  void operator()(const char*, Vector& v) override {
    for (std::size_t k = 0; k < v.size(); ++k) sum += v.data()[k];
  }
  void operator()(const char*, Symmetric& m) override { square(m); }
  void operator()(const char*, SymmetricOf<float>& m) override { square(m); }
  void operator()(const char*, Table& t) override {
    t.for_each([&](std::size_t, const double* row) { sum += row[0]; });
  }
  void operator()(const char*, std::vector<double>& few) override { add(few); }
  void operator()(const char*, Series& many) override { add(many.values); }
  void operator()(const char*, double& value) override { sum += value; }
  void operator()(const char*, Count& value) override { sum += static_cast<double>(value); }

 private:
  void add(const std::vector<double>& values) {
    for (const double v : values) sum += v;
  }
  template <class Value>
  void square(SymmetricOf<Value>& m) {
    std::vector<Value> values(m.size() * m.size());
    m.read(values.data());
    for (const Value v : values) sum += v;
  }
};

template <class Act>
void in_threads(OneAtATime& host, int rounds, std::initializer_list<Act> acts) {
  std::vector<std::jthread> threads;
  for (const Act& act : acts)
    threads.emplace_back([&host, act, rounds] {
      for (int k = 0; k < rounds; ++k) {
        const std::scoped_lock lock(host.mutex);
        act();
      }
    });
}

using Act = std::function<void()>;

}  // namespace

TEST(a_session_in_several_threads) {
  const Stream few(30, 6), wide(30, 11), many(40'000, 14);  // enough to be scored by two threads
  setenv("LOPSIDED_THREADS", "3", 1);
  for (const char* kind : {"cog", "additive-logistic", "ssol-diagonal", "koil"}) {
    OneAtATime host;
    Session session(kind, host);
    const auto learn = [&](const Stream& stream) {
      Source source(stream);
      Pass pass = stream.pass();
      session.learn(source, pass);
    };
    in_threads<Act>(host, 8,
                    {[&] { learn(few); }, [&] { learn(wide); },
                     [&] {
                       std::vector<double> scores(many.labels.size());
                       Source source(many);
                       session.score(source, scores.data());
                     },
                     [&] {
                       session.look([](Model& model) {
                         Reader reader;
                         model.state(reader);
                         model.clone();
                       });
                     },
                     [&] { CHECK(session.features() >= 0); }});
    CHECK(session.features() == 11 || session.features() == 14);
    session.look([&](const Model& model) { CHECK(model.rounds() == 2 * 8 * 30); });
  }
  unsetenv("LOPSIDED_THREADS");
}

TEST(sessions_in_a_bank_and_out_of_it_in_several_threads) {
  const Stream stream(400, 20);
  setenv("LOPSIDED_THREADS", "3", 1);
  for (int round = 0; round < 5; ++round) {
    OneAtATime host;
    std::vector<std::unique_ptr<Session>> all;
    std::vector<Session*> each;
    for (int k = 0; k < 70; ++k) each.push_back(all.emplace_back(std::make_unique<Session>("cog", host)).get());
    std::vector<Banked> bank(each.size(), Banked{nullptr, stream.pass()});
    const auto learn = [&] {
      double seconds;
      Session::learn_together(each, stream.rows(), bank, seconds);
    };
    {
      const std::scoped_lock lock(host.mutex);
      learn();
    }
    in_threads<Act>(host, 3,
                    {[&] {
                       std::vector<std::vector<double>> scores(each.size(), std::vector<double>(400));
                       std::vector<double*> out;
                       for (auto& one : scores) out.push_back(one.data());
                       Session::score_together(each, stream.rows(), out);
                     },
                     [&] { each[0]->banked_nonzeros(); }, [&] { each[1]->banked_nonzeros(); },
                     [&] { CHECK(each[2]->features() == 20); },
                     [&, k = std::size_t{3}]() mutable {
                       each[k++]->look([](const Model& model) { CHECK(model.rounds() == 400); });
                     }});
  }
  unsetenv("LOPSIDED_THREADS");
}

TEST(texts_and_caches_in_several_threads) {
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      for (int k = 1; k < 40; ++k) {
        std::string text;
        for (int i = 0; i < k * (t + 1); ++i) text += i % 2 ? "1 1:1 3:1\n" : "-1 2:1 4:1\n";
        const LibsvmBlock block = parse_libsvm(text, 1, {});
        const std::string bytes = pack(block, 0);
        std::vector<std::uint64_t> words(bytes.size() / 8);
        std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(words.data()));
        const PackedBlock back(reinterpret_cast<const char*>(words.data()), bytes.size());
        CHECK(back.values()[0] == 1 && back.rows() == k * (t + 1));
      }
    });
}
