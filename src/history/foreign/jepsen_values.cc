// What stands in the values of Jepsen operations: mops, keys, offsets.
#include <limits>

#include <fmt/core.h>

#include "base/text.h"
#include "history/foreign/jepsen.h"

namespace sp::history {

namespace {

using EdnValue = codec::EdnNode::Kind;

constexpr std::size_t kJepsenErrorBytesMax = 1000;

}  // namespace

bool JepsenHistory::is_keyword(std::size_t index, std::string_view name) const {
  return node(index).kind == EdnValue::kKeyword && node(index).text == name;
}

// The children of a vector or list.
Result<std::vector<std::size_t>> JepsenHistory::items(std::size_t index, std::string_view what) const {
  const auto& whole = node(index);
  if (whole.kind != EdnValue::kVector && whole.kind != EdnValue::kList) return refuse(index, what);
  std::vector<std::size_t> children;
  for (std::size_t at = index + 1; at < whole.end; at = node(at).end) children.push_back(at);
  return children;
}

Result<std::vector<std::size_t>> JepsenHistory::mops(const Line& line) const {
  if (!line.value) return refuse(0, fmt::format("a :{} has a :value, [[:send key value] [:poll] …]", line.f));
  auto all = items(*line.value, "a :send, :poll or :txn has a vector as its :value, [[:send key value] [:poll] …]");
  if (!all) return all;
  for (const std::size_t mop : *all) {
    const auto& whole = node(mop);
    const bool named = (whole.kind == EdnValue::kVector || whole.kind == EdnValue::kList) && whole.end > mop + 1;
    if (!named || (!is_poll(mop) && !is_keyword(mop + 1, "send"))) return refuse(mop, "[:send key value] or [:poll] is expected here");
  }
  return all;
}

bool JepsenHistory::is_poll(std::size_t mop) const { return is_keyword(mop + 1, "poll"); }

Result<std::uint32_t> JepsenHistory::key(std::size_t index) {
  const auto& what = node(index);
  const bool text = what.kind == EdnValue::kString;
  std::optional<std::uint64_t> number;
  if (what.kind == EdnValue::kInteger && what.number >= 0) number = static_cast<std::uint64_t>(what.number);
  if (text && (what.text == "0" || !what.text.starts_with('0'))) {
    if (const auto digits = parse_unsigned(what.text)) number = *digits;
  }
  if (!number || *number > std::numeric_limits<std::uint32_t>::max()) {
    return refuse(index, "a key is a whole number from 0 and below 2^32, for it stands for a partition");
  }
  if (text_keys_.value_or(text) != text) {
    return refuse(index, "keys are numbers here and texts there: that they are the same is not known");
  }
  text_keys_ = text;
  return static_cast<std::uint32_t>(*number);
}

Result<std::vector<std::uint32_t>> JepsenHistory::keys(std::size_t index) {
  const auto& whole = node(index);
  std::vector<std::uint32_t> all;
  if (whole.kind == EdnValue::kNil) return all;
  if (whole.kind != EdnValue::kVector && whole.kind != EdnValue::kList && whole.kind != EdnValue::kSet) {
    return refuse(index, "a list of keys is expected here");
  }
  for (std::size_t at = index + 1; at < whole.end; at = node(at).end) {
    const auto one = key(at);
    if (!one) return tl::unexpected(one.error());
    all.push_back(*one);
  }
  return all;
}

Result<std::uint64_t> JepsenHistory::value(std::size_t index) const {
  const auto& what = node(index);
  if (what.kind != EdnValue::kInteger || what.number < 1) {
    return refuse(index, "the values of a key are whole numbers from 1: another value cannot be told from its neighbours");
  }
  return static_cast<std::uint64_t>(what.number);
}

Result<std::optional<std::uint64_t>> JepsenHistory::offset(std::size_t index) const {
  const auto& what = node(index);
  if (what.kind == EdnValue::kNil) return std::optional<std::uint64_t>();
  if (what.kind != EdnValue::kInteger || what.number < 0) return refuse(index, "an offset is a whole number from 0, or nil");
  return std::optional<std::uint64_t>(static_cast<std::uint64_t>(what.number));
}

// [:send key value] or, once it is done, [:send key [offset value]].
Result<JepsenHistory::Sent> JepsenHistory::sent(std::size_t mop) {
  const auto parts = items(mop, "");
  if (!parts) return tl::unexpected(parts.error());
  if (parts->size() != 3) return refuse(mop, "a send is [:send key value] or [:send key [offset value]]");
  Sent sent;
  const auto of = key((*parts)[1]);
  if (!of) return tl::unexpected(of.error());
  sent.record.key = *of;
  std::size_t number = (*parts)[2];
  if (node(number).kind == EdnValue::kVector || node(number).kind == EdnValue::kList) {
    const auto pair = items(number, "");
    if (!pair) return tl::unexpected(pair.error());
    if (pair->size() != 2) return refuse(number, "what became of a send is [offset value]");
    const auto place = offset((*pair)[0]);
    if (!place) return tl::unexpected(place.error());
    sent.offset = *place;
    number = (*pair)[1];
  }
  const auto read = value(number);
  if (!read) return tl::unexpected(read.error());
  sent.record.value = *read;
  return sent;
}

std::string JepsenHistory::error_text(const Line& line) const {
  return line.error ? printable(reader_->text(node(*line.error)), kJepsenErrorBytesMax) : std::string();
}

}  // namespace sp::history
