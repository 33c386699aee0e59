// Operations made one member after the other, for whoever translates what others wrote.
//
//     told.begin(Function::kPublish, Type::kOk, "producer-1", 73).key("k3").value(17).position(2, 41).write()
//
// Shape:    begin(), members in any order, write(); the index counts up from 0.
// Cost:     100 ns an operation, beside what the sink does.   Limits: Names.
// Errors:   write(): kFull when a name found no place; those of the sink.
// Threads:  one owner.   Source: docs/formats/history.md, "Operations".
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "history/schema.h"

namespace sp::history {

class Told {
 public:
  using Sink = std::function<Result<void>(const Operation&)>;
  // `vocabulary` outlives this.
  Told(Vocabulary& vocabulary, Sink sink) : vocabulary_(vocabulary), sink_(std::move(sink)) {}

  Told& begin(Function function, Type type, std::string_view process, std::optional<std::int64_t> time_ns);
  Told& name(std::string_view name);              // of a fault
  Told& topic(std::string_view topic);
  Told& key(std::string_view key);
  Told& value(std::uint64_t value);
  Told& position(std::uint32_t partition, std::uint64_t offset);
  Told& bad_checksum();
  Told& run(std::string_view run);
  Told& txn(std::string_view txn);
  Told& start(std::string_view start);
  Told& group(std::string_view group);
  Told& partitions(std::vector<std::uint32_t> partitions);
  Told& closed();
  Told& lost();
  Told& reason(std::string_view reason);
  Told& error(std::string_view error);            // "": none
  Told& detail(std::string_view json);
  [[nodiscard]] Result<void> write();

  [[nodiscard]] std::uint64_t written() const { return written_; }

 private:
  Told& named(Member member, std::uint32_t& into, std::string_view text);
  Told& text(Member member, std::string& into, std::string_view text);
  Told& truth(Member member);

  Vocabulary& vocabulary_;
  Sink sink_;
  Operation operation_;
  Details details_;
  std::uint64_t written_ = 0;
  bool full_ = false;
};

}  // namespace sp::history
