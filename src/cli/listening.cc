#include "cli/listening.h"

#include <fmt/core.h>

#include "base/text.h"
#include "sys/files.h"
#include "sys/sockets.h"

namespace sp::cli {
namespace {

constexpr std::size_t kFlagFileBytesMax = std::size_t{1} << 20U;
constexpr std::uint64_t kPortMax = 65'535;

}  // namespace

void ListenFlags::add_to(FlagReader& reader, std::string_view what, std::string_view port_help) {
  reader.group("Where it listens, and to whom");
  reader.number("-p,--port", port, {0, kPortMax}, port_help);
  reader.text("--listen", listen,
              fmt::format("address to listen on; beyond this machine {} needs a certificate and tokens (default: 127.0.0.1)", what));
  reader.text("--tls-certificate", tls_certificate, "PEM file: certificate to show, its chain behind it");
  reader.text("--tls-key", tls_key, "PEM file: key of the certificate");
  reader.text("--tls-client-ca", tls_client_ca, "PEM file: only clients with a certificate of these authorities may come");
  reader.text("--token-file", token_file, "file of tokens, a line each: read|write SECRET [NAME]");
  reader.yes("--insecure", insecure, "listen beyond this machine without certificate or tokens");
}

Result<std::string> read_flag_file(const std::string& file, std::string_view flag) {
  if (file.empty()) return std::string();
  auto text = sys::read_file(file, kFlagFileBytesMax);
  if (!text) return fail_up(std::move(text), flag);
  return text;
}

Result<Listening> read_listening(const ListenFlags& flags, std::uint16_t usual_port) {
  Listening listening;
  listening.address = flags.listen;
  listening.port = static_cast<std::uint16_t>(flags.port.value_or(usual_port));
  if (flags.tls_certificate.empty() != flags.tls_key.empty()) {
    return fail(ErrorCode::kInvalid, "--tls-certificate and --tls-key belong together; give both");
  }
  if (!flags.tls_client_ca.empty() && flags.tls_certificate.empty()) {
    return fail(ErrorCode::kInvalid, "--tls-client-ca needs --tls-certificate and --tls-key");
  }
  auto tokens = read_flag_file(flags.token_file, "--token-file");
  if (!tokens) return tl::unexpected(std::move(tokens).error());
  listening.tokens = std::move(*tokens);
  if (!flags.tls_certificate.empty()) {
    http::TlsMaterial tls;
    for (const auto& [file, flag, into] : {std::tuple(&flags.tls_certificate, "--tls-certificate", &tls.certificate),
                                           {&flags.tls_key, "--tls-key", &tls.key},
                                           {&flags.tls_client_ca, "--tls-client-ca", &tls.ca}}) {
      auto text = read_flag_file(*file, flag);
      if (!text) return tl::unexpected(std::move(text).error());
      *into = std::move(*text);
    }
    listening.tls = std::move(tls);
  }
  const bool secure = listening.tls && (!listening.tokens.empty() || !listening.tls->ca.empty());
  if (!sys::is_loopback(listening.address) && !secure && !flags.insecure) {
    return fail(ErrorCode::kInvalid,
                fmt::format("--listen {}: others than this machine could come; give --tls-certificate, --tls-key and --token-file "
                            "(or --tls-client-ca), or say --insecure",
                            listening.address));
  }
  return listening;
}

std::string token_to_send(std::string_view tokens) {
  std::string first;
  for (const std::string_view line : split(tokens, {.separator = '\n'})) {
    const auto words = split(trim(line), {.separator = ' '});
    if (words.size() < 2 || words[0].starts_with('#')) continue;
    if (words[0] == "write") return std::string(words[1]);
    if (first.empty()) first = words[1];
  }
  return first;
}

}  // namespace sp::cli
