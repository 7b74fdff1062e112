// A learner with everything around it: scaling, costs, counts. The interface that the bindings see.
#pragma once

#include <memory>

#include "../state.hpp"
#include "cost.hpp"
#include "decider.hpp"
#include "forget.hpp"
#include "pass.hpp"
#include "query.hpp"
#include "reasons.hpp"
#include "scaling.hpp"

namespace lopsided {

class Model {
 public:
  virtual ~Model();
  virtual std::unique_ptr<Model> clone() const = 0;

  // All rows are learned or none. One event is scored before anything but the running statistics
  // changes. Where a copy of the model to go back to is cheap, rows are checked on the way; otherwise
  // beforehand, and then a score that overflows leaves the rows before it learned.
  void learn(const Rows& rows, Pass& pass);
  // Where there are many rows, on all cores, each with a copy of the model.
  void score(const Rows& rows, double* out);
  // Why the first row gets its score. Throws std::invalid_argument where scores are no sums of effects.
  Reasons explain(const Rows& rows);
  // Events arrive without labels, a label follows or does not. Only for a model that asks.
  void ask(const Rows& rows, const AskedAbout& given, const Answers& out);
  void tell(Count id, double y, double weight);
  // What a score means: an alarm is raised where the margin is at least 0.
  double margin(double score, const Prices* prices) { return decider_.margin(score, cost_, cost_.rho(), prices); }
  double log_odds(double score) { return decider_.log_odds_of(score); }
  const Decider& decider() const { return decider_; }
  void calibrate(const Calibration& learned) { decider_.calibration = learned; }
  // Weights other than 0 with their features, in order; the intercept, if any, is feature 0.
  virtual void nonzeros(std::vector<Index>& features, std::vector<double>& weights) const;
  virtual std::vector<double> coefficients() const = 0;  // all of them
  void options(OptionVisitor& visit);
  void state(StateVisitor& visit);
  // Without any feature there is room for the constant.
  void grow(Index features) {
    if (features > features_ || features_ == 0) grow_to(features);
  }

  Index features() const { return features_; }
  Count rounds() const { return rounds_; }
  Count updates() const { return updates_; }
  double rho() const { return cost_.rho(); }
  bool intercept() const { return prepare_.intercept; }
  Asker& asker() { return asker_; }

 protected:
  // What the core must know of a learner, and what it does. See learner.hpp for the hooks.
  struct Facts {
    bool observes, remembers, new_features, may_be_dense, log_odds, fades, linear;
  };
  explicit Model(const Facts& facts) : facts_(facts) { decider_.log_odds = facts.log_odds; }
  Model(const Model&);
  Model& operator=(Model&&);

  virtual void learn_rows(const Rows& rows, bool sparse, Pass& pass) = 0;
  virtual void ask_rows(const Rows& rows, bool sparse, const AskedAbout& given, const Answers& out,
                        bool afterwards) = 0;
  virtual void score_rows(const Rows& rows, bool sparse, Count first, Count last, Prepare& prepare, Index known,
                          double* out) = 0;
  virtual void explain_row(const Rows& rows, bool sparse, Prepare& prepare, Index known, Reasons& out);
  virtual bool learn_kept(const Kept& kept, double y, double weight) = 0;
  virtual bool fits(const Kept& kept) const = 0;
  virtual bool dense() const = 0;
  virtual std::size_t known_columns() const = 0;
  virtual void start() = 0;
  virtual void reserve_learner(std::size_t columns) = 0;
  virtual std::size_t grow_learner(std::size_t columns) = 0;
  virtual std::size_t learner_bytes(std::size_t grown) const = 0;
  virtual void learner_options(OptionVisitor& visit) = 0;
  virtual void learner_state(StateVisitor& visit) = 0;
  virtual void go_back_to(Model&& before) = 0;

  Facts facts_;
  Index features_ = 0;
  Count rounds_ = 0, updates_ = 0;
  Prepare prepare_;
  Cost cost_;
  Forget forget_;
  Decider decider_;
  Asker asker_;
  std::size_t bytes_ = 0;  // taken by the learner when it grew last
  // Buffers for the current row. Copies do without.
  struct Buffer : Scratch {
    Buffer() = default;
    Buffer(const Buffer&) : Scratch() {}
    Buffer& operator=(const Buffer&) { return *this; }
  };
  Buffer read_, prepared_;

 private:
  void grow_to(Index features);
  void run(const Rows& rows, Pass& pass);
  void score(const Rows& rows, Count first, Count last, double* out);
  bool sparse(const Rows& rows) const;
  bool cheap_copy(const Rows& rows, Count visits) const;
  bool scored_first(const Rows& rows, Count visits) const;
  void or_go_back(auto act);
  void or_decide_again(auto act);
  void or_take_back(auto act);
};

}  // namespace lopsided
