// label: threads
#include "http/server.h"

#include <atomic>
#include <condition_variable>
#include <latch>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "unit/http/http_fixture.h"

namespace sp::http {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class ServerTest : public HttpTest {
 protected:
  void SetUp() override {
    route("GET", "/healthz", [](const Request&) { return text("ok"); });
    route("POST", "/echo", [](const Request& request) { return text(request.body); });
    route("GET", "/things/{id}/parts/{part}", [](const Request& request) {
      return text(std::string(request.parameter("id")) + "|" + std::string(request.parameter("part")));
    });
  }
};

TEST_F(ServerTest, AnswersByMethodAndPath) {
  route("GET", "/files/{path*}", [](const Request& request) { return text(std::string(request.parameter("path"))); });
  start();
  EXPECT_EQ(ask("/healthz"), "200 ok");
  EXPECT_EQ(ask("/healthz/"), "200 ok");
  EXPECT_EQ(ask("/echo", "POST", "hello"), "200 hello");
  EXPECT_EQ(ask("/things/a%2Fb/parts/%C3%A4?x=1"), "200 a/b|ä");
  EXPECT_EQ(ask("/files/a/b.js"), "200 a/b.js");
  EXPECT_EQ(ask("/nothing"), "404 there is nothing at /nothing");
  EXPECT_EQ(ask("/healthz", "PUT"), "405 PUT is not possible here; GET is");
  EXPECT_EQ(ask("/things/%zz/parts/1").substr(0, 3), "400");
}

TEST_F(ServerTest, HandsQueryAndHeadersToTheHandler) {
  route("GET", "/q", [](const Request& request) {
    return text(request.query.at("a") + "|" + request.query.at("b c") + "|" + std::string(request.header("x-mine")));
  });
  start();
  const auto answer = client_.call({.url = url("/q?a=1&b+c=%20+&flag"), .headers = {{"X-Mine", "yes"}}});
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->body, "1|  |yes");
}

TEST_F(ServerTest, TakesBodiesWhateverTheirContentTypeAndChunkedToo) {
  start();
  for (const char* type : {"application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "nonsense"}) {
    const auto answer = client_.call({.method = "POST", .url = url("/echo"), .headers = {{"Content-Type", type}}, .body = "{\"a\":1}"});
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(answer->body, "{\"a\":1}");
  }
  EXPECT_EQ(body_of(raw("POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
                        "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")), "abcde");
}

TEST_F(ServerTest, KeepsAConnectionForTheNextRequestEvenIfBothComeAtOnce) {
  start();
  const std::string both = raw(
      "GET /healthz HTTP/1.1\r\n\r\nPOST /echo HTTP/1.1\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi");
  EXPECT_EQ(status_line(both), "HTTP/1.1 200 OK");
  EXPECT_TRUE(both.ends_with("\r\n\r\nhi")) << both;
  EXPECT_EQ(server_->stats().requests, 2U);
}

TEST_F(ServerTest, AnswersHeadWithoutABody) {
  start();
  const std::string answer = raw("HEAD /healthz HTTP/1.1\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(status_line(answer), "HTTP/1.1 200 OK");
  EXPECT_NE(answer.find("Content-Length: 2"), std::string::npos);
  EXPECT_EQ(body_of(answer), "");
}

TEST_F(ServerTest, AnswersWhoHasEndedItsSide) {
  start();
  RawConnection connection(server_->port());
  connection.send("GET /healthz HTTP/1.1\r\n\r\n");
  connection.end_sending();
  EXPECT_EQ(body_of(connection.read()), "ok");
}

TEST_F(ServerTest, InvitesABodyThatWaitsForIt) {
  start({.message = {.body_bytes_max = 100}});
  RawConnection connection(server_->port());
  connection.send("POST /echo HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(status_line(connection.read("\r\n\r\n")), "HTTP/1.1 100 Continue");
  connection.send("hi");
  EXPECT_EQ(body_of(connection.read()), "hi");
  EXPECT_EQ(status_line(raw("POST /echo HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 101\r\n\r\n")),
            "HTTP/1.1 413 Content Too Large");
}

TEST_F(ServerTest, RefusesWhatIsTooLongWithASentence) {
  start({.message = {.target_bytes_max = 100, .head_bytes_max = 2000, .headers_max = 10, .body_bytes_max = 1000}});
  EXPECT_EQ(ask("/echo", "POST", std::string(1000, 'x')).substr(0, 3), "200");
  EXPECT_EQ(ask("/echo", "POST", std::string(1001, 'x')), "413 the body has more than 1000 bytes, which is the limit");
  EXPECT_EQ(ask("/echo", "POST", std::string(5'000'000, 'x')).substr(0, 3), "413");
  EXPECT_EQ(status_line(raw("POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n400\r\n" + std::string(1024, 'x') + "\r\n0\r\n\r\n")),
            "HTTP/1.1 413 Content Too Large");
  EXPECT_EQ(ask("/" + std::string(200, 'a')).substr(0, 3), "414");
  EXPECT_EQ(status_line(raw("GET /healthz HTTP/1.1\r\nX: " + std::string(3000, 'y') + "\r\n\r\n")),
            "HTTP/1.1 431 Request Header Fields Too Large");
  std::string many = "GET /healthz HTTP/1.1\r\n";
  for (int i = 0; i < 11; ++i) many += "H" + std::to_string(i) + ": 1\r\n";
  EXPECT_EQ(status_line(raw(many + "\r\n")), "HTTP/1.1 431 Request Header Fields Too Large");
  EXPECT_EQ(ask("/healthz"), "200 ok");
}

TEST_F(ServerTest, RefusesWhatIsNoHttp) {
  start();
  const std::vector<std::string> malformed = {
      "hello\r\n\r\n",
      "GET\r\n\r\n",
      "GET /healthz\r\n\r\n",
      "GET /healthz HTTP/2.0\r\n\r\n",
      "GET healthz HTTP/1.1\r\n\r\n",
      "GET /healthz HTTP/1.1\r\nno colon\r\n\r\n",
      "GET /healthz HTTP/1.1\r\n: no name\r\n\r\n",
      "GET /healthz HTTP/1.1\r\nX: a\nb\r\n\r\n",
      "POST /echo HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
      "POST /echo HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
      "POST /echo HTTP/1.1\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "POST /echo HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n",
      "POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
      "POST /echo HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n",
      "GET /healthz?a=%4 HTTP/1.1\r\nConnection: close\r\n\r\n",
      std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\0\0\0\0", 15),
      std::string(5000, '\0'),
  };
  for (const std::string& bytes : malformed) {
    const std::string answer = raw(bytes);
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 4") || answer.starts_with("HTTP/1.1 505")) << bytes << "\n" << answer;
  }
  EXPECT_EQ(ask("/healthz"), "200 ok");
  EXPECT_EQ(server_->stats().refused, malformed.size());
  const std::string unknown_method = raw("QUERY /healthz HTTP/1.1\r\n\r\n");
  EXPECT_EQ(status_line(unknown_method), "HTTP/1.1 405 Method Not Allowed");
  EXPECT_NE(unknown_method.find("\r\nAllow: GET, POST\r\n"), std::string::npos);
}

TEST_F(ServerTest, CutsARequestThatIsNotWholeInTimeHoweverOftenItSendsAByte) {
  start({.request_wait = milliseconds(300)});
  RawConnection slow(server_->port());
  const MonotonicTime begin = real_clock().now();
  slow.send("GET /healthz HTTP/1.1\r\nX: ");
  std::string answer;
  std::jthread sender([&](const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any wake;
    std::unique_lock lock(mutex);
    while (!stop.stop_requested() && slow.send("y")) wake.wait_for(lock, stop, milliseconds(20), [] { return false; });
  });
  answer = slow.read();
  sender.request_stop();
  EXPECT_EQ(status_line(answer), "HTTP/1.1 408 Request Timeout");
  EXPECT_GE(real_clock().now() - begin, milliseconds(250));
  EXPECT_LT(real_clock().now() - begin, seconds(10));
  EXPECT_EQ(server_->stats().cut, 1U);
  EXPECT_EQ(server_->stats().refused, 0U);
}

TEST_F(ServerTest, ClosesAConnectionThatSaysNothing) {
  start({.request_wait = milliseconds(100)});
  RawConnection silent(server_->port());
  EXPECT_EQ(silent.read(), "");
  EXPECT_EQ(server_->stats().cut, 1U);
}

TEST_F(ServerTest, SlowClientsStarveNobody) {
  start();
  std::vector<std::unique_ptr<RawConnection>> slow;
  for (int i = 0; i < 200; ++i) {
    slow.push_back(std::make_unique<RawConnection>(server_->port()));
    slow.back()->send(i % 2 == 0 ? "POST /echo HTTP/1.1\r\nContent-Length: 1000\r\n\r\n" : "GET /hea");
  }
  Nanoseconds worst{};
  for (int round = 0; round < 20; ++round) {
    for (auto& one : slow) one->send("x");
    const MonotonicTime begin = real_clock().now();
    EXPECT_EQ(ask("/healthz"), "200 ok");
    worst = std::max(worst, real_clock().now() - begin);
  }
  EXPECT_LT(worst, seconds(1));
  EXPECT_GE(server_->stats().connections, 200U);
}

TEST_F(ServerTest, MakesRoomByCuttingTheOldestWithoutARequest) {
  start({.connections_max = 10});
  std::vector<std::unique_ptr<RawConnection>> slow;
  for (int i = 0; i < 10; ++i) {
    slow.push_back(std::make_unique<RawConnection>(server_->port()));
    slow.back()->send("GET /hea");
  }
  std::string answer;
  const MonotonicTime deadline = real_clock().now() + seconds(20);
  while (!answer.starts_with("200") && real_clock().now() < deadline) answer = ask("/healthz");  // refused while all are young
  EXPECT_EQ(answer, "200 ok");
  EXPECT_EQ(slow.front()->read(), "");
  EXPECT_FALSE(slow.back()->ended());
}

TEST_F(ServerTest, HoldsNoMoreOfBodiesThanItsLimit) {
  start({.bodies_bytes_max = 1000});
  RawConnection first(server_->port());
  first.send("POST /echo HTTP/1.1\r\nContent-Length: 2000\r\n\r\n" + std::string(900, 'x'));
  while (server_->stats().connections < 1) std::this_thread::yield();
  EXPECT_EQ(status_line(raw("POST /echo HTTP/1.1\r\nContent-Length: 2000\r\n\r\n" + std::string(900, 'x'))),
            "HTTP/1.1 503 Service Unavailable");
}

TEST_F(ServerTest, HandlersThatWaitHoldNoneOfTheQuickOnesAndHaveALimit) {
  std::latch go(1);
  std::atomic<int> inside{0};
  route("POST", "/wait", [&](const Request&) {
    ++inside;
    go.wait();
    return text("done");
  }, Lane::kWaiting);
  start({.waiting = {.threads = 2, .waiting_max = 1}});
  std::vector<std::unique_ptr<RawConnection>> waiting;
  const auto begin_one = [&] {
    waiting.push_back(std::make_unique<RawConnection>(server_->port()));
    waiting.back()->send("POST /wait HTTP/1.1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
  };
  for (int both = 1; both <= 2; ++both) {
    begin_one();
    while (inside < both) std::this_thread::yield();
  }
  begin_one();
  while (server_->stats().requests < 3) std::this_thread::yield();
  EXPECT_EQ(ask("/wait", "POST"), "503 too many requests are being handled; try again later");
  EXPECT_EQ(ask("/healthz"), "200 ok");
  go.count_down();
  for (auto& one : waiting) EXPECT_EQ(body_of(one->read()), "done");
}

TEST_F(ServerTest, AnExceptionOfAHandlerIsA500) {
  route("GET", "/bad", [](const Request&) -> Response { throw std::runtime_error("oh"); });
  start({.error_page = [](int status, const std::string& message) {
    Response page = text("page: " + message);
    page.status = status;
    return page;
  }});
  EXPECT_EQ(ask("/bad"), "500 page: the request could not be carried out; the log says why");
  EXPECT_EQ(ask("/nothing"), "404 page: there is nothing at /nothing");
}

TEST_F(ServerTest, AHeaderOfAResponseCannotEndItsLine) {
  route("GET", "/redirect", [](const Request& request) {
    Response response;
    response.status = 302;
    response.headers["Location"] = request.query.at("to");
    return response;
  });
  start();
  const std::string answer = raw("GET /redirect?to=a%0d%0aSet-Cookie:x HTTP/1.1\r\nConnection: close\r\n\r\n");
  EXPECT_NE(answer.find("\r\nLocation: a  Set-Cookie:x\r\n"), std::string::npos) << answer;
}

TEST_F(ServerTest, StopFinishesWhatIsUnderWay) {
  std::latch inside(1);
  std::latch go(1);
  route("POST", "/wait", [&](const Request&) {
    inside.count_down();
    go.wait();
    return text("done");
  }, Lane::kWaiting);
  start();
  RawConnection idle(server_->port());
  RawConnection busy(server_->port());
  busy.send("POST /wait HTTP/1.1\r\nContent-Length: 0\r\n\r\n");
  inside.wait();
  std::jthread stopper([&] { server_->stop(); });
  EXPECT_EQ(idle.read(), "");  // the stop has begun
  go.count_down();
  EXPECT_EQ(body_of(busy.read()), "done");
}

TEST_F(ServerTest, SaysWhyItCannotListen) {
  start();
  const auto second = Server::start({.port = server_->port()}, Routes{}, real_clock());
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, ErrorCode::kExists);
  const auto nowhere = Server::start({.address = "localhost.invalid"}, Routes{}, real_clock());
  ASSERT_FALSE(nowhere.has_value());
  EXPECT_EQ(nowhere.error().code, ErrorCode::kInvalid);
}

}  // namespace
}  // namespace sp::http
