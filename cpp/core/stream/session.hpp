// A model in use: one caller at a time, whose rows may come with names, and who may hand them over in a bank.
//
// Whatever is done with a model goes through the verbs here, for many rows and for one event alike. Where the
// rows come from and what else runs in the process is the caller's: RowSource and Host.
#pragma once

#include <mutex>
#include <string>

#include "../bank/learned.hpp"
#include "fork_lock.hpp"
#include "restore.hpp"

namespace lopsided {

// The program around a session. It may run while the session waits for its turn or works on many rows.
struct Host {
  virtual ~Host() = default;
  virtual void* leave() = 0;
  virtual void come_back(void* left) = 0;
};

// The rows of one call. Both functions are called while nobody else uses the session.
struct RowSource {
  virtual ~RowSource() = default;
  virtual bool long_work() const { return true; }  // worth letting the program run meanwhile
  virtual Rows rows(const Model& model) = 0;
  // The model has taken the rows in: it may know more features, which may have names.
  virtual void taken(const Model&) {}
};

class Session {
 public:
  // Throws std::invalid_argument if there is no such kind of learner.
  Session(std::string_view kind, Host& host);

  const std::string& kind() const { return kind_; }
  // Without a lock, as of the end of the last turn: features are never forgotten.
  Index features() const { return features_.load(std::memory_order_relaxed); }

  // Learns in one pass; returns its seconds.
  double learn(RowSource& source, Pass& pass);
  void score(RowSource& source, double* out);
  Reasons explain(RowSource& source);  // of its first row
  // Returns the number of the first event.
  Count ask(RowSource& source, const AskedAbout& given, const Answers& out);
  // The label of an event that waits; false if it does not.
  bool tell(Count id, double y, double weight);

  // Anything else, as of one moment.
  template <class Look>
  decltype(auto) look(Look look) {
    const Turn turn = take_turn();
    return look(*model_);
  }

  // Takes a saved state, then calls `then` in the same turn. A state that is refused changes nothing.
  template <class Then>
  void restore(Index features, StateRestorer& from, Then then) {
    const Turn turn = take_turn();
    lopsided::restore(model_, features, from);
    then();
  }

  // One pass for several sessions of a kind, each at most once; `bank` says what became of each. False, and
  // nothing has happened, if they cannot share one.
  static bool learn_together(std::span<Session* const> all, const Rows& rows, std::span<Banked> bank, double& seconds);
  // Scores by sessions that have learned together and were not used since, each into its own array.
  static bool score_together(std::span<Session* const> all, const Rows& rows, std::span<double* const> out);
  // How many features have a weight, of a model that has not left its bank.
  std::optional<Count> banked_nonzeros();

 private:
  class Turn {
   public:
    Turn(Session& session, std::unique_lock<ForkLock> lock) : session_(session), lock_(std::move(lock)) {}
    Turn(Turn&&) = default;
    ~Turn() {
      if (lock_.owns_lock()) session_.features_.store(session_.count_features(), std::memory_order_relaxed);
    }

   private:
    Session& session_;
    std::unique_lock<ForkLock> lock_;
  };
  // Lets the program run until the end of a scope.
  class Away {
   public:
    explicit Away(Host& host, bool really = true) : host_(really ? &host : nullptr) {
      if (host_) left_ = host_->leave();
    }
    ~Away() {
      if (host_) host_->come_back(left_);
    }
    Away(const Away&) = delete;
    Away& operator=(const Away&) = delete;

   private:
    Host* host_;
    void* left_ = nullptr;
  };

  Turn take_turn();
  Index count_features() const { return learned_ ? learned_->features() : model_->features(); }

  std::string kind_;
  std::unique_ptr<Model> model_;
  Host& host_;
  std::shared_ptr<Learned> learned_;  // and the model's place there, until the model is used
  std::size_t place_ = 0;
  std::atomic<Index> features_{0};
  ForkLock lock_;
};

}  // namespace lopsided
