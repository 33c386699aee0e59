// TLS as bytes in, bytes out: no socket, no waiting. A side is made once out of PEM texts, a session for each connection.
//
//     what came from the net ─► receive() ─► plain text        send(plain text) ─► out ─► to the net
//
// Shape:    TLS 1.2 or newer. A server with `ca` demands a certificate of every client; a client checks the server's
//           certificate and name always, against `ca`, or against what the system trusts if that is empty.
// Cost:     1 to 2 ms of one core a handshake, then that of AES.
// Limits:   those of OpenSSL: 16 kB a record.
// Errors:   make: kInvalid says which PEM text is wrong and how. receive: kUnavailable says why the session is over.
// Threads:  a TlsSide is shared by its sessions and const; a session has one owner.   Source: RFC 8446; ssl(7).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sp::http {

// PEM texts, not files.
struct TlsMaterial {
  std::string certificate = "";  // with the chain behind it; a server must have one
  std::string key = "";          // of the certificate, without a password
  std::string ca = "";           // whose certificates of the other side are believed
};

class TlsSession;

class TlsSide {
 public:
  [[nodiscard]] static Result<TlsSide> server(const TlsMaterial& material);
  [[nodiscard]] static Result<TlsSide> client(const TlsMaterial& material);
  TlsSide(TlsSide&&) noexcept;
  TlsSide& operator=(TlsSide&&) noexcept;
  ~TlsSide();

  // `host`: of a client, the name or address that the server's certificate must have.
  [[nodiscard]] Result<TlsSession> session(const std::string& host = "") const;

 private:
  struct Impl;
  explicit TlsSide(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

class TlsSession {
 public:
  TlsSession(TlsSession&&) noexcept;
  TlsSession& operator=(TlsSession&&) noexcept;
  ~TlsSession();

  // Appends to `plain` what came, and to `out` what must go to the other side, also when it fails: the reason for it.
  Result<void> receive(std::string_view bytes, std::string& plain, std::string& out);
  // Appends to `out`. Before the handshake is over the text is kept until then.
  void send(std::string_view plain, std::string& out);
  // Appends to `out` the word that nothing follows.
  void close(std::string& out);
  // The other side has said that nothing follows.
  [[nodiscard]] bool ended() const;

 private:
  friend class TlsSide;
  struct Impl;
  explicit TlsSession(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace sp::http
