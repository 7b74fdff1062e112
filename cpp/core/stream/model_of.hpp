// The model of a learner: what of Model depends on the learner.
#pragma once

#include "../learner.hpp"
#include "../simd.hpp"
#include "model.hpp"
#include "progressive.hpp"

LOPSIDED_ISA_BEGIN

template <Learner L>
class ModelOf final : public Model {
  static_assert(has_its_hooks<L>());

 public:
  ModelOf()
      : Model({L::hooks.observe, remembers<L>, L::hooks.new_features, L::hooks.dense, L::hooks.log_odds, L::hooks.fade,
               (L::hooks.coefficients || L::hooks.nonzeros) && !L::hooks.scales}) {}

  std::unique_ptr<Model> clone() const override { return std::make_unique<ModelOf>(*this); }
  void nonzeros(std::vector<Index>& features, std::vector<double>& weights) const override {
    if constexpr (L::hooks.nonzeros)
      learner_.nonzeros([&](std::size_t j, double w) {
        features.push_back(static_cast<Index>(j));
        weights.push_back(w);
      });
    else Model::nonzeros(features, weights);
  }
  std::vector<double> coefficients() const override {
    return hook::coefficients(learner_, static_cast<std::size_t>(features_) + prepare_.offset());
  }

 private:
  void learn_rows(const Rows& rows, bool sparse, Pass& pass) override {
    Asker* const asker = asker_.on() && !pass.free ? &asker_ : nullptr;
    const auto loop = sparse ? progressive<SparseRow, L> : progressive<DenseRow, L>;
    loop(rows, pass, learner_, teaching(), asker, read_, prepared_);
  }
  void ask_rows(const Rows& rows, bool sparse, const AskedAbout& given, const Answers& out, bool afterwards) override {
    const auto loop = sparse ? ask_all<SparseRow, L> : ask_all<DenseRow, L>;
    loop(rows, given, learner_, prepare_, decider_, cost_, asker_, out, afterwards, read_, prepared_);
  }
  void score_rows(const Rows& rows, bool sparse, Count first, Count last, Prepare& prepare, Index known,
                  double* out) override {
    const auto loop = sparse ? score_all<SparseRow, L> : score_all<DenseRow, L>;
    loop(rows, first, last, learner_, prepare, known, out, read_, prepared_);
  }
  void explain_row(const Rows& rows, bool sparse, Prepare& prepare, Index known, Reasons& out) override {
    if constexpr (!L::hooks.explain) Model::explain_row(rows, sparse, prepare, known, out);
    else if (sparse) explain<SparseRow>(rows, prepare, known, out);
    else explain<DenseRow>(rows, prepare, known, out);
  }
  template <class Row>
  void explain(const Rows& rows, Prepare& prepare, Index known, Reasons& out) {
    const Row raw = rows.row<Row>(0, read_);
    if (learner_.scales()) learner_.explain(raw, known, out);
    else learner_.explain(prepare.row(raw, known, false, prepared_), known + prepare.offset(), out);
  }
  bool learn_kept(const Kept& kept, double y, double weight) override {
    return learn_late(learner_, teaching(), asker_, kept, y, weight, std::nullopt, 0);
  }
  bool fits(const Kept& kept) const override { return hook::fits(learner_, kept, features_ + prepare_.offset()); }
  bool dense() const override { return hook::dense(learner_); }
  std::size_t known_columns() const override { return hook::columns(learner_); }
  void start() override { hook::start(learner_); }
  void reserve_learner(std::size_t columns) override { hook::reserve(learner_, columns); }
  std::size_t grow_learner(std::size_t columns) override { return hook::grow(learner_, columns); }
  std::size_t learner_bytes(std::size_t grown) const override { return hook::bytes(learner_, grown); }
  void learner_options(OptionVisitor& visit) override { learner_.options(visit); }
  void learner_state(StateVisitor& visit) override { learner_.state(visit); }
  void go_back_to(Model&& before) override { *this = std::move(static_cast<ModelOf&>(before)); }

  Teaching teaching() { return {prepare_, decider_, cost_, rounds_, forget_}; }

  L learner_;
};

LOPSIDED_ISA_END
