// The AUC of the events so far, or of the last few, in O(log n) an event.
//
// A treap over the scores: each node knows how much positive and negative weight lies in its subtree
// and how many pairs, in products of weights, are in order there; equal scores count half. These are
// made anew from the children on the way up, so nothing drifts as events come and go. Priorities are a
// function of the score: the tree depends on the scores it holds and not on their order.
//
// When there are more than `limit` scores the last bits of all are dropped until half as many are left;
// what they order was won or lost and now counts half.
#pragma once

#include <bit>
#include <deque>

#include "../base.hpp"
#include "../random.hpp"

namespace lopsided {

class RunningAuc {
 public:
  using Key = std::uint64_t;  // of a score: in the same order

  // What is held of one score: the weight of positives and of negatives.
  struct Level {
    Key key;
    double up, down;
    std::uint32_t events;
  };
  struct Event {
    double score, weight;  // the weight of a negative has a minus
  };

  // 0: no such bound. A limit is at least 4.
  explicit RunningAuc(std::size_t window = 0, std::size_t limit = 0) : window_(window), limit_(limit) {}

  void add(bool positive, double score, double weight) {
    if (!(weight >= 0 && std::isfinite(weight)))
      throw std::invalid_argument("weights must be finite and not negative");
    if (weight == 0) return;
    if (std::isnan(score)) throw std::invalid_argument("scores contain NaN");
    score += 0.0;  // of the two zeros one
    if (window_ > 0) {
      events_.push_back({score, positive ? weight : -weight});
      if (events_.size() > window_) {
        const Event old = events_.front();
        events_.pop_front();
        root_ = remove(root_, key_of(old.score), std::max(0.0, old.weight), std::max(0.0, -old.weight));
      }
    }
    root_ = insert(root_, key_of(score), {0, positive ? weight : 0, positive ? 0 : weight, 1});
    if (limit_ > 0 && size() > limit_) coarsen();
  }

  double value() const {
    const Node& all = nodes_[root_];
    const double pairs = all.ups * all.downs;
    return pairs > 0 ? all.won / pairs : std::numeric_limits<double>::quiet_NaN();
  }
  // How far the value may be from that of the scores with all their bits.
  double error() const {
    if (dropped_ == 0) return 0;
    double tied = 0;
    in_order(root_, [&](const Node& n) { tied += n.up * n.down; });
    const double pairs = nodes_[root_].ups * nodes_[root_].downs;
    return pairs > 0 ? tied / pairs / 2 : 0;
  }
  double positives() const { return nodes_[root_].ups; }
  double negatives() const { return nodes_[root_].downs; }
  std::size_t size() const { return nodes_.size() - 1 - free_.size(); }  // different scores

  std::vector<Level> levels() const {
    std::vector<Level> out;
    in_order(root_, [&](const Node& n) { out.push_back({n.key, n.up, n.down, n.events}); });
    return out;
  }
  const std::deque<Event>& events() const { return events_; }
  int dropped() const { return dropped_; }  // bits of each score
  void restore(int dropped, const std::vector<Level>& levels, std::deque<Event> events) {
    dropped_ = dropped;
    events_ = std::move(events);
    rebuild(levels);
  }

 private:
  using Link = std::uint32_t;

  struct Node {
    Key key = 0;
    double up = 0, down = 0;               // weight of this score
    double ups = 0, downs = 0, won = 0;    // of the subtree
    Link left = 0, right = 0;
    std::uint32_t events = 0;
  };

  Key key_of(double score) const {
    const auto bits = std::bit_cast<Key>(score);
    return coarse(bits >> 63 ? ~bits : bits | Key{1} << 63);
  }
  Key coarse(Key key) const { return key >> dropped_ << dropped_; }
  Key priority(Link t) const { return splitmix64(nodes_[t].key); }

  // The sums of a subtree from those of its children.
  void sum(Link t) {
    Node& n = nodes_[t];
    const Node &l = nodes_[n.left], &r = nodes_[n.right];
    n.ups = l.ups + n.up + r.ups;
    n.downs = l.downs + n.down + r.downs;
    n.won = l.won + r.won + n.up * (l.downs + 0.5 * n.down) + r.ups * (l.downs + n.down);
  }
  Link rotated(Link t, Link Node::*from, Link Node::*to) {  // the child at `from` comes up
    const Link up = nodes_[t].*from;
    nodes_[t].*from = nodes_[up].*to;
    nodes_[up].*to = t;
    sum(t);
    sum(up);
    return up;
  }

  Link insert(Link t, Key key, const Level& more) {
    if (t == 0) return fresh(key, more);
    if (key == nodes_[t].key) {
      nodes_[t].up += more.up;
      nodes_[t].down += more.down;
      nodes_[t].events += more.events;
      sum(t);
      return t;
    }
    const bool below = key < nodes_[t].key;
    const auto side = below ? &Node::left : &Node::right;
    const Link child = insert(nodes_[t].*side, key, more);
    nodes_[t].*side = child;
    if (priority(child) > priority(t)) return rotated(t, side, below ? &Node::right : &Node::left);
    sum(t);
    return t;
  }
  Link remove(Link t, Key key, double up, double down) {
    Node& n = nodes_[t];
    if (key != n.key) {
      Link& child = key < n.key ? n.left : n.right;
      child = remove(child, key, up, down);
    } else if (--n.events == 0) {
      const Link rest = joined(n.left, n.right);
      free_.push_back(t);
      return rest;
    } else {
      n.up -= up;
      n.down -= down;
    }
    sum(t);
    return t;
  }
  // All scores of a are below those of b.
  Link joined(Link a, Link b) {
    if (a == 0 || b == 0) return a + b;
    if (priority(a) > priority(b)) {
      nodes_[a].right = joined(nodes_[a].right, b);
      sum(a);
      return a;
    }
    nodes_[b].left = joined(a, nodes_[b].left);
    sum(b);
    return b;
  }
  Link fresh(Key key, const Level& level) {
    Link t;
    if (free_.empty()) {
      t = static_cast<Link>(nodes_.size());
      nodes_.emplace_back();
    } else {
      t = free_.back();
      free_.pop_back();
    }
    nodes_[t] = {key, level.up, level.down, 0, 0, 0, 0, 0, level.events};
    sum(t);
    return t;
  }

  void coarsen() {
    const std::vector<Level> all = levels();
    std::size_t groups;
    do {
      ++dropped_;
      groups = 1;
      for (std::size_t k = 1; k < all.size(); ++k)
        groups += coarse(all[k].key) != coarse(all[k - 1].key);
    } while (groups > limit_ / 2);  // two groups are left when only the signs are
    rebuild(all);
  }
  void rebuild(const std::vector<Level>& levels) {
    nodes_.assign(1, {});
    free_.clear();
    root_ = 0;
    for (const Level& level : levels) root_ = insert(root_, coarse(level.key), level);
  }

  template <class Visit>
  void in_order(Link t, Visit visit) const {
    std::vector<Link> path;
    while (t != 0 || !path.empty()) {
      for (; t != 0; t = nodes_[t].left) path.push_back(t);
      t = path.back();
      path.pop_back();
      visit(nodes_[t]);
      t = nodes_[t].right;
    }
  }

  std::size_t window_, limit_;
  int dropped_ = 0;
  std::vector<Node> nodes_{1};  // the first is no node
  std::vector<Link> free_;
  Link root_ = 0;
  std::deque<Event> events_;  // of the window
};

}  // namespace lopsided
