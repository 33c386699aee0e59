// label: threads
#include "http/client.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include <unistd.h>

#include "unit/http/http_fixture.h"

namespace sp::http {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::string seen(std::string_view text) {
  const auto url = parse_url(text);
  if (!url) return "no";
  return (url->tls ? "tls " : "") + url->host + " " + std::to_string(url->port) + " " + url->target;
}

TEST(UrlTest, IsSchemeHostPortAndTarget) {
  EXPECT_EQ(seen("http://worker:8088"), "worker 8088 /");
  EXPECT_EQ(seen("https://a.b/c?d=e#f"), "tls a.b 443 /c?d=e");
  EXPECT_EQ(seen("http://[::1]:99/x"), "::1 99 /x");
  EXPECT_EQ(seen("http://h?x"), "h 80 /?x");
}

TEST(UrlTest, RefusesWhatIsNone) {
  for (const char* text : {"", "worker:8088", "ftp://x", "http://", "http://:80", "http://a:0", "http://a:65536", "http://a:b",
                           "http://a:1:2", "http://u@h", "http://[::1", "http://[::1]x", "http://a b", "http://a\r\nX: y"})
    EXPECT_EQ(seen(text), "no") << text;
}

// A server that answers any connection with the same bytes, for what no lawful server says.
class Canned {
 public:
  explicit Canned(std::string answer)
      : listener_(*sys::Listener::open({})), thread_([this, answer](const std::stop_token& stop) {
          sys::Descriptor socket;
          std::vector<sys::Watch> watch{{.number = listener_.number(), .read = true}};
          while (!stop.stop_requested() && listener_.accept(socket) != sys::Listener::Accepted::kTaken)
            sys::wait_ready(watch, milliseconds(10));
          if (!socket.valid()) return;
          static_cast<void>(sys::transmit(socket, answer));
          if (!answer.ends_with("…")) sys::end_sending(socket);
          watch[0].number = socket.get();
          char block[4096];
          while (!stop.stop_requested() && sys::receive(socket, block).state != sys::Transfer::State::kEnd)
            sys::wait_ready(watch, milliseconds(10));
        }) {}
  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(listener_.port()) + "/x"; }

 private:
  sys::Listener listener_;
  std::jthread thread_;
};

std::string asked(const std::string& answer, ClientOptions options = {}) {
  const Canned server(answer);
  const auto got = Client(std::move(options), real_clock()).call({.url = server.url(), .wait = milliseconds(500)});
  if (got) return std::to_string(got->status) + " " + got->body;
  return std::string(error_row(got.error().code).name) + ": " + got.error().message;
}

TEST(ClientTest, TakesAnswersOfAllLengths) {
  EXPECT_EQ(asked("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"), "200 hi");
  EXPECT_EQ(asked("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"), "200 hi");
  EXPECT_EQ(asked("HTTP/1.0 404 Not Found\r\n\r\nuntil the end"), "404 until the end");
  EXPECT_EQ(asked("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), "200 ");
}

TEST(ClientTest, SaysWhatIsNoAnswer) {
  EXPECT_NE(asked("").find("closed without an answer"), std::string::npos);
  EXPECT_NE(asked("SSH-2.0-OpenSSH\r\n").find("speaks no HTTP"), std::string::npos);
  EXPECT_NE(asked("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi").find("speaks no HTTP"), std::string::npos);
  EXPECT_NE(asked("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi…").find("no whole answer within 500 ms"), std::string::npos);
  EXPECT_NE(asked("HTTP/1.1 200 OK\r\n\r\n" + std::string(100, 'x'), {.message = {.body_bytes_max = 10}}).find("too long"),
            std::string::npos);
}

TEST(ClientTest, SaysThatNobodyAnswers) {
  auto listener = sys::Listener::open({});
  ASSERT_TRUE(listener.has_value());
  const std::string url = "http://127.0.0.1:" + std::to_string(listener->port());
  listener->close();
  const auto answer = Client({}, real_clock()).call({.url = url});
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(answer.error().message.find(url), std::string::npos);
}

TEST(ClientTest, SendsNoHeaderThatEndsItsLine) {
  const auto answer = Client({}, real_clock()).call({.url = "http://127.0.0.1:9", .headers = {{"X", "a\r\nY: b"}}});
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, ErrorCode::kInvalid);
}

// ---- TLS ----

std::string slurp(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// Certificates of this run's own making, made once.
class Certificates {
 public:
  static const Certificates& get() {
    static const Certificates kMade;
    return kMade;
  }
  bool there = false;
  TlsMaterial server, client, stranger;

 private:
  Certificates() {
    const std::filesystem::path folder = testing::TempDir() + "sp-http-tls-" + std::to_string(getpid());
    std::filesystem::create_directories(folder);
    there = make(folder, "server", "subjectAltName=IP:127.0.0.1,DNS:localhost") && make(folder, "client", "subjectAltName=DNS:client") &&
            make(folder, "stranger", "subjectAltName=DNS:stranger");
    const auto read = [&](const std::string& name) {
      return TlsMaterial{.certificate = slurp(folder / (name + ".pem")), .key = slurp(folder / (name + ".key"))};
    };
    server = read("server");
    client = read("client");
    stranger = read("stranger");
    std::filesystem::remove_all(folder);
  }
  static bool make(const std::filesystem::path& folder, const std::string& name, const std::string& extension) {
    const std::string command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=" + name +
                                " -addext " + extension + " -keyout '" + (folder / (name + ".key")).string() + "' -out '" +
                                (folder / (name + ".pem")).string() + "' 2>/dev/null";
    return std::system(command.c_str()) == 0;  // NOLINT(concurrency-mt-unsafe): before any other thread of the test
  }
};

class TlsTest : public HttpTest {
 protected:
  void SetUp() override {
    if (!Certificates::get().there) GTEST_SKIP() << "the command openssl is not there";
    route("POST", "/echo", [](const Request& request) { return text(request.body); });
  }
  std::string ask_with(TlsMaterial material, const std::string& host = "127.0.0.1", std::string body = "hello") {
    const Client client({.tls = std::move(material)}, real_clock());
    const auto answer = client.call({.method = "POST",
                                     .url = "https://" + host + ":" + std::to_string(server_->port()) + "/echo",
                                     .body = std::move(body),
                                     .wait = seconds(10)});
    return answer ? answer->body : answer.error().message;
  }
};

TEST_F(TlsTest, CarriesRequestsAndAnswers) {
  const auto& made = Certificates::get();
  start({.tls = made.server});
  EXPECT_EQ(ask_with({.ca = made.server.certificate}), "hello");
  const std::string large(900'000, 'x');
  EXPECT_EQ(ask_with({.ca = made.server.certificate}, "127.0.0.1", large), large);
}

TEST_F(TlsTest, ChecksTheServersNameAndWhoSignedIt) {
  const auto& made = Certificates::get();
  start({.tls = made.server});
  EXPECT_EQ(ask_with({.ca = made.server.certificate}, "localhost"), "hello");
  EXPECT_NE(ask_with({.ca = made.stranger.certificate}).find("TLS: certificate verify failed"), std::string::npos);
  EXPECT_NE(ask_with({}).find("TLS: certificate verify failed"), std::string::npos);
}

TEST_F(TlsTest, ChecksThatTheCertificateIsOfTheNameThatWasAsked) {
  const auto& made = Certificates::get();
  start({.tls = made.client});
  EXPECT_NE(ask_with({.ca = made.client.certificate}).find("TLS: certificate verify failed"), std::string::npos);
}

TEST_F(TlsTest, DemandsACertificateOfClientsIfItHasACaForThem) {
  const auto& made = Certificates::get();
  TlsMaterial both = made.server;
  both.ca = made.client.certificate;
  start({.tls = both});
  TlsMaterial known = made.client;
  known.ca = made.server.certificate;
  EXPECT_EQ(ask_with(known), "hello");
  TlsMaterial unknown = made.stranger;
  unknown.ca = made.server.certificate;
  EXPECT_NE(ask_with(unknown), "hello");
  EXPECT_NE(ask_with({.ca = made.server.certificate}), "hello");
  EXPECT_EQ(server_->stats().requests, 1U);
}

TEST_F(TlsTest, AClientThatDoesNotSpeakItIsCut) {
  start({.tls = Certificates::get().server, .request_wait = milliseconds(300)});
  RawConnection plain(server_->port());
  plain.send("POST /echo HTTP/1.1\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(plain.read().find("HTTP/1.1 200"), std::string::npos);
  RawConnection halfway(server_->port());
  halfway.send("\x16\x03\x01");  // and no more of its hello
  EXPECT_EQ(halfway.read(), "");
  EXPECT_EQ(server_->stats().requests, 0U);
}

TEST_F(TlsTest, SaysWhichPemIsWrong) {
  const auto& made = Certificates::get();
  const auto fault = [](TlsMaterial material) {
    const auto side = TlsSide::server(material);
    return side ? "none" : side.error().message;
  };
  EXPECT_EQ(fault(made.server), "none");
  EXPECT_EQ(fault({}), "a server of TLS needs a certificate and its key");
  EXPECT_NE(fault({.certificate = "x", .key = made.server.key}).find("the certificate cannot be used"), std::string::npos);
  EXPECT_NE(fault({.certificate = made.server.certificate, .key = "x"}).find("the key cannot be used"), std::string::npos);
  EXPECT_NE(fault({.certificate = made.server.certificate, .key = made.client.key}).find("the key"), std::string::npos);
  EXPECT_NE(fault({.certificate = made.server.certificate, .key = made.server.key, .ca = "x"}).find("the CA certificate"),
            std::string::npos);
}

}  // namespace
}  // namespace sp::http
