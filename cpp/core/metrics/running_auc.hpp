// The AUC of all events so far, or of a sliding window, in O(log n) per event.
//
// A treap over the scores: each node stores the positive and the negative weight in its subtree and the weight of the
// correctly ordered pairs in it (products of weights); ties count half. These sums are recomputed from the children on
// the way up, so no rounding errors accumulate as events come and go. Priorities are a function of the score: the tree
// depends on the scores in it and not on their order. Events are buffered until the value is read or the buffer is
// full: then they are sorted and the tree is rebuilt, which is much cheaper than inserting them one by one and gives the
// same result.
//
// When there are more than `limit` scores, low bits of all scores are dropped until half as many are left; pairs that
// differ only in those bits become ties.
#pragma once

#include <bit>
#include <deque>
#include <map>

#include "../base.hpp"
#include "../numbers/random.hpp"

namespace lopsided {

class RunningAuc {
 public:
  using Key = std::uint64_t;  // of a score: in the same order

  // One score: the weight of its positives and of its negatives.
  struct Level {
    Key key;
    double up, down;
    std::uint32_t events;
  };
  struct Event {
    double score, weight;  // the weight of a negative is negated
  };

  // 0: unbounded. A limit is at least 4.
  explicit RunningAuc(std::size_t window = 0, std::size_t limit = 0) : window_(window), limit_(limit) {}

  void add(bool positive, double score, double weight) {
    if (!(weight >= 0 && std::isfinite(weight))) throw std::invalid_argument("weights must be finite and not negative");
    if (weight == 0) return;
    if (std::isnan(score)) throw std::invalid_argument("scores contain NaN");
    score += 0.0;  // -0 becomes 0
    const Event event{score, positive ? weight : -weight};
    if (window_ == 0) {
      waiting_.push_back(event);
      if (waiting_.size() >= std::max(many, held() / 4)) settle();
      return;
    }
    events_.push_back(event);
    if (events_.size() > window_) {
      const Level old = level_of(events_.front());
      events_.pop_front();
      root_ = remove(root_, old.key, old.up, old.down);
    }
    enter(event);
  }

  double value() {
    settle();
    const Node& all = nodes_[root_];
    const double pairs = all.ups * all.downs;
    return pairs > 0 ? all.won / pairs : std::numeric_limits<double>::quiet_NaN();
  }
  // Bound on the error of the value due to dropped bits.
  double error() {
    settle();
    if (dropped_ == 0) return 0;
    double tied = 0;
    in_order(root_, [&](const Node& n) { tied += n.up * n.down; });
    const double pairs = nodes_[root_].ups * nodes_[root_].downs;
    return pairs > 0 ? tied / pairs / 2 : 0;
  }
  double positives() {
    settle();
    return nodes_[root_].ups;
  }
  double negatives() {
    settle();
    return nodes_[root_].downs;
  }
  std::size_t size() {  // distinct scores
    settle();
    return held();
  }

  std::vector<Level> levels() {
    settle();
    return all();
  }
  const std::deque<Event>& events() const { return events_; }
  int dropped() {  // bits of each score
    settle();
    return dropped_;
  }
  void restore(int dropped, const std::vector<Level>& levels, std::deque<Event> events) {
    check(dropped, levels, events);
    dropped_ = dropped;
    events_ = std::move(events);
    waiting_.clear();
    build(levels);
  }

 private:
  // A loaded state may be anything. The tree relies on keys that are in order and have no dropped bits, and
  // events of a window on being the ones that the levels count.
  void check(int dropped, const std::vector<Level>& levels, const std::deque<Event>& events) const {
    const auto require = [](bool valid, const char* what) {
      if (!valid) throw std::invalid_argument(std::string("state of a running AUC: ") + what);
    };
    require(dropped >= 0 && dropped <= 63, "dropped bits must be 0 to 63");
    RunningAuc empty(window_, limit_);
    empty.dropped_ = dropped;
    for (std::size_t k = 0; k < levels.size(); ++k) {
      const Level& level = levels[k];
      require(k == 0 || levels[k - 1].key < level.key, "scores must be in order");
      require(empty.coarse(level.key) == level.key, "scores must not have dropped bits");
      require(std::isfinite(level.up) && std::isfinite(level.down), "weights must be finite");
    }
    require(limit_ == 0 || levels.size() <= limit_, "more scores than the limit");
    require(events.size() <= window_, "more events than the window");
    if (window_ == 0) return;
    std::map<Key, std::uint32_t> counts;
    for (const Event& event : events) {
      require(std::isfinite(event.weight) && event.weight != 0 && !std::isnan(event.score), "an event is invalid");
      ++counts[empty.key_of(event.score)];
    }
    require(std::equal(counts.begin(), counts.end(), levels.begin(), levels.end(),
                       [](const auto& count, const Level& level) {
                         return count.first == level.key && count.second == level.events;
                       }),
            "scores and events differ");
  }

  using Link = std::uint32_t;
  static constexpr std::size_t many = 16384;

  struct Node {
    Key key = 0;
    double up = 0, down = 0;  // weight of this score
    double ups = 0, downs = 0, won = 0;  // of the subtree
    Link left = 0, right = 0;
    std::uint32_t events = 0;
  };

  Key key_of(double score) const {
    const auto bits = std::bit_cast<Key>(score);
    return coarse(bits >> 63 ? ~bits : bits | Key{1} << 63);
  }
  Level level_of(const Event& event) const {
    return {key_of(event.score), std::max(0.0, event.weight), std::max(0.0, -event.weight), 1};
  }
  Key coarse(Key key) const { return key >> dropped_ << dropped_; }
  Key priority(Link t) const { return splitmix64(nodes_[t].key); }

  // Recomputes the sums of a subtree from its children.
  void sum(Link t) {
    Node& n = nodes_[t];
    const Node &l = nodes_[n.left], &r = nodes_[n.right];
    n.ups = l.ups + n.up + r.ups;
    n.downs = l.downs + n.down + r.downs;
    n.won = l.won + r.won + n.up * (l.downs + 0.5 * n.down) + r.ups * (l.downs + n.down);
  }
  Link rotated(Link t, Link Node::* from, Link Node::* to) {  // the child at `from` comes up
    const Link up = nodes_[t].*from;
    nodes_[t].*from = nodes_[up].*to;
    nodes_[up].*to = t;
    sum(t);
    sum(up);
    return up;
  }

  std::size_t held() const { return nodes_.size() - 1 - free_.size(); }
  std::vector<Level> all() const {
    std::vector<Level> out;
    out.reserve(held());
    in_order(root_, [&](const Node& n) { out.push_back({n.key, n.up, n.down, n.events}); });
    return out;
  }

  void enter(const Event& event) {
    root_ = insert(root_, level_of(event));
    if (limit_ > 0 && held() > limit_) coarsen();
  }
  void settle() {
    if (waiting_.empty()) return;
    if (waiting_.size() < 16 + held() / 16)
      for (const Event& event : waiting_) enter(event);
    else
      for (std::size_t first = 0; first < waiting_.size();) first = merge(first);
    waiting_.clear();
  }
  // Merges the buffered events from `first` on, up to the one that exceeds the limit. Returns where it stopped.
  std::size_t merge(std::size_t first) {
    struct Arrival {
      Key key;
      std::size_t at;
      bool operator<(const Arrival& other) const { return key != other.key ? key < other.key : at < other.at; }
    };
    std::vector<Arrival> arrivals;
    for (std::size_t k = first; k < waiting_.size(); ++k) arrivals.push_back({key_of(waiting_[k].score), k});
    std::sort(arrivals.begin(), arrivals.end());
    const std::vector<Level> old = all();

    std::size_t stop = waiting_.size();
    if (limit_ > 0 && old.size() + arrivals.size() > limit_) {
      std::vector<std::size_t> fresh;  // first event of each new score
      auto level = old.begin();
      for (std::size_t k = 0; k < arrivals.size(); ++k) {
        if (k > 0 && arrivals[k].key == arrivals[k - 1].key) continue;
        while (level != old.end() && level->key < arrivals[k].key) ++level;
        if (level == old.end() || level->key != arrivals[k].key) fresh.push_back(arrivals[k].at);
      }
      if (const std::size_t room = limit_ - old.size(); fresh.size() > room) {
        std::nth_element(fresh.begin(), fresh.begin() + static_cast<std::ptrdiff_t>(room), fresh.end());
        stop = fresh[room] + 1;
      }
    }

    std::vector<Level> merged;
    merged.reserve(old.size() + arrivals.size());
    auto level = old.begin();
    for (const Arrival& arrival : arrivals) {
      if (arrival.at >= stop) continue;
      while (level != old.end() && level->key <= arrival.key) merged.push_back(*level++);
      append(merged, level_of(waiting_[arrival.at]));
    }
    merged.insert(merged.end(), level, old.end());
    build(merged);
    if (limit_ > 0 && held() > limit_) coarsen();
    return stop;
  }
  static void pool(Level& level, const Level& more) {
    level.up += more.up;
    level.down += more.down;
    level.events += more.events;
  }
  static void append(std::vector<Level>& levels, const Level& more) {
    if (!levels.empty() && levels.back().key == more.key) pool(levels.back(), more);
    else levels.push_back(more);
  }

  Link insert(Link t, const Level& more) {
    if (t == 0) return fresh(more);
    if (more.key == nodes_[t].key) {
      nodes_[t].up += more.up;
      nodes_[t].down += more.down;
      nodes_[t].events += more.events;
      sum(t);
      return t;
    }
    const bool below = more.key < nodes_[t].key;
    const auto side = below ? &Node::left : &Node::right;
    const Link child = insert(nodes_[t].*side, more);
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
  Link fresh(const Level& level) {
    Link t;
    if (free_.empty()) {
      t = static_cast<Link>(nodes_.size());
      nodes_.emplace_back();
    } else {
      t = free_.back();
      free_.pop_back();
    }
    nodes_[t] = {level.key, level.up, level.down, 0, 0, 0, 0, 0, level.events};
    sum(t);
    return t;
  }

  void coarsen() {
    std::vector<Level> levels = all(), coarser;
    std::size_t groups;
    do {
      ++dropped_;
      groups = 1;
      for (std::size_t k = 1; k < levels.size(); ++k) groups += coarse(levels[k].key) != coarse(levels[k - 1].key);
    } while (groups > limit_ / 2);  // ends: two groups are left when only the sign bit is
    for (Level& level : levels) {
      level.key = coarse(level.key);
      append(coarser, level);
    }
    build(coarser);
  }
  // Builds the tree from sorted scores: nodes on the rightmost path still lack their right child.
  void build(const std::vector<Level>& levels) {
    nodes_.assign(1, {});
    nodes_.reserve(levels.size() + 1);
    free_.clear();
    std::vector<Link> path;
    for (const Level& level : levels) {
      const Link t = fresh(level);
      Link below = 0;
      while (!path.empty() && priority(path.back()) < priority(t)) {
        below = path.back();
        sum(below);
        path.pop_back();
      }
      nodes_[t].left = below;
      if (!path.empty()) nodes_[path.back()].right = t;
      path.push_back(t);
    }
    root_ = path.empty() ? 0 : path.front();
    for (; !path.empty(); path.pop_back()) sum(path.back());
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
  std::vector<Node> nodes_{1};  // the first is a sentinel
  std::vector<Link> free_;
  Link root_ = 0;
  std::deque<Event> events_;  // of the window
  std::vector<Event> waiting_;  // without a window
};

}  // namespace lopsided
