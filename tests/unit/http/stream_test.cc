// label: threads
#include <atomic>

#include "http/message.h"
#include "unit/http/http_fixture.h"

namespace sp::http {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Numbers from `next` to `last`, one a pull.
class Numbers : public EventSource {
 public:
  Numbers(int next, int last) : next_(next), last_(last) {}
  Pulled pull(std::size_t most) override {
    EXPECT_GT(most, 0U);
    if (next_ > last_) return {.events = {}, .over = true};
    const std::string number = std::to_string(next_++);
    return {.events = {{.id = number, .type = "count", .data = "{\"n\":" + number + "}"}}, .over = false};
  }

 private:
  int next_;
  int last_;
};

// Much, and without end; counts what is open.
class Flood : public EventSource {
 public:
  Flood(std::atomic<int>& open, std::atomic<int>& pulls) : open_(open), pulls_(pulls) { ++open_; }
  ~Flood() override { --open_; }
  Flood(const Flood&) = delete;
  Flood& operator=(const Flood&) = delete;
  Pulled pull(std::size_t /*most*/) override {
    ++pulls_;
    return {.events = {{.id = "1", .type = "flood", .data = std::string(100'000, 'x')}}, .over = false};
  }

 private:
  std::atomic<int>& open_;
  std::atomic<int>& pulls_;
};

class Silence : public EventSource {
 public:
  Pulled pull(std::size_t /*most*/) override { return {}; }
};

Response streaming(std::unique_ptr<EventSource> source) {
  Response response;
  response.stream = std::move(source);
  return response;
}

class StreamTest : public HttpTest {
 protected:
  void SetUp() override {
    options_.stream_period = milliseconds(5);
    route("GET", "/healthz", [](const Request&) { return text("ok"); });
    route("GET", "/numbers", [](const Request& request) {
      const std::string_view last = request.header("last-event-id");
      return streaming(std::make_unique<Numbers>(last.empty() ? 1 : std::stoi(std::string(last)) + 1, 5));
    });
    route("GET", "/flood", [this](const Request&) { return streaming(std::make_unique<Flood>(open_, pulls_)); });
    route("GET", "/silence", [](const Request&) { return streaming(std::make_unique<Silence>()); });
  }
  // "1 2 3", until the stream ends or has said `most` events.
  std::string follow(const Headers& headers, std::size_t most = 100) {
    std::string ids;
    std::size_t count = 0;
    const auto answer = client_.follow({.url = url("/numbers"), .headers = headers}, [&](const Event& event) {
      ids += (ids.empty() ? "" : " ") + event.id;
      EXPECT_EQ(event.data, "{\"n\":" + event.id + "}");
      EXPECT_EQ(event.type, "count");
      return ++count < most;
    });
    return answer ? ids : answer.error().message;
  }
  ServerOptions options_;
  std::atomic<int> open_{0};
  std::atomic<int> pulls_{0};
};

TEST_F(StreamTest, GoesOnUntilItsSourceIsOver) {
  start(options_);
  EXPECT_EQ(follow({}), "1 2 3 4 5");
}

TEST_F(StreamTest, ResumesBehindTheLastEvent) {
  start(options_);
  EXPECT_EQ(follow({}, 2), "1 2");
  EXPECT_EQ(follow({{"Last-Event-ID", "2"}}), "3 4 5");
}

TEST_F(StreamTest, PastTheLimitOfStreamsIsA503AndOthersAreServed) {
  options_.streams_max = 3;
  start(options_);
  std::vector<std::unique_ptr<RawConnection>> streams;
  for (int i = 0; i < 3; ++i) {
    streams.push_back(std::make_unique<RawConnection>(server_->port()));
    streams.back()->send("GET /silence HTTP/1.1\r\n\r\n");
    EXPECT_EQ(status_line(streams.back()->read("\r\n\r\n")), "HTTP/1.1 200 OK");
  }
  EXPECT_EQ(ask("/silence"), "503 3 event streams are open, which is the limit; try again later");
  EXPECT_EQ(ask("/healthz"), "200 ok");
  streams.pop_back();
  std::string answer = "503";
  const MonotonicTime deadline = real_clock().now() + seconds(10);
  while (answer.starts_with("503") && real_clock().now() < deadline) {
    RawConnection again(server_->port());
    again.send("GET /silence HTTP/1.1\r\n\r\n");
    answer = status_line(again.read("\r\n\r\n")).substr(9);
  }
  EXPECT_EQ(answer, "200 OK");
}

TEST_F(StreamTest, WhoDoesNotReadIsNotPulledForAndIsCut) {
  options_.answer_wait = seconds(2);
  options_.stream_period = milliseconds(1);
  start(options_);
  RawConnection deaf(server_->port());
  deaf.send("GET /flood HTTP/1.1\r\n\r\n");
  const MonotonicTime deadline = real_clock().now() + seconds(20);
  while (server_->stats().cut == 0 && real_clock().now() < deadline) EXPECT_EQ(ask("/healthz"), "200 ok");
  while (open_ > 0 && real_clock().now() < deadline) EXPECT_EQ(ask("/healthz"), "200 ok");
  EXPECT_EQ(open_, 0);
  EXPECT_EQ(server_->stats().cut, 1U);
  EXPECT_LT(pulls_, 150);  // what the system's buffers take, and the limit; else one a period
}

TEST_F(StreamTest, SendsHeartbeats) {
  options_.stream_heartbeat = milliseconds(20);
  start(options_);
  RawConnection stream(server_->port());
  stream.send("GET /silence HTTP/1.1\r\n\r\n");
  EXPECT_NE(stream.read(":\n\n:\n\n").find("Content-Type: text/event-stream"), std::string::npos);
}

TEST_F(StreamTest, EndsWhenTheServerStops) {
  start(options_);
  RawConnection stream(server_->port());
  stream.send("GET /silence HTTP/1.1\r\n\r\n");
  stream.read("\r\n\r\n");
  server_->stop();
  EXPECT_EQ(stream.read(), "");
}

TEST_F(StreamTest, AClientGivesUpOnASilentServerAndStopsWhenItIsTold) {
  start(options_);
  const auto ignored = [](const Event&) { return true; };
  const auto late = client_.follow({.url = url("/silence"), .wait = milliseconds(50)}, ignored);
  ASSERT_FALSE(late.has_value());
  EXPECT_EQ(late.error().code, ErrorCode::kTimeout);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_TRUE(client_.follow({.url = url("/silence")}, ignored, stop.get_token()).has_value());
  const auto no_stream = client_.follow({.url = url("/nothing")}, ignored);
  ASSERT_TRUE(no_stream.has_value());
  EXPECT_EQ(no_stream->status, 404);
}

// ---- the text of a stream ----

std::string read_back(const std::string& bytes, std::size_t cut) {
  EventReader reader(1000);
  std::vector<Event> events;
  for (std::size_t at = 0; at < bytes.size(); at += cut) {
    const auto fed = reader.feed(std::string_view(bytes).substr(at, cut), events);
    if (!fed) return fed.error().message;
  }
  std::string said;
  for (const Event& event : events) said += "[" + event.id + "|" + event.type + "|" + event.data + "]";
  return said;
}

TEST(EventTest, ReadsBackWhatWasWrittenHoweverItIsCut) {
  const std::string bytes = to_text({.id = "7", .type = "tick", .data = "a\nb"}) + ":\n\n" + to_text({.id = "", .type = "", .data = " x"}) +
                            to_text({.id = "8\nid: 9", .type = "t", .data = ""});
  for (const std::size_t cut : {std::size_t{1}, std::size_t{2}, std::size_t{7}, bytes.size()})
    EXPECT_EQ(read_back(bytes, cut), "[7|tick|a\nb][7|| x][8 id: 9|t|]");
}

TEST(EventTest, TakesAllLineEndsAndHasALimit) {
  EXPECT_EQ(read_back("data: a\r\n\r\ndata: b\r\rdata:c\n\n", 1), "[||a][||b][||c]");
  EXPECT_EQ(read_back("data: " + std::string(2000, 'x'), 100), "an event of the stream has more than 1000 bytes");
}

}  // namespace
}  // namespace sp::http
