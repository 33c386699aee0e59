#include "rpc/line.h"

#include <grpcpp/grpcpp.h>
#include <grpcpp/resource_quota.h>
#include <proto/worker.pb.h>

#include "rpc/detail/wire.h"

namespace sp::rpc {

namespace v1 = ::streaming_proof::v1;

namespace {

constexpr int kConnectWaitMs = 2'000;
constexpr int kReconnectFirstMs = 100;
constexpr int kReconnectMs = 1'000;  // without it the library waits up to two minutes for a server that comes back

v1::ErrorCode wire_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::kParse: return v1::ERROR_CODE_PARSE;
    case ErrorCode::kInvalid: return v1::ERROR_CODE_INVALID;
    case ErrorCode::kNotFound: return v1::ERROR_CODE_NOT_FOUND;
    case ErrorCode::kExists: return v1::ERROR_CODE_EXISTS;
    case ErrorCode::kUnsupported: return v1::ERROR_CODE_UNSUPPORTED;
    case ErrorCode::kUnavailable: return v1::ERROR_CODE_UNAVAILABLE;
    case ErrorCode::kDenied: return v1::ERROR_CODE_DENIED;
    case ErrorCode::kIo: return v1::ERROR_CODE_IO;
    case ErrorCode::kMissingTool: return v1::ERROR_CODE_MISSING_TOOL;
    case ErrorCode::kFull: return v1::ERROR_CODE_FULL;
    case ErrorCode::kTimeout: return v1::ERROR_CODE_TIMEOUT;
    case ErrorCode::kInternal: return v1::ERROR_CODE_INTERNAL;
  }
  return v1::ERROR_CODE_INTERNAL;
}

// The other way round, by the table of all codes: a code of a later release is kInternal here.
ErrorCode code_of(v1::ErrorCode code) {
  const auto [rows, count] = error_rows();
  for (std::size_t i = 0; i < count; ++i) {
    if (wire_code(rows[i].code) == code) return rows[i].code;
  }
  return ErrorCode::kInternal;
}

}  // namespace

std::shared_ptr<grpc::Channel> channel_to(const std::string& address, const ClientCredentials& credentials) {  // shared: see line.h
  detail::be_quiet();
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(detail::kMessageBytesMax);
  arguments.SetMaxSendMessageSize(detail::kMessageBytesMax);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kReconnectFirstMs);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kConnectWaitMs);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kReconnectMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, detail::kAliveAskedMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, detail::kAliveWaitMs);
  if (credentials.ca.empty()) return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
  if (!credentials.server_name.empty()) arguments.SetSslTargetNameOverride(credentials.server_name);
  const grpc::SslCredentialsOptions tls{credentials.ca, credentials.key, credentials.certificate};
  return grpc::CreateCustomChannel(address, grpc::SslCredentials(tls), arguments);
}

std::shared_ptr<grpc::ServerCredentials> listening_with(const ServerCredentials& credentials) {  // shared: see line.h
  if (credentials.certificate.empty()) return grpc::InsecureServerCredentials();
  grpc::SslServerCredentialsOptions options(credentials.ca.empty() ? GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE
                                                                   : GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  options.pem_root_certs = credentials.ca;
  options.pem_key_cert_pairs.push_back({credentials.key, credentials.certificate});
  return grpc::SslServerCredentials(options);
}

void set_up(grpc::ServerBuilder& builder, const std::string& name, int threads_max) {
  detail::be_quiet();
  builder.SetMaxReceiveMessageSize(detail::kMessageBytesMax);
  builder.SetMaxSendMessageSize(detail::kMessageBytesMax);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);  // two servers on one port would share its callers
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, detail::kAliveAskedMs / 2);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.SetSyncServerOption(grpc::ServerBuilder::NUM_CQS, 1);
  grpc::ResourceQuota threads(name);
  threads.SetMaxThreads(threads_max);
  builder.SetResourceQuota(threads);
}

void put(const Error& error, v1::Error& message) {
  message.set_code(wire_code(error.code));
  message.set_message(error.message);
}

tl::unexpected<Error> error_of(const v1::Error& message) { return fail(code_of(message.code()), message.message()); }

}  // namespace sp::rpc
