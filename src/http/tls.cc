#include "http/tls.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <climits>
#include <utility>

#include <fmt/core.h>

namespace sp::http {
namespace openssl {  // not anonymous: members of sessions have these types

template <auto Free>
struct Freed {
  template <typename T>
  void operator()(T* what) const {
    Free(what);
  }
};
using Context = std::unique_ptr<SSL_CTX, Freed<SSL_CTX_free>>;
using Session = std::unique_ptr<SSL, Freed<SSL_free>>;
using Memory = std::unique_ptr<BIO, Freed<BIO_free_all>>;
using Certificate = std::unique_ptr<X509, Freed<X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;

}  // namespace openssl
namespace {

using openssl::Certificate;
using openssl::Context;
using openssl::Key;
using openssl::Memory;
using openssl::Session;

// What OpenSSL said first; its queue is empty afterwards.
std::string said() {
  const unsigned long number = ERR_get_error();
  ERR_clear_error();
  if (number == 0) return "no reason given";
  const char* reason = ERR_reason_error_string(number);
  return reason == nullptr ? fmt::format("error {:x}", number) : std::string(reason);
}

tl::unexpected<Error> bad_pem(std::string_view what) {
  return fail(ErrorCode::kInvalid, fmt::format("{} cannot be used: {}; give it as PEM", what, said()));
}

Memory memory_of(std::string_view text) {
  return Memory(BIO_new_mem_buf(text.data(), static_cast<int>(std::min<std::size_t>(text.size(), INT_MAX))));
}

// A key with a password would make OpenSSL ask at the terminal.
int no_password(char* /*buffer*/, int /*size*/, int /*writing*/, void* /*data*/) { return -1; }

Result<void> use_certificate(SSL_CTX* context, std::string_view text) {
  const Memory memory = memory_of(text);
  const Certificate first(PEM_read_bio_X509(memory.get(), nullptr, no_password, nullptr));
  if (!first || SSL_CTX_use_certificate(context, first.get()) != 1) return bad_pem("the certificate");
  while (Certificate next{PEM_read_bio_X509(memory.get(), nullptr, no_password, nullptr)}) {
    if (SSL_CTX_add0_chain_cert(context, next.get()) != 1) return bad_pem("the chain of the certificate");
    static_cast<void>(next.release());  // the context has it now
  }
  ERR_clear_error();  // the end of the text
  return {};
}

Result<void> use_key(SSL_CTX* context, std::string_view text) {
  const Memory memory = memory_of(text);
  const Key key(PEM_read_bio_PrivateKey(memory.get(), nullptr, no_password, nullptr));
  if (!key || SSL_CTX_use_PrivateKey(context, key.get()) != 1) return bad_pem("the key");
  if (SSL_CTX_check_private_key(context) != 1) return bad_pem("the key, which is not that of the certificate,");
  return {};
}

Result<void> trust(SSL_CTX* context, std::string_view text) {
  X509_STORE* store = SSL_CTX_get_cert_store(context);
  const Memory memory = memory_of(text);
  bool any = false;
  while (const Certificate ca{PEM_read_bio_X509(memory.get(), nullptr, no_password, nullptr)}) {
    if (X509_STORE_add_cert(store, ca.get()) != 1) return bad_pem("a CA certificate");
    SSL_CTX_add_client_CA(context, ca.get());  // only a hint for clients that have several certificates
    any = true;
  }
  if (!any) return bad_pem("the CA certificate");
  ERR_clear_error();
  return {};
}

Result<Context> make_context(const TlsMaterial& material) {
  Context context(SSL_CTX_new(TLS_method()));
  if (!context || SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION) != 1)
    return fail(ErrorCode::kInternal, fmt::format("OpenSSL gives no TLS: {}", said()));
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  if (!material.certificate.empty()) {
    if (auto used = use_certificate(context.get(), material.certificate); !used) return tl::unexpected(std::move(used).error());
    if (auto used = use_key(context.get(), material.key); !used) return tl::unexpected(std::move(used).error());
  }
  if (!material.ca.empty()) {
    if (auto trusted = trust(context.get(), material.ca); !trusted) return tl::unexpected(std::move(trusted).error());
  }
  return context;
}

void drain(SSL* session, std::string& out) {
  std::array<char, 16 * 1024> block{};
  BIO* memory = SSL_get_wbio(session);
  int count = 0;
  while ((count = BIO_read(memory, block.data(), static_cast<int>(block.size()))) > 0)
    out.append(block.data(), static_cast<std::size_t>(count));
}

}  // namespace

struct TlsSide::Impl {
  openssl::Context context;
  bool serves = false;
};

struct TlsSession::Impl {
  openssl::Session session;
  std::string unsent;  // until the handshake is over
  bool broken = false;
};

TlsSide::TlsSide(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TlsSide::TlsSide(TlsSide&&) noexcept = default;
TlsSide& TlsSide::operator=(TlsSide&&) noexcept = default;
TlsSide::~TlsSide() = default;
TlsSession::TlsSession(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TlsSession::TlsSession(TlsSession&&) noexcept = default;
TlsSession& TlsSession::operator=(TlsSession&&) noexcept = default;
TlsSession::~TlsSession() = default;

Result<TlsSide> TlsSide::server(const TlsMaterial& material) {
  if (material.certificate.empty() || material.key.empty())
    return fail(ErrorCode::kInvalid, "a server of TLS needs a certificate and its key");
  auto context = make_context(material);
  if (!context) return tl::unexpected(std::move(context).error());
  if (!material.ca.empty()) SSL_CTX_set_verify(context->get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  SSL_CTX_set_session_cache_mode(context->get(), SSL_SESS_CACHE_OFF);
  return TlsSide(std::make_unique<Impl>(Impl{*std::move(context), true}));
}

Result<TlsSide> TlsSide::client(const TlsMaterial& material) {
  auto context = make_context(material);
  if (!context) return tl::unexpected(std::move(context).error());
  if (material.ca.empty() && SSL_CTX_set_default_verify_paths(context->get()) != 1)
    return fail(ErrorCode::kInvalid, fmt::format("the system's CA certificates cannot be read: {}; name one", said()));
  SSL_CTX_set_verify(context->get(), SSL_VERIFY_PEER, nullptr);
  return TlsSide(std::make_unique<Impl>(Impl{*std::move(context), false}));
}

Result<TlsSession> TlsSide::session(const std::string& host) const {
  Session session(SSL_new(impl_->context.get()));
  Memory in(BIO_new(BIO_s_mem()));
  Memory out(BIO_new(BIO_s_mem()));
  if (!session || !in || !out) return fail(ErrorCode::kInternal, fmt::format("OpenSSL gives no session: {}", said()));
  BIO_set_mem_eof_return(in.get(), -1);  // empty means: wait for more
  BIO_set_mem_eof_return(out.get(), -1);
  SSL_set_bio(session.get(), in.release(), out.release());  // the session owns them now
  if (impl_->serves) {
    SSL_set_accept_state(session.get());
  } else {
    SSL_set_connect_state(session.get());
    X509_VERIFY_PARAM* check = SSL_get0_param(session.get());
    const bool is_address = X509_VERIFY_PARAM_set1_ip_asc(check, host.c_str()) == 1;
    ERR_clear_error();
    if (!is_address && (SSL_set1_host(session.get(), host.c_str()) != 1 ||
                        SSL_ctrl(session.get(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                                 const_cast<char*>(host.c_str())) != 1)) {  // its macro has a cast in the old style
      return fail(ErrorCode::kInvalid, fmt::format("'{}' is no name of a server: {}", host, said()));
    }
  }
  return TlsSession(std::make_unique<TlsSession::Impl>(TlsSession::Impl{std::move(session), "", false}));
}

Result<void> TlsSession::receive(std::string_view bytes, std::string& plain, std::string& out) {
  SSL* session = impl_->session.get();
  if (impl_->broken) return fail(ErrorCode::kUnavailable, "the TLS session is over");
  if (!bytes.empty()) BIO_write(SSL_get_rbio(session), bytes.data(), static_cast<int>(std::min<std::size_t>(bytes.size(), INT_MAX)));
  std::array<char, 16 * 1024> block{};
  ERR_clear_error();
  int count = 0;
  while ((count = SSL_read(session, block.data(), static_cast<int>(block.size()))) > 0)
    plain.append(block.data(), static_cast<std::size_t>(count));
  const int why = SSL_get_error(session, count);
  if (why != SSL_ERROR_WANT_READ && why != SSL_ERROR_WANT_WRITE && why != SSL_ERROR_ZERO_RETURN) {
    impl_->broken = true;
    const long verified = SSL_get_verify_result(session);
    std::string reason = said();
    if (verified != X509_V_OK) reason += fmt::format(" ({})", X509_verify_cert_error_string(verified));
    drain(session, out);
    return fail(ErrorCode::kUnavailable, "TLS: " + reason);
  }
  if (!impl_->unsent.empty() && SSL_is_init_finished(session) == 1) {
    const std::string text = std::exchange(impl_->unsent, {});
    send(text, out);
  }
  drain(session, out);
  return {};
}

void TlsSession::send(std::string_view plain, std::string& out) {
  SSL* session = impl_->session.get();
  if (impl_->broken) return;
  if (SSL_is_init_finished(session) != 1) {
    impl_->unsent += plain;
    SSL_do_handshake(session);  // a client begins it; what comes of it shows in receive()
    ERR_clear_error();
    drain(session, out);
    return;
  }
  while (!plain.empty()) {
    const int count = SSL_write(session, plain.data(), static_cast<int>(std::min<std::size_t>(plain.size(), INT_MAX)));
    if (count <= 0) {
      ERR_clear_error();
      impl_->broken = true;
      break;
    }
    plain.remove_prefix(static_cast<std::size_t>(count));
  }
  drain(session, out);
}

void TlsSession::close(std::string& out) {
  SSL* session = impl_->session.get();
  if (!impl_->broken && SSL_is_init_finished(session) == 1) SSL_shutdown(session);
  ERR_clear_error();
  drain(session, out);
}

bool TlsSession::ended() const { return (SSL_get_shutdown(impl_->session.get()) & SSL_RECEIVED_SHUTDOWN) != 0; }

}  // namespace sp::http
