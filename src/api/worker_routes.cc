#include <utility>

#include "api/access.h"
#include "api/answers.h"
#include "api/worker_view.h"

namespace sp::api {
namespace {

// Read, checked and handed on: the answer of a start.
template <typename T, typename Read, typename Start>
http::Response started(const http::Request& request, Read read, Start start) {
  const auto body = read_body(request);
  if (!body) return refusal_answer(body.error());
  const Reading<T> reading = read(*body);
  if (!reading.faults.empty()) return faults_answer(reading.faults);
  const Result<void> begun = start(reading.value);
  return begun ? empty_answer() : error_answer(begun.error());
}

http::Response stopped(const Result<void>& result) { return result ? empty_answer() : error_answer(result.error()); }

http::Response consumed(WorkerView& view, const http::Request& request) {
  codec::Node body;
  if (!request.body.empty()) {
    auto read = read_body(request);
    if (!read) return refusal_answer(read.error());
    body = *std::move(read);
  }
  const auto reading = read_watermarks(body);
  if (!reading.faults.empty()) return faults_answer(reading.faults);
  return json_answer(checkpoint_json(view.consumer_checkpoint(request.parameter("id"), reading.value)));
}

}  // namespace

void add_worker_routes(http::Routes& routes, WorkerView& view, const Tokens& tokens) {
  const auto add = [&](const char* method, const char* pattern, Role role, http::Handler handler) {
    routes.add({method, pattern,
                [tokens, role, handler = std::move(handler)](const http::Request& request) {
                  if (auto refusal = refused(tokens, request, role)) return *std::move(refusal);
                  return handler(request);
                },
                http::Lane::kWaiting});
  };
  WorkerView* const of = &view;
  add("POST", "/producers/start", Role::kWrite, [of](const http::Request& request) {
    return started<NewProducers>(request, read_new_producers, [of](const auto& value) { return of->start_producers(value); });
  });
  add("POST", "/producers/stop/{id}", Role::kWrite,
      [of](const http::Request& request) { return stopped(of->stop_producers(request.parameter("id"))); });
  add("GET", "/producers/checkpoints/{id}", Role::kRead, [of](const http::Request& request) {
    return json_answer(checkpoint_json(of->producer_checkpoint(request.parameter("id"))));
  });
  add("POST", "/consumers/start", Role::kWrite, [of](const http::Request& request) {
    return started<NewConsumers>(request, read_new_consumers, [of](const auto& value) { return of->start_consumers(value); });
  });
  add("POST", "/consumers/stop/{id}", Role::kWrite,
      [of](const http::Request& request) { return stopped(of->stop_consumers(request.parameter("id"))); });
  add("POST", "/consumers/checkpoints/{id}", Role::kWrite, [of](const http::Request& request) { return consumed(*of, request); });
  add("GET", "/consumers/checkpoints/{id}/details", Role::kRead, [of](const http::Request& request) {
    return json_answer(consumer_details_json(of->consumer_details(request.parameter("id"))));
  });
  add("GET", "/metrics/{id}", Role::kRead, [of](const http::Request& request) {
    return json_answer(group_metrics_json(of->metrics(request.parameter("id"), false)));
  });
  add("GET", "/metrics/{id}/windowed", Role::kRead, [of](const http::Request& request) {
    return json_answer(group_metrics_json(of->metrics(request.parameter("id"), true)));
  });
}

}  // namespace sp::api
