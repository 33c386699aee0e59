// One call to a broker, with its deadline and its errors.
//
//     call(&Stub::Method, request) ─► the answer, or why there is none
//
// Errors:   kUnavailable: not reached, or no answer in time; kDenied; kUnsupported; what an answer says is not looked at.
// Threads:  any.   Source: proto/broker.proto.
#pragma once

#include <memory>
#include <string>

#include <grpcpp/grpcpp.h>
#include <proto/broker.grpc.pb.h>

#include "base/clock.h"
#include "base/result.h"
#include "rpc/broker/remote_driver.h"

namespace sp::rpc::broker::detail {

namespace v1 = ::streaming_proof::v1;

class Line {
 public:
  explicit Line(const RemoteBroker& options);

  // `wait` is what the broker may take beyond the usual deadline.
  template <typename Request, typename Answer>
  [[nodiscard]] Result<Answer> call(grpc::Status (v1::Broker::Stub::*method)(grpc::ClientContext*, const Request&, Answer*),
                                    const Request& request, Nanoseconds wait = Nanoseconds{0}) const {
    grpc::ClientContext context;
    const Nanoseconds deadline = options_.call_deadline + wait;
    prepare(context, deadline);
    Result<Answer> answer{Answer{}};
    const grpc::Status status = ((*stub_).*method)(&context, request, &*answer);
    if (!status.ok()) return tl::unexpected(error_of_status(status, deadline));
    return answer;
  }
  [[nodiscard]] const RemoteBroker& options() const { return options_; }
  // "broker at host:port".
  [[nodiscard]] std::string where() const { return "broker at " + options_.address; }

 private:
  void prepare(grpc::ClientContext& context, Nanoseconds deadline) const;
  [[nodiscard]] Error error_of_status(const grpc::Status& status, Nanoseconds deadline) const;

  const RemoteBroker options_;
  std::unique_ptr<v1::Broker::Stub> stub_;
};

}  // namespace sp::rpc::broker::detail
