#include "api/handlers.h"

#include <memory>
#include <utility>

#include <fmt/core.h>

#include "api/answers.h"
#include "api/views.h"
#include "base/text.h"

namespace sp::api {
namespace {

using coordinator::Service;
using http::Request;
using http::Response;

constexpr std::size_t kPageUsual = 100;
constexpr std::size_t kFaultTextMax = 1'000;

// The answer of the reference where there is no such proof; `error` where something else is wrong with the request.
Response proof_error(const Service& service, const Request& request, const Error& error) {
  if (error.code == ErrorCode::kNotFound && !service.find(request.parameter("id")))
    return text_answer("Proof test not found: " + printable(request.parameter("id")), 404);
  return error_answer(error);
}

// The value shown, or why there is none.
template <typename T, typename View>
Response shown(const Service& service, const Request& request, const Result<T>& value, View view) {
  if (!value) return proof_error(service, request, value.error());
  return json_answer(view(*value));
}

Response done(const coordinator::Answer<void>& answer) {
  return answer ? empty_answer() : refusal_answer(answer.error());
}

struct FaultMark {
  core::FaultRecord fault;
  bool end = false;
  std::vector<proof::Fault> faults;
};

void read_member(const codec::Member& member, FaultMark& into) {
  const auto wrong = [&](std::string message, std::string remedy) {
    into.faults.push_back({ErrorCode::kInvalid, codec::place_text("body", member.place), std::move(message), std::move(remedy)});
  };
  const codec::Node& value = member.value;
  const bool is_text = value.kind == codec::Node::Kind::kScalar && value.text.size() <= kFaultTextMax;
  const std::string shown_name = printable(member.name, 60);
  if (value.kind == codec::Node::Kind::kNothing) return;
  if (!is_text) return wrong(fmt::format("'{}' is no text of at most {} bytes", shown_name, kFaultTextMax), "write one");
  if (member.name == fault_members::kName) {
    into.fault.name = value.text;
  } else if (member.name == fault_members::kTarget) {
    into.fault.target = value.text;
  } else if (member.name == fault_members::kEffect) {
    into.fault.effect = value.text;
  } else if (member.name == fault_members::kNumber) {
    const auto number = parse_unsigned(value.text);
    if (!number || *number == 0)
      return wrong(fmt::format("'{}' is no number of a fault", shown_name), "write the one that its begin was given");
    into.fault.number = *number;
  } else if (member.name == fault_members::kEnd) {
    const auto yes = parse_bool(value.text);
    if (!yes) return wrong(fmt::format("'{}' is neither true nor false", shown_name), "write true or false");
    into.end = *yes;
  } else {
    wrong(fmt::format("unknown field '{}'", shown_name), "there are number, name, target, effect and end");
  }
}

FaultMark read_mark(const codec::Node& body) {
  FaultMark mark;
  if (body.kind != codec::Node::Kind::kMap) {
    mark.faults.push_back({ErrorCode::kInvalid, codec::place_text("body", body.place), "a mark of a fault is a JSON object",
                           R"(write {"name": "kill-broker", "target": "node 2"})"});
    return mark;
  }
  for (const codec::Member& member : body.members) read_member(member, mark);
  if (mark.faults.empty() && mark.fault.number == 0 && mark.fault.name.empty()) {
    mark.faults.push_back({ErrorCode::kInvalid, codec::place_text("body", body.place), "neither 'number' nor 'name' is there",
                           "a name begins a fault; a number adds to the one that has it"});
  }
  return mark;
}

// What happens to one proof, from a number on.
class ProofEvents final : public http::EventSource {
 public:
  ProofEvents(const Service& service, std::string id, std::uint64_t after) : service_(service), id_(std::move(id)), after_(after) {}

  Pulled pull(std::size_t most) override {
    auto found = service_.events(id_, after_, most, Nanoseconds::zero());
    if (!found) return {.events = {}, .over = true};  // it was deleted
    Pulled pulled;
    for (coordinator::Event& event : found->events) {
      after_ = event.number;
      pulled.events.push_back({std::to_string(event.number), std::move(event.type), std::move(event.json)});
    }
    pulled.over = found->over && pulled.events.empty();
    return pulled;
  }

 private:
  const Service& service_;  // outlives the server, and so its streams
  std::string id_;
  std::uint64_t after_;
};

}  // namespace

Response Handlers::create(const Request& request) const {
  QueryReader query(request);
  const bool wait = query.boolean("wait").value_or(true);
  const auto body = read_body(request);
  if (!body || !query.faults().empty()) {
    std::vector<proof::Fault> faults = query.faults();
    if (!body) faults.insert(faults.end(), body.error().faults.begin(), body.error().faults.end());
    return faults_answer(faults);
  }
  const auto head = service_.create(*body, wait);
  if (!head) return refusal_answer(head.error());
  return json_answer(proof_json(*head));
}

Response Handlers::list(const Request& /*request*/) const { return json_answer(proofs_json(service_.list())); }

Response Handlers::show(const Request& request) const {
  return shown(service_, request, service_.details(request.parameter("id"), true),
               [](const auto& found) { return details_json(found, DetailsView::kSummary); });
}

Response Handlers::details(const Request& request) const {
  return shown(service_, request, service_.details(request.parameter("id"), true),
               [](const auto& found) { return details_json(found, DetailsView::kAll); });
}

Response Handlers::report(const Request& request) const {
  return shown(service_, request, service_.report(request.parameter("id")), report_json);
}

Response Handlers::result(const Request& request) const {
  const auto found = service_.result(request.parameter("id"));
  if (found) return json_answer(*found);
  Response response = proof_error(service_, request, found.error());
  if (found.error().code == ErrorCode::kUnavailable) response.status = 409;  // nothing is broken: it is not over yet
  return response;
}

Response Handlers::stop(const Request& request) const {
  QueryReader query(request);
  const bool wait = query.boolean("wait").value_or(true);
  if (!query.faults().empty()) return faults_answer(query.faults());
  const auto stopped = service_.stop(request.parameter("id"), wait);
  return stopped ? empty_answer() : proof_error(service_, request, stopped.error());
}

Response Handlers::remove(const Request& request) const {
  const auto removed = service_.remove(request.parameter("id"));
  return removed ? empty_answer() : proof_error(service_, request, removed.error());
}

Response Handlers::put_configs(const Request& request) const {
  const auto body = read_body(request);
  return body ? done(service_.put_configs(*body)) : refusal_answer(body.error());
}

Response Handlers::delete_configs(const Request& request) const {
  const auto body = read_body(request);
  return body ? done(service_.delete_configs(*body)) : refusal_answer(body.error());
}

Response Handlers::configs(const Request& /*request*/) const {
  const auto found = service_.configs();
  return found ? json_answer(coordinator::configs_json(*found)) : text_answer("No configuration found", 404);
}

Response Handlers::to_ui(const Request& /*request*/) const {
  Response response;
  response.status = 302;
  response.headers["Location"] = "/ui/index.html";
  return response;
}

Response Handlers::ui(const Request& request) const {
  const auto found = options_.assets ? options_.assets(request.parameter("path")) : std::nullopt;
  if (!found) return error_answer({ErrorCode::kNotFound, "the user interface has no such file"});
  Response response;
  response.content_type = found->content_type;
  response.body = found->content;
  return response;
}

Response Handlers::violations(const Request& request) const {
  QueryReader query(request);
  coordinator::ViolationQuery asked;
  asked.code = query.code("code");
  asked.key = query.text("key");
  asked.since = query.duration("since");
  asked.until = query.duration("until");
  asked.after = query.integer("after", {}).value_or(0);
  asked.most = query.integer("limit", {.first = 1, .last = kViolationsMax}).value_or(kPageUsual);
  if (!query.faults().empty()) return faults_answer(query.faults());
  return shown(service_, request, service_.violations(request.parameter("id"), asked), violations_json);
}

Response Handlers::key(const Request& request) const {
  return shown(service_, request, service_.key(request.parameter("id"), request.parameter("key")), key_json);
}

Response Handlers::coverage(const Request& request) const {
  return shown(service_, request, service_.coverage(request.parameter("id")), coverage_json);
}

Response Handlers::faults(const Request& request) const {
  return shown(service_, request, service_.faults(request.parameter("id")), faults_json);
}

Response Handlers::mark_fault(const Request& request) const {
  const auto body = read_body(request);
  if (!body) return refusal_answer(body.error());
  const FaultMark mark = read_mark(*body);
  if (!mark.faults.empty()) return faults_answer(mark.faults);
  return shown(service_, request,
               service_.mark_fault(request.parameter("id"), mark.fault, !mark.fault.effect.empty(), mark.end), fault_json);
}

Response Handlers::events(const Request& request) const {
  QueryReader query(request);
  std::uint64_t after = query.integer("after", {}).value_or(0);
  std::vector<proof::Fault> faults = query.faults();
  if (const std::string_view last = request.header("last-event-id"); !last.empty()) {
    const auto number = parse_unsigned(last);
    if (number) {
      after = *number;
    } else {
      faults.push_back({ErrorCode::kInvalid, "header Last-Event-ID", fmt::format("'{}' is no number of an event", printable(last, 60)),
                        "send the id of the last event that came, or none"});
    }
  }
  if (!faults.empty()) return faults_answer(faults);
  const std::string id(request.parameter("id"));
  if (const auto head = service_.find(id); !head) return proof_error(service_, request, head.error());
  Response response;
  response.headers["Cache-Control"] = "no-store";
  response.stream = std::make_unique<ProofEvents>(service_, id, after);
  return response;
}

Response Handlers::diagnostics(const Request& request) const {
  return shown(service_, request, service_.diagnostics(request.parameter("id")), diagnostics_json);
}

Response Handlers::healthz(const Request& /*request*/) const { return text_answer("ok"); }

Response Handlers::readyz(const Request& /*request*/) const {
  const std::string why = service_.not_ready();
  return json_answer(ready_json(why), why.empty() ? 200 : 503);
}

Response Handlers::version(const Request& /*request*/) const { return json_answer(version_json(options_.name, options_.version)); }

Response Handlers::metrics(const Request& /*request*/) const {
  Response response = text_answer(options_.metrics ? options_.metrics() : std::string());
  response.content_type = "text/plain; version=0.0.4; charset=utf-8";
  return response;
}

Response Handlers::openapi(const Request& /*request*/) const {
  return json_answer(openapi_json({.version = options_.version, .tokens = !options_.tokens.empty()}));
}

}  // namespace sp::api
