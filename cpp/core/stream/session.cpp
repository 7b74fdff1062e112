#include "session.hpp"

#include <algorithm>
#include <chrono>

#include "../registry/registry.hpp"

namespace lopsided {

namespace {

class Clock {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

Session::Session(std::string_view kind, Host& host) : kind_(kind), model_(make_model(kind)), host_(host) {
  if (!model_) throw std::invalid_argument("no kind of learner " + kind_);
}

Session::Turn Session::take_turn() {
  std::unique_lock lock(lock_, std::try_to_lock);
  if (!lock) {
    const Away away(host_);
    lock.lock();
  }
  Turn turn(*this, std::move(lock));
  if (learned_) {  // the model as it left the bank
    learned_->give(place_, *model_);
    learned_.reset();
  }
  return turn;
}

double Session::learn(RowSource& source, Pass& pass) {
  const Turn turn = take_turn();
  const Rows rows = source.rows(*model_);
  double seconds = 0;
  if (source.long_work()) {
    const Away away(host_);
    const Clock clock;
    model_->learn(rows, pass);
    seconds = clock.seconds();  // without the wait to come back
  } else {
    model_->learn(rows, pass);
  }
  source.taken(*model_);
  return seconds;
}

void Session::score(RowSource& source, double* out) {
  const Turn turn = take_turn();
  const Rows rows = source.rows(*model_);
  const Away away(host_, source.long_work());
  model_->score(rows, out);
}

Reasons Session::explain(RowSource& source) {
  const Turn turn = take_turn();
  return model_->explain(source.rows(*model_));
}

Count Session::ask(RowSource& source, const AskedAbout& given, const Answers& out) {
  const Turn turn = take_turn();
  const Rows rows = source.rows(*model_);
  const Count first = model_->asker().budget.events;
  {
    const Away away(host_, source.long_work());
    model_->ask(rows, given, out);
  }
  source.taken(*model_);
  return first;
}

bool Session::tell(Count id, double y, double weight) {
  const Turn turn = take_turn();
  if (!model_->asker().pending.waits(id)) return false;
  model_->tell(id, y, weight);
  return true;
}

bool Session::learn_together(std::span<Session* const> all, const Rows& rows, std::span<Banked> bank, double& seconds) {
  std::vector<Session*> sorted(all.begin(), all.end());
  std::ranges::sort(sorted);
  const auto other = [&](const Session* s) { return s->kind_ != all[0]->kind_; };
  if (all.empty() || std::ranges::adjacent_find(sorted) != sorted.end() || std::ranges::any_of(all, other))
    return false;
  std::vector<Turn> turns;
  for (Session* session : sorted) turns.push_back(session->take_turn());
  for (std::size_t m = 0; m < all.size(); ++m) bank[m].model = all[m]->model_.get();
  std::shared_ptr<Learned> learned;
  {
    const Away away(all[0]->host_);
    const Clock clock;
    learned = lopsided::learn_together(all[0]->kind_, rows, bank);
    seconds = clock.seconds();
  }
  if (!learned) return false;
  for (std::size_t m = 0; m < all.size(); ++m) {
    if (bank[m].failure) continue;
    all[m]->learned_ = learned;
    all[m]->place_ = m;
  }
  return true;
}

bool Session::score_together(std::span<Session* const> all, const Rows& rows, std::span<double* const> out) {
  const std::shared_ptr<Learned> learned = all.empty() ? nullptr : all[0]->learned_;
  if (!learned) return false;
  std::vector<double*> places(learned->models());
  for (std::size_t m = 0; m < all.size(); ++m) {
    if (all[m]->learned_ != learned || places[all[m]->place_]) return false;
    places[all[m]->place_] = out[m];
  }
  const Away away(all[0]->host_);
  return learned->score(rows, places);
}

std::optional<Count> Session::banked_nonzeros() {
  const std::shared_ptr<Learned> learned = learned_;
  if (!learned) return {};
  const std::size_t place = place_;
  const Away away(host_);
  return learned->nonzeros(place);
}

}  // namespace lopsided
