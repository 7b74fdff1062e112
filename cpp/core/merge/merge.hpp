// Models that learned from shards of one stream, merged into one: docs/merge.md has the mathematics.
#pragma once

#include "state.hpp"

namespace lopsided {

struct MergePart {
  std::unique_ptr<Model> model;
  // Where its features are in the merged model; empty: in the same places.
  std::vector<Index> places;
  double weight = 1;  // of its rows
};

struct MergedState {
  Index features;
  merging::State state;
};

// `base` is the model that the parts of a round started from, as `split_state` returned it, or one that has learned
// nothing. Throws std::invalid_argument, with a reason, where models cannot be merged.
MergedState merge_states(std::string_view kind, const Model& base, std::span<MergePart> parts);

// The state with which each of `shards` models starts a round: 1 / shards of what rows have added to its precisions.
MergedState split_state(std::string_view kind, const Model& base, double shards);

}  // namespace lopsided
