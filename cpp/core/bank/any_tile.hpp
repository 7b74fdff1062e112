// The interface of a tile to its bank: some of the bank's models, with their values for each feature side by side.
#pragma once

#include <memory>
#include <span>

#include "../simd.hpp"
#include "learned.hpp"
#include "options_state.hpp"

LOPSIDED_ISA_BEGIN

// Scores are handed over one cache line at a time: those of one row go to as many arrays as there are models, and
// these may evict each other from the cache.
inline constexpr Count together = 8;

class AnyTile {
 public:
  AnyTile(std::span<Banked> models, std::size_t slots, std::span<const double> initial)
      : models_(models), slots_(slots), initial_(initial) {}
  AnyTile(const AnyTile&) = delete;
  virtual ~AnyTile() = default;

  std::span<Banked> models() const { return models_; }
  std::size_t slots() const { return slots_; }           // at least as many as models
  std::size_t width() const { return initial_.size(); }  // values that a model has for each feature
  double initial(std::size_t i) const { return initial_[i]; }
  double* value(std::size_t feature, std::size_t i, std::size_t l) {
    return table_.get() + (feature * width() + i) * slots_ + l;
  }

  // Allocates memory for features, all untouched.
  void reserve(std::size_t features) {
    size_ = features * width() * slots_;
    table_ = {LineAllocator<double>().allocate(size_), Free{size_}};
  }
  virtual void begin(std::size_t feature) = 0;

  // For model l: takes its options, finds its state, and says whether it can learn in a bank with these options.
  virtual int place(std::size_t l) const = 0;  // in its vector
  virtual void options(std::size_t l, GiveOptions& give) = 0;
  virtual void state(std::size_t l, StateList& list) = 0;
  virtual bool banks(std::size_t l) const = 0;
  virtual Count updates(std::size_t l) const = 0;

  // Looks up the features of the next row, to be prefetched while this one is scored.
  virtual void expect(const SparseRow& x, Count visit) = 0;
  virtual void observe(const DenseRow& x, const Target& target, Count visit, Count row) = 0;
  virtual void observe(const SparseRow& x, const Target& target, Count visit, Count row) = 0;
  virtual void skip(Count visit) = 0;
  // Writes the scores of the last `count` rows to their arrays.
  virtual void hand_over(Count first, Count count) = 0;
  // The progress so far: what is `shared`, and what belongs to each model.
  virtual void tell(const Tally& shared) = 0;
  // The scores have been written: calibrations are learned from them.
  void calibrate(const Pass& pass) {
    calibrations_.resize(models_.size());
    for (std::size_t l = 0; l < models_.size(); ++l) {
      const double* const scores = models_[l].pass.scores;
      for (Count i = 0; scores && !models_[l].failure && i < pass.size; ++i)
        if (const double weight = pass.weight(pass.at(i)); weight != 0)
          calibrations_[l].record(scores[i], pass.labels[pass.at(i)], weight);
    }
  }
  const Calibration& calibration(std::size_t l) const { return calibrations_[l]; }
  void mark() {
    for (Banked& one : models_) one.pass.curve.push_back(one.pass.tally);
  }

  // Whether it can score rows without learning.
  virtual bool scores() const = 0;
  // Scores a row that is not learned, into `row` of `out`. False if some score is not finite.
  virtual bool score(const DenseRow& x, std::vector<double*>& found, std::span<double* const> out, Count row) const = 0;
  virtual bool score(const SparseRow& x, std::vector<double*>& found, std::span<double* const> out,
                     Count row) const = 0;
  // The number of features with a weight, for each model.
  virtual void nonzeros(std::size_t first, std::size_t last, Count* out) const = 0;

 protected:
  struct Free {
    std::size_t size;
    void operator()(double* p) const { LineAllocator<double>().deallocate(p, size); }
  };

  std::span<Banked> models_;
  std::size_t slots_, size_ = 0;
  std::span<const double> initial_;
  std::unique_ptr<double[], Free> table_{nullptr, Free{0}};

 private:
  std::vector<Calibration> calibrations_;
};

// A tile for the first of the models.
using MakeTile = std::unique_ptr<AnyTile> (*)(std::span<Banked>);
inline constexpr std::size_t largest_tile = 3;  // vectors

LOPSIDED_ISA_END
