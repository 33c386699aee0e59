#include "rpc/broker/detail/line.h"

#include <fmt/core.h>
#include <grpc/support/time.h>

#include "base/text.h"
#include "rpc/line.h"

namespace sp::rpc::broker::detail {

Line::Line(const RemoteBroker& options)
    : options_(options), stub_(v1::Broker::NewStub(channel_to(options.address, options.credentials))) {}

void Line::prepare(grpc::ClientContext& context, Nanoseconds deadline) const {
  context.set_deadline(gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_nanos(deadline.count(), GPR_TIMESPAN)));
  const std::string& token = options_.credentials.token;
  if (!token.empty()) context.AddMetadata(kTokenHeader, kTokenScheme + token);
}

Error Line::error_of_status(const grpc::Status& status, Nanoseconds deadline) const {
  const std::string says = printable(status.error_message());
  const grpc::StatusCode code = status.error_code();
  if (code == grpc::StatusCode::UNAUTHENTICATED || code == grpc::StatusCode::PERMISSION_DENIED) {
    return {ErrorCode::kDenied, fmt::format("{} refuses the call: {}; give the worker the broker's token", where(), says)};
  }
  if (code == grpc::StatusCode::UNIMPLEMENTED) {
    return {ErrorCode::kUnsupported, fmt::format("{} does not know this call: let it be of the worker's release", where())};
  }
  if (code == grpc::StatusCode::DEADLINE_EXCEEDED) {
    return {ErrorCode::kUnavailable, fmt::format("{} did not answer within {}", where(), human_duration(deadline))};
  }
  return {ErrorCode::kUnavailable, fmt::format("{} cannot be reached: {}; is streaming-proof broker running there?", where(), says)};
}

}  // namespace sp::rpc::broker::detail
