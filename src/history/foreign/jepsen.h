// A history of Jepsen's Kafka workload, operation by operation: history.edn of jepsen.tests.kafka and of what is derived from it.
//
//     {:process 3 :type :invoke :f :send :value [[:send 5 2]]}          producer-3  publish invoke  key 5  value 1
//     {:process 3 :type :ok     :f :send :value [[:send 5 [41 2]]]}     producer-3  publish ok      key 5  value 1  partition 5 offset 41
//     {:process 4 :type :ok     :f :poll :value [[:poll {5 [[41 2]]}]]} consumer-4  deliver ok      key 5  value 1  partition 5 offset 41
//
// A Jepsen key is a topic-partition: ours is named by its number, which is the partition too. Values of a key count from 1, ours from 0.
// A Jepsen process is a producer and a consumer; all consumers are one group. What :txn operations hold is one transaction each.
//
// Shape:    every operation is one map of the file, in the order of time; see docs/howto/foreign-histories.md for all of them.
// Cost:     some 10 µs an operation, for it is read twice. Memory grows with open operations and processes that live.
// Limits:   those of codec/edn.h and of Names.
// Errors:   kParse: what is no operation of this workload, by file, line and column. kInvalid: other than one file.
// Threads:  one owner.   Source: github.com/jepsen-io/jepsen, jepsen/src/jepsen/tests/kafka.clj, 0f32519b01fe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codec/edn.h"
#include "history/foreign/foreign.h"
#include "history/foreign/notes.h"

namespace sp::history {

class JepsenHistory final : public Foreign {
 public:
  JepsenHistory(std::vector<ForeignInput> inputs, const ForeignOptions& options)
      : inputs_(std::move(inputs)), options_(options) {}
  [[nodiscard]] Result<Meta> survey() override;
  [[nodiscard]] Result<void> tell(Told& told) override;
  [[nodiscard]] std::vector<std::string> notes() const override { return notes_.sentences(); }

 private:
  using Nodes = std::span<const codec::EdnNode>;
  // One map of the file; views and indices are of the form that the reader holds.
  struct Line {
    Type type = Type::kInvoke;
    std::string_view f;
    bool nemesis = false;
    std::int64_t process = 0;
    std::optional<std::int64_t> time_ns;
    std::optional<std::size_t> value, error, rebalances;
    bool seeks = false;
    bool ends_process = false;
  };
  struct Record {
    std::uint32_t key = 0;
    std::uint64_t value = 0;          // as Jepsen counts, from 1
    bool operator==(const Record&) const = default;
  };
  // One [:send …] of a completion.
  struct Sent {
    Record record;
    std::optional<std::uint64_t> offset;
  };
  struct Open {
    std::string f;
    std::vector<Record> sends;
    std::string txn;                  // "": none
  };
  struct Consumer {
    bool subscribed = false;
    std::set<std::uint32_t> held;     // partitions whose lineage is open
  };

  Result<void> run(Told& told);
  [[nodiscard]] Result<Line> read_line();
  Result<void> read_member(Line& line, std::string_view name, std::size_t value);
  Result<void> read_process(Line& line, std::size_t value);
  Result<void> nemesis(const Line& line, Told& told);
  Result<void> invoke(const Line& line, Told& told);
  Result<void> complete(const Line& line, Told& told);
  Result<void> complete_mops(const Line& line, const Open& open, Told& told);
  Result<void> publish_outcome(const Line& line, const Open& open, const Sent& sent, Told& told);
  Result<void> commit_outcome(const Line& line, const Open& open, Told& told);
  Result<void> deliver(const Line& line, const Open& open, std::size_t poll, Told& told);
  Result<void> deliver_pair(const Line& line, const Open& open, std::uint32_t key, std::size_t pair, Told& told);
  Result<void> subscribe(const Line& line, Told& told);
  Result<void> assign(const Line& line, Told& told);
  Result<void> open_consumer(const Line& line, std::string_view start, Told& told);
  Result<void> rebalance(const Line& line, Told& told);
  Result<void> rebalance_event(const Line& line, std::size_t event, Told& told);
  Result<void> retire(const Line& line, Told& told);
  Result<void> lineages(const Line& line, Function function, const std::vector<std::uint32_t>& partitions, Told& told);
  Result<void> close_all(Told& told);

  // Of the form at hand.
  [[nodiscard]] const codec::EdnNode& node(std::size_t index) const { return nodes_[index]; }
  [[nodiscard]] tl::unexpected<Error> refuse(std::size_t at, std::string_view says) const;
  [[nodiscard]] Result<std::vector<std::size_t>> items(std::size_t index, std::string_view what) const;
  [[nodiscard]] Result<std::vector<std::size_t>> mops(const Line& line) const;
  [[nodiscard]] bool is_keyword(std::size_t index, std::string_view name) const;
  [[nodiscard]] bool is_poll(std::size_t mop) const;
  [[nodiscard]] Result<std::uint32_t> key(std::size_t index);
  [[nodiscard]] Result<std::vector<std::uint32_t>> keys(std::size_t index);
  [[nodiscard]] Result<std::uint64_t> value(std::size_t index) const;
  [[nodiscard]] Result<std::optional<std::uint64_t>> offset(std::size_t index) const;
  [[nodiscard]] Result<Sent> sent(std::size_t mop);
  [[nodiscard]] std::string error_text(const Line& line) const;

  std::vector<ForeignInput> inputs_;
  ForeignOptions options_;
  bool subscribes_ = false;                 // found by survey()
  Notes notes_;
  std::optional<codec::EdnReader> reader_;
  Nodes nodes_;
  std::map<std::int64_t, Open> open_;
  std::map<std::int64_t, Consumer> consumers_;
  std::string nemesis_open_;                // the fault whose completion is next; "": none
  std::optional<bool> text_keys_;
  std::optional<std::int64_t> last_time_;
  std::uint64_t transactions_ = 0;
};

}  // namespace sp::history
