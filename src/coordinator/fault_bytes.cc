#include "coordinator/fault_bytes.h"

#include "base/text.h"
#include "codec/document.h"
#include "codec/json_writer.h"

namespace sp::coordinator {

std::string fault_bytes(const FaultMark& mark) {
  codec::JsonWriter json;
  json.begin_object().member("number", mark.fault.number).member("name", mark.fault.name).member("target", mark.fault.target);
  json.member("effect", mark.fault.effect).member("effectSeen", mark.effect).member("end", mark.end).member("begins", mark.begins);
  return json.end_object().take();
}

Result<FaultMark> fault_of_bytes(std::string_view bytes) {
  auto root = codec::parse_document(bytes, {.name = "fault"});
  if (!root) return tl::unexpected(std::move(root).error());
  const auto text = [&](std::string_view name) {
    const codec::Node* const found = root->find(name);
    return found == nullptr ? std::string() : found->text;
  };
  FaultMark mark;
  mark.fault.number = parse_unsigned(text("number")).value_or(0);
  mark.fault.name = text("name");
  mark.fault.target = text("target");
  mark.fault.effect = text("effect");
  mark.effect = text("effectSeen") == "true";
  mark.end = text("end") == "true";
  mark.begins = text("begins") == "true";
  return mark;
}

}  // namespace sp::coordinator
