#include "check/isolation.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

namespace sp::check {
namespace {

using Edge = Isolation::Edge;
using Touch = Isolation::Touch;
using Vertex = std::uint32_t;

constexpr Vertex kNoVertex = std::numeric_limits<Vertex>::max();

struct Arc {
  Vertex from = 0;
  Vertex to = 0;
  Edge edge = Edge::kWriteWrite;
  std::uint32_t partition = 0;
  std::uint64_t offset = 0;
};

bool is_below(const Touch& a, const Touch& b) {
  return std::tie(a.partition, a.offset, a.transaction) < std::tie(b.partition, b.offset, b.transaction);
}
bool is_same(const Touch& a, const Touch& b) { return !is_below(a, b) && !is_below(b, a); }
bool is_same_place(const Touch& a, const Touch& b) { return a.partition == b.partition && a.offset == b.offset; }

void order(std::vector<Touch>& touches) {
  if (!std::ranges::is_sorted(touches, is_below)) std::ranges::sort(touches, is_below);
  const auto rest = std::ranges::unique(touches, is_same);
  touches.erase(rest.begin(), rest.end());
}

// The arcs of what was written and read, partition by partition in the order of the log.
class Arcs {
 public:
  Arcs(std::vector<Touch> writes, std::vector<Touch> reads) : writes_(std::move(writes)), reads_(std::move(reads)) {
    order(writes_);
    // What two transactions say they wrote is one's only; which, no rule of isolation can tell.
    const auto rest = std::ranges::unique(writes_, is_same_place);
    writes_.erase(rest.begin(), rest.end());
    order(reads_);
    for (std::size_t at = 1; at < writes_.size(); ++at) {
      const Touch& before = writes_[at - 1];
      if (before.partition == writes_[at].partition) add(before.transaction, writes_[at], Edge::kWriteWrite);
    }
    look_at_reads();
  }
  [[nodiscard]] std::vector<Arc> take() { return std::move(arcs_); }

 private:
  void look_at_reads() {
    std::size_t write = 0;
    for (const Touch& read : reads_) {
      const Touch lowest{0, read.partition, read.offset};
      while (write < writes_.size() && is_below(writes_[write], lowest)) ++write;
      std::size_t next = write;
      if (next < writes_.size() && is_same_place(writes_[next], read)) {
        if (writes_[next].transaction != read.transaction) arcs_.push_back(written_to(writes_[next], read));
        ++next;
      }
      if (next >= writes_.size() || writes_[next].partition != read.partition || has_read(read.transaction, writes_[next])) continue;
      add(read.transaction, writes_[next], Edge::kReadWrite);
    }
  }
  [[nodiscard]] bool has_read(Vertex transaction, const Touch& write) const {
    return std::ranges::binary_search(reads_, Touch{transaction, write.partition, write.offset}, is_below);
  }
  static Arc written_to(const Touch& write, const Touch& read) {
    return {write.transaction, read.transaction, Edge::kWriteRead, read.partition, read.offset};
  }
  void add(Vertex from, const Touch& write, Edge edge) {
    if (from != write.transaction) arcs_.push_back({from, write.transaction, edge, write.partition, write.offset});
  }

  std::vector<Touch> writes_;
  std::vector<Touch> reads_;
  std::vector<Arc> arcs_;
};

// The arcs of some kinds, by where they begin.
class Graph {
 public:
  Graph(const std::vector<Arc>& arcs, Vertex nodes, Edge up_to) : begin_(nodes + std::size_t{1}) {
    for (const Arc& arc : arcs) {
      if (arc.edge <= up_to) ++begin_[arc.from + std::size_t{1}];
    }
    for (std::size_t at = 1; at < begin_.size(); ++at) begin_[at] += begin_[at - 1];
    arcs_.resize(begin_.back());
    std::vector<std::size_t> next = begin_;
    for (const Arc& arc : arcs) {
      if (arc.edge <= up_to) arcs_[next[arc.from]++] = &arc;
    }
  }
  [[nodiscard]] std::size_t begin(Vertex node) const { return begin_[node]; }
  [[nodiscard]] std::size_t end(Vertex node) const { return begin_[node + std::size_t{1}]; }
  [[nodiscard]] const Arc& arc(std::size_t at) const { return *arcs_[at]; }
  [[nodiscard]] Vertex nodes() const { return static_cast<Vertex>(begin_.size() - 1); }

 private:
  std::vector<std::size_t> begin_;
  std::vector<const Arc*> arcs_;
};

// Strongly connected sets (Tarjan, without recursion): the number of the set of each node, and how many nodes each has.
struct Sets {
  std::vector<Vertex> of;
  std::vector<Vertex> size;
  std::vector<Vertex> lowest;   // node of the set

  explicit Sets(const Graph& graph) : of(graph.nodes(), kNoVertex), number_(graph.nodes(), kNoVertex), low_(graph.nodes(), 0) {
    for (Vertex node = 0; node < graph.nodes(); ++node) {
      if (number_[node] == kNoVertex) walk(graph, node);
    }
    lowest.assign(size.size(), kNoVertex);
    for (Vertex node = 0; node < graph.nodes(); ++node) lowest[of[node]] = std::min(lowest[of[node]], node);
  }
  [[nodiscard]] bool together(const Arc& arc) const { return of[arc.from] == of[arc.to]; }

 private:
  struct Frame {
    Vertex node = 0;
    std::size_t next = 0;
  };
  void enter(const Graph& graph, Vertex node) {
    number_[node] = low_[node] = count_++;
    stack_.push_back(node);
    frames_.push_back({node, graph.begin(node)});
  }
  void walk(const Graph& graph, Vertex root) {
    enter(graph, root);
    while (!frames_.empty()) {
      Frame& frame = frames_.back();
      const Vertex node = frame.node;
      if (frame.next < graph.end(node)) {
        const Vertex to = graph.arc(frame.next++).to;
        if (number_[to] == kNoVertex) {
          enter(graph, to);
        } else if (of[to] == kNoVertex) {
          low_[node] = std::min(low_[node], number_[to]);
        }
        continue;
      }
      frames_.pop_back();
      if (!frames_.empty()) low_[frames_.back().node] = std::min(low_[frames_.back().node], low_[node]);
      if (low_[node] == number_[node]) close(node);
    }
  }
  void close(Vertex root) {
    const auto set = static_cast<Vertex>(size.size());
    Vertex nodes = 0;
    for (Vertex node = kNoVertex; node != root; ++nodes) {
      node = stack_.back();
      stack_.pop_back();
      of[node] = set;
    }
    size.push_back(nodes);
  }

  std::vector<Vertex> number_;
  std::vector<Vertex> low_;
  std::vector<Vertex> stack_;
  std::vector<Frame> frames_;
  Vertex count_ = 0;
};

// The shortest way within one set.
class Search {
 public:
  Search(const Graph& graph, std::uint64_t steps_max) : graph_(graph), by_(graph.nodes(), nullptr), left_(steps_max) {}

  // From one node to another, not empty unless they are one; nothing: there is none, or given_up().
  [[nodiscard]] std::optional<std::vector<Isolation::Step>> way(Vertex from, Vertex to, const Sets& sets) {
    std::vector<Vertex> queue{from};
    std::optional<std::vector<Isolation::Step>> found;
    for (std::size_t at = 0; at < queue.size() && !found && left_ > 0; ++at) {
      const Vertex node = queue[at];
      if (node == to) found = back(from, to);
      for (std::size_t next = graph_.begin(node); next < graph_.end(node) && left_ > 0; ++next) {
        --left_;
        const Arc& arc = graph_.arc(next);
        if (arc.to == from || by_[arc.to] != nullptr || sets.of[arc.to] != sets.of[from]) continue;
        by_[arc.to] = &arc;
        queue.push_back(arc.to);
      }
    }
    for (const Vertex node : queue) by_[node] = nullptr;
    return found;
  }
  [[nodiscard]] bool given_up() const { return left_ == 0; }

 private:
  [[nodiscard]] std::vector<Isolation::Step> back(Vertex from, Vertex to) const {
    std::vector<Isolation::Step> steps;
    for (Vertex node = to; node != from; node = by_[node]->from) {
      const Arc& arc = *by_[node];
      steps.push_back({arc.from, arc.edge, arc.partition, arc.offset});
    }
    std::ranges::reverse(steps);
    return steps;
  }

  const Graph& graph_;
  std::vector<const Arc*> by_;   // the arc by which each node was reached
  std::uint64_t left_;
};

class Finder {
 public:
  Finder(std::vector<Arc> arcs, Vertex nodes, std::uint64_t steps_max) : arcs_(std::move(arcs)), nodes_(nodes), steps_max_(steps_max) {}

  Isolation::Result find() {
    along(core::Code::kG0, Edge::kWriteWrite);
    along(core::Code::kG1c, Edge::kWriteRead);
    across();
    std::ranges::sort(result_.cycles, {}, [](const Isolation::Cycle& one) {
      return std::pair(one.code, std::ranges::min(one.steps, {}, &Isolation::Step::transaction).transaction);
    });
    return std::move(result_);
  }

 private:
  // Sets that arcs up to that kind connect and that hold one of that kind.
  void along(core::Code code, Edge kind) {
    const Graph graph(arcs_, nodes_, kind);
    const Sets sets(graph);
    Search search(graph, ~std::uint64_t{0});
    std::vector<bool> done(sets.size.size());
    for (const Arc& arc : arcs_) {
      if (arc.edge != kind || !sets.together(arc) || done[sets.of[arc.from]]) continue;
      done[sets.of[arc.from]] = true;
      add(code, arc, *search.way(arc.to, arc.from, sets));
    }
  }

  // Sets that hold an arc from a reader: g-single if the way back needs no other one, else g2.
  void across() {
    const Graph all(arcs_, nodes_, Edge::kReadWrite);
    const Sets sets(all);
    const Graph others(arcs_, nodes_, Edge::kWriteRead);
    Search search(others, steps_max_);
    Search any_way(all, ~std::uint64_t{0});
    enum class Found : std::uint8_t { kNothing, kSeveral, kSingle };
    std::vector<Found> found(sets.size.size());
    std::vector<const Arc*> several(sets.size.size());
    for (const Arc& arc : arcs_) {
      const Vertex set = sets.of[arc.from];
      if (arc.edge != Edge::kReadWrite || !sets.together(arc) || found[set] == Found::kSingle) continue;
      found[set] = Found::kSeveral;
      if (several[set] == nullptr) several[set] = &arc;
      if (search.given_up()) continue;
      if (auto back = search.way(arc.to, arc.from, sets)) {
        found[set] = Found::kSingle;
        add(core::Code::kGSingle, arc, *back);
      }
    }
    for (std::size_t set = 0; set < found.size(); ++set) {
      if (found[set] != Found::kSeveral) continue;
      if (search.given_up()) ++result_.not_decided;
      add(core::Code::kG2, *several[set], *any_way.way(several[set]->to, several[set]->from, sets));
    }
  }

  void add(core::Code code, const Arc& first, const std::vector<Isolation::Step>& back) {
    Isolation::Cycle& cycle = result_.cycles.emplace_back();
    cycle.code = code;
    cycle.steps.push_back({first.from, first.edge, first.partition, first.offset});
    cycle.steps.insert(cycle.steps.end(), back.begin(), back.end());
  }

  std::vector<Arc> arcs_;
  Vertex nodes_;
  std::uint64_t steps_max_;
  Isolation::Result result_;
};

}  // namespace

Isolation::Result Isolation::find(std::vector<Touch> writes, std::vector<Touch> reads, std::uint32_t transactions,
                                  std::uint64_t steps_max) {
  Arcs arcs(std::move(writes), std::move(reads));
  return Finder(arcs.take(), transactions, steps_max).find();
}

}  // namespace sp::check
