// The flags by which `coordinator` and `worker` are told where to listen and who may come, and what follows from them.
//
//     beyond loopback:   a certificate and tokens, or --insecure
//
// Errors:   what contradicts itself or cannot be read, with the flag and the remedy.
// Threads:  one.   Source: docs/howto/secure.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "cli/flag_reader.h"
#include "http/tls.h"

namespace sp::cli {

struct ListenFlags {
  std::string listen = "127.0.0.1";
  std::optional<std::uint64_t> port;
  std::string tls_certificate, tls_key, tls_client_ca;  // files
  std::string token_file;
  bool insecure = false;
  void add_to(FlagReader& reader, std::string_view what, std::string_view port_help);
};

struct Listening {
  std::string address;
  std::uint16_t port = 0;
  std::optional<http::TlsMaterial> tls;
  std::string tokens;  // the file's text
};
[[nodiscard]] Result<Listening> read_listening(const ListenFlags& flags, std::uint16_t usual_port);

// The text of a small file that a flag names; "" for "".
[[nodiscard]] Result<std::string> read_flag_file(const std::string& file, std::string_view flag);
// The first token of a file of tokens that may write, else its first; "" if there is none.
[[nodiscard]] std::string token_to_send(std::string_view tokens);

}  // namespace sp::cli
