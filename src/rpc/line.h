// What every line of ours over gRPC has in common, whoever is at its ends: a channel, a server's set-up, an error as a message.
//
//     channel_to(address, credentials)        no proxy, made again within a second or two when it is lost
//     listening_with(credentials), set_up(builder)
//     put(error, message), error_of(message)  codes of errors that are unknown here are kInternal
//
// Limits:   messages of 64 MiB.
// Errors:   none of its own: whether somebody is there shows in the first call.
// Threads:  any.   Source: rpc/credentials.h; proto/worker.proto.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "rpc/credentials.h"

namespace grpc {
class Channel;
class ServerBuilder;
class ServerCredentials;
}  // namespace grpc
namespace streaming_proof::v1 {
class Error;
}  // namespace streaming_proof::v1

namespace sp::rpc {

// The header of a call that carries its token, after the scheme.
inline constexpr const char* kTokenHeader = "authorization";
inline constexpr const char* kTokenScheme = "Bearer ";

// shared: the library keeps it with each stub
[[nodiscard]] std::shared_ptr<grpc::Channel> channel_to(const std::string& address, const ClientCredentials& credentials);

// shared: the library takes them so
[[nodiscard]] std::shared_ptr<grpc::ServerCredentials> listening_with(const ServerCredentials& credentials);
// `name` is that of the server's threads, for the library.
void set_up(grpc::ServerBuilder& builder, const std::string& name, int threads_max);

void put(const Error& error, ::streaming_proof::v1::Error& message);
[[nodiscard]] tl::unexpected<Error> error_of(const ::streaming_proof::v1::Error& message);

}  // namespace sp::rpc
