// label: threads
#include "api/api.h"

#include <gmock/gmock.h>

#include "api/endpoints.h"
#include "unit/api/api_fixture.h"

namespace sp::api {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// ---- the reference's endpoints ----

TEST_F(ApiTest, CreateAnswersTheProofAsStoredWhateverTheContentType) {
  const std::string body = R"({"name":"demo","driver":"k1","features":["ordering"],"msgRate":1001})";
  for (const char* type : {"", "application/json", "application/x-www-form-urlencoded", "text/plain"}) {
    const http::Answer got = answer("POST", "/proofs", body, {{"Content-Type", type}});
    EXPECT_EQ(got.status, 200);
    EXPECT_THAT(got.body, StartsWith(R"({"id":"aB3dE","name":"demo")"));
    EXPECT_EQ(service_.created_.find("msgRate")->text, "1001");
    EXPECT_TRUE(service_.waited_);
  }
}

TEST_F(ApiTest, CreateReadsWhatToolsWrite) {
  for (const char* body : {"{\n\t\"name\": \"a\",\n\t\"keys\": [\n\t\t1\n\t]\n}", "name: a\nkeys: [1]\n", "\xEF\xBB\xBF{\"name\":\"a\"}"}) {
    EXPECT_THAT(ask("POST", "/proofs", body), StartsWith("200 ")) << body;
    EXPECT_EQ(service_.created_.find("name")->text, "a") << body;
  }
}

TEST_F(ApiTest, EveryJsonIsTaken) {
  const std::string name(2000, 'k');
  EXPECT_THAT(ask("POST", "/proofs", "{\"" + name + "\":[1, -2.5, true, null, \"\\u00e4\", {\"a\"\n: 1}]}"), StartsWith("200 "));
  const codec::Node* const list = service_.created_.find(name);
  ASSERT_NE(list, nullptr);
  ASSERT_EQ(list->items.size(), 6U);
  EXPECT_EQ(list->items[0].text + list->items[1].text + list->items[2].text, "1-2.5true");
  EXPECT_EQ(list->items[3].kind, codec::Node::Kind::kNothing);
  EXPECT_TRUE(list->items[4].quoted && list->items[4].text == "ä");
  EXPECT_EQ(list->items[5].find("a")->text, "1");
  // What it may not be stays so: a name twice, and too deep.
  EXPECT_THAT(ask("POST", "/proofs", R"({"a":1,"a":2})"), StartsWith("400 "));
  EXPECT_THAT(ask("POST", "/proofs", "{\"a\"\n:1,\"a\":2}"), StartsWith("400 "));
  const std::string deep = std::string(40, '[') + std::string(40, ']');
  EXPECT_THAT(ask("POST", "/proofs", "{\"a\"\n:" + deep + "}"), StartsWith("400 "));
  EXPECT_THAT(ask("POST", "/proofs", std::string(500'000, '[')), StartsWith("4"));
}

TEST_F(ApiTest, ABodyThatIsNotThereIsSaid) {
  for (const auto& [method, path] :
       {std::pair("POST", "/proofs"), {"PUT", "/configs"}, {"DELETE", "/configs"}, {"POST", "/proofs/aB3dE/faults"}})
    EXPECT_THAT(ask(method, path), HasSubstr(R"("message":"the request has no body")")) << path;
}

TEST_F(ApiTest, CreateNeedNotWait) {
  EXPECT_THAT(ask("POST", "/proofs?wait=false", "{}"), StartsWith("200 "));
  EXPECT_FALSE(service_.waited_);
  EXPECT_THAT(ask("POST", "/proofs?wait=perhaps", "{"), StartsWith("400 "));
}

TEST_F(ApiTest, CreateTellsAllThatIsWrong) {
  EXPECT_EQ(ask("POST", "/proofs", R"({"name":"bad"})"),
            R"(400 {"error":{"code":"invalid","message":"proof line 1 column 2: unknown field 'x'; leave it out\n)"
            R"(proof: there is no driver 'k9'; configure it first","faults":[)"
            R"({"place":"proof line 1 column 2","message":"unknown field 'x'","remedy":"leave it out"},)"
            R"({"place":"proof","message":"there is no driver 'k9'","remedy":"configure it first"}]}})");
  EXPECT_THAT(ask("POST", "/proofs", R"({"name":"cannot start"})"), StartsWith("503 {\"error\":{\"code\":\"unavailable\""));
  const std::string two = ask("POST", "/proofs?wait=perhaps", "{\"a\": [");
  EXPECT_THAT(two, HasSubstr("query parameter 'wait'"));
  EXPECT_THAT(two, HasSubstr("body line 1"));
}

TEST_F(ApiTest, ListHasTheStatusOfEachAndKeepsTheServicesOrder) {
  const std::string list = get("/proofs");
  EXPECT_THAT(list, StartsWith(R"(200 [{"id":"aB3dE")"));
  EXPECT_THAT(list, HasSubstr(R"("status":"running"},{"id":"Xy12z")"));
  EXPECT_THAT(list, HasSubstr(R"("status":"created"}])"));
}

TEST_F(ApiTest, ShowHasFourMembersAndDetailsHasAll) {
  const std::string show = get("/proofs/aB3dE");
  EXPECT_THAT(show, StartsWith(R"(200 {"proof":{"id":"aB3dE")"));
  EXPECT_THAT(show, Not(HasSubstr("failedKeys")));
  const std::string details = get("/proofs/aB3dE/details");
  EXPECT_THAT(details, HasSubstr(R"("latestProducer":{"published":{"Hk2Lp":{"seq":41,"metadata":{"offset":977,"partition":3,)"
                                 R"("originalOffset":-1,"publishTimestampMillis":-1}},"Zz9Yy":{"seq":-1,"metadata":{"offset":-1,)"
                                 R"("ledgerId":-1,"entryId":-1,"originalOffset":-1,"publishTimestampMillis":-1}}},"errorDetails":{}})"));
  EXPECT_THAT(details, HasSubstr(R"("verifiedProducer":{"published":{"Hk2Lp":{"seq":19,)"));
  EXPECT_THAT(details, HasSubstr(R"("failedKeys":{"Hk2Lp":[{"seq":41,)"));
  // Ends of what is missing are its neighbours, of what was written twice they are inside.
  EXPECT_THAT(details, HasSubstr(R"("missedSeqs":{"Hk2Lp":[{"start":{"seq":19,"metadata":null},"end":{"seq":23,"metadata":null},)"));
  EXPECT_THAT(details, HasSubstr(R"("writeDuplicatesSeqs":{"Hk2Lp":[{"start":{"seq":3,"metadata":null},"end":{"seq":3,"metadata":null},)"));
  EXPECT_THAT(details, HasSubstr(R"("outOfOrderSeqs":{"Hk2Lp":[{"5":7}]})"));
  EXPECT_THAT(details, HasSubstr(R"("2026-01-01T00:00:00.000001":{"start":{"seq":23,)"));
}

TEST_F(ApiTest, ReportHasTheReferencesArithmetic) {
  const std::string report = get("/proofs/aB3dE/report");
  for (const char* part : {
           R"("status":"running","resultReason":"Verification is still in progress.")",
           R"("clusterTargets":[{"role":"default","driverName":"k1","driverType":"kafka","endpoints":{"bootstrap.servers":"k:9092"},)"
           R"("metadata":{"zone":"a"}},{"role":"admin","driverName":"gone","endpoints":{}}])",
           R"("summary":{"verified":4100,"errors":2,"outOfOrders":0,"missed":0,"duplicates":0,"writeDuplicates":0,"timeouts":1,)"
           R"("verifiedStallSeconds":3,"maxVerifiedStallSeconds":10,)",
           R"("checkpointSummary":{"inCheckKeys":7,"latestProducerKeys":7,"latestConsumerKeys":6,"verifiedProducerKeys":5,)"
           R"("verifiedConsumerKeys":4,"failedProducerKeys":2,"failedConsumerKeys":1})",
           R"("elapsedSeconds":10,"plannedDurationSeconds":600,"remainingSeconds":590,"progressPercent":1.6666666666666667,)"
           R"("targetMsgRate":1001,"publishedMessages":9990,"publishErrors":2,"publishAttempts":9995,"consumedMessages":9980,)"
           R"("backlogMessages":10,"verifiedMessages":4100,"publishRate":999,"consumeRate":998,"publishErrorRate":0.2,"verifyRate":410,)"
           R"("publishBytesRate":260739,"consumeBytesRate":0,"publishLatency":{"count":9990,"avg":3.5,"p50":3,)",
           // The counters of now end the series; their rates are those of the last point.
           R"({"elapsedSeconds":10,"publishRate":998.5,"consumeRate":0,"backlogMessages":10,)",
       })
    EXPECT_THAT(report, HasSubstr(part));
}

TEST_F(ApiTest, SecretsAreNeverShown) {
  for (const char* path : {"/proofs", "/proofs/aB3dE", "/proofs/aB3dE/details", "/proofs/aB3dE/report", "/configs"})
    EXPECT_THAT(get(path), Not(HasSubstr("geheim"))) << path;
  EXPECT_THAT(get("/proofs/aB3dE"), HasSubstr(R"x("url":"https://hooks.slack.com/(hidden)")x"));
  service_.heads_[kFull].submission.webhook = Webhook{"http://hook.local/x", "generic", true, false, ""};
  EXPECT_THAT(get("/proofs/aB3dE"), HasSubstr(R"("url":"http://hook.local/x","type":"generic","enabled":true)"));
}

TEST_F(ApiTest, StopAndDeleteAnswerEmpty) {
  EXPECT_EQ(ask("PUT", "/proofs/aB3dE/stop"), "200 ");
  EXPECT_TRUE(service_.waited_);
  EXPECT_EQ(ask("PUT", "/proofs/aB3dE/stop?wait=false"), "200 ");
  EXPECT_FALSE(service_.waited_);
  EXPECT_EQ(ask("DELETE", "/proofs/aB3dE"), "200 ");
  EXPECT_EQ(ask("DELETE", "/proofs/aB3dE"), "404 Proof test not found: aB3dE");
}

TEST_F(ApiTest, AProofThatIsNotThereIsThatText) {
  for (const Endpoint& endpoint : endpoints()) {
    std::string path(endpoint.pattern);
    if (!path.starts_with("/proofs/{id}")) continue;
    path.replace(path.find("{id}"), 4, "nope");
    if (const std::size_t at = path.find("{key}"); at != std::string::npos) path.replace(at, 5, "k");
    EXPECT_EQ(ask(std::string(endpoint.method), path, R"({"name":"x"})"), "404 Proof test not found: nope") << path;
  }
}

TEST_F(ApiTest, ConfigsAreMergedShownAndTakenAway) {
  EXPECT_THAT(get("/configs"), HasSubstr(R"("workers":{"worker.1":"http://worker:8088"})"));
  EXPECT_EQ(ask("PUT", "/configs", R"({"workers":{"w":"http://w:1"},"drivers":{}})"), "200 ");
  EXPECT_THAT(get("/configs"), StartsWith(R"(200 {"workers":{"w":"http://w:1"},"drivers":{})"));
  EXPECT_EQ(ask("DELETE", "/configs", R"({"workers":{"w":""},"drivers":{}})"), "200 ");
  EXPECT_THAT(get("/configs"), StartsWith(R"(200 {"workers":{},"drivers":{})"));
  EXPECT_THAT(ask("PUT", "/configs", R"({"workers":7})"), StartsWith(R"(400 {"error":)"));
  EXPECT_THAT(ask("PUT", "/configs", "\"unfinished"), StartsWith(R"(400 {"error":)"));
  service_.configs_.reset();
  EXPECT_EQ(get("/configs"), "404 No configuration found");
  EXPECT_THAT(ask("DELETE", "/configs", R"({"workers":{},"drivers":{}})"), StartsWith("404 "));
}

TEST_F(ApiTest, TheRootLeadsToTheUserInterface) {
  for (const char* path : {"/", "/ui"}) {
    const http::Answer got = answer("GET", path);
    EXPECT_EQ(got.status, 302);
    EXPECT_EQ(got.headers.at("location"), "/ui/index.html");
  }
  EXPECT_THAT(get("/ui/index.html"), StartsWith("404 "));
  start({.assets = [](std::string_view path) -> std::optional<Asset> {
    if (path == "index.html") return Asset{"text/html", "<p>"};
    return std::nullopt;
  }});
  EXPECT_EQ(get("/ui/index.html"), "200 <p>");
  EXPECT_THAT(get("/ui/../../etc/passwd"), StartsWith("404 "));
}

// ---- what was added ----

TEST_F(ApiTest, ViolationsArePagedAndFiltered) {
  EXPECT_EQ(get("/proofs/aB3dE/violations?code=lost&key=Hk2Lp&since=1.5s&until=2m&after=3&limit=5"),
            R"(200 {"violations":[{"number":4,"code":"lost","established":false,"group":"group","key":"Hk2Lp","first":0,"last":0,)"
            R"("records":1,"positions":[{"partition":3,"offset":41}],"atMillis":0,"says":"sequence 20 was never received"}],)"
            R"("next":4,"total":9,"leftOut":2})");
  EXPECT_EQ(service_.asked_.code, core::Code::kLost);
  EXPECT_EQ(service_.asked_.key, "Hk2Lp");
  EXPECT_EQ(service_.asked_.since, std::chrono::milliseconds(1500));
  EXPECT_EQ(service_.asked_.until, std::chrono::minutes(2));
  EXPECT_EQ(service_.asked_.after, 3U);
  EXPECT_EQ(service_.asked_.most, 5U);
  EXPECT_EQ(get("/proofs/Xy12z/violations"), R"(200 {"violations":[],"next":null,"total":0,"leftOut":0})");
  EXPECT_EQ(service_.asked_.most, 100U);
  const std::string wrong = get("/proofs/aB3dE/violations?code=lots&since=soon&after=-1&limit=5000");
  for (const char* name : {"'code'", "'since'", "'after'", "'limit'"}) EXPECT_THAT(wrong, HasSubstr(name));
  EXPECT_THAT(wrong, StartsWith("400 "));
  EXPECT_THAT(get("/proofs/aB3dE/violations?limt=5"), HasSubstr("did you mean 'limit'?"));
}

TEST_F(ApiTest, AKeyIsShownWithItsRanges) {
  EXPECT_EQ(get("/proofs/aB3dE/keys/Hk2Lp"),
            R"(200 {"key":"Hk2Lp","issued":43,"acked":41,"ackedAt":{"partition":3,"offset":977},"unknown":[[42,42]],"failed":[],)"
            R"("groups":[{"name":"group","received":[[0,19],[23,41]],"watermark":20}]})");
  EXPECT_THAT(get("/proofs/aB3dE/keys/nobody"), StartsWith(R"(404 {"error":{"code":"not-found")"));
}

TEST_F(ApiTest, AFaultFromOutsideIsMarked) {
  EXPECT_THAT(ask("POST", "/proofs/aB3dE/faults", R"({"name":"kill-broker","target":"node 2"})"), StartsWith(R"(200 {"number":7,)"));
  EXPECT_EQ(service_.marked_.name, "kill-broker");
  EXPECT_FALSE(service_.effect_ || service_.end_);
  EXPECT_THAT(ask("POST", "/proofs/aB3dE/faults", R"({"number":7,"effect":"leader moved","end":true})"), StartsWith("200 "));
  EXPECT_EQ(service_.marked_.number, 7U);
  EXPECT_TRUE(service_.effect_ && service_.end_);
  const std::string wrong = ask("POST", "/proofs/aB3dE/faults", R"({"number":0,"end":"x","nome":"y","target":[]})");
  EXPECT_THAT(wrong, StartsWith("400 "));
  for (const char* said : {"no number of a fault", "neither true nor false", "unknown field 'nome'", "'target' is no text"})
    EXPECT_THAT(wrong, HasSubstr(said));
  EXPECT_THAT(ask("POST", "/proofs/aB3dE/faults", "{}"), HasSubstr("neither 'number' nor 'name'"));
  EXPECT_THAT(ask("POST", "/proofs/aB3dE/faults", "[]"), HasSubstr("is a JSON object"));
}

TEST_F(ApiTest, EventsGoOnBehindTheLastOne) {
  std::string ids;
  const auto note = [&](const http::Event& event) {
    ids += event.id + event.type + event.data + " ";
    return true;
  };
  ASSERT_TRUE(client_.follow({.url = url("/proofs/aB3dE/events")}, note).has_value());
  EXPECT_EQ(ids, R"(1tick{"n":1} 2tick{"n":2} 3tick{"n":3} )");
  ids.clear();
  ASSERT_TRUE(client_.follow({.url = url("/proofs/aB3dE/events?after=1"), .headers = {{"Last-Event-ID", "2"}}}, note).has_value());
  EXPECT_EQ(ids, R"(3tick{"n":3} )");
  EXPECT_THAT(ask("GET", "/proofs/aB3dE/events", "", {{"Last-Event-ID", "x"}}), StartsWith("400 "));
  EXPECT_EQ(answer("HEAD", "/proofs/aB3dE/events").headers.at("content-type"), "text/event-stream");
}

TEST_F(ApiTest, SaysHowItIs) {
  start({.version = "9.9", .metrics = [] { return std::string("up 1\n"); }});
  EXPECT_EQ(get("/healthz"), "200 ok");
  EXPECT_EQ(get("/readyz"), R"(200 {"ready":true,"reason":""})");
  service_.not_ready_ = "the state file is full";
  EXPECT_EQ(get("/readyz"), R"(503 {"ready":false,"reason":"the state file is full"})");
  EXPECT_EQ(get("/version"), R"(200 {"name":"streaming-proof","version":"9.9"})");
  EXPECT_EQ(get("/metrics"), "200 up 1\n");
  EXPECT_EQ(get("/proofs/aB3dE/result"), R"(200 {"verdict":"passed"})");
  EXPECT_THAT(get("/proofs/Xy12z/result"), StartsWith("409 "));
}

TEST_F(ApiTest, WhereNothingIsAnswersInTheSameShape) {
  EXPECT_EQ(get("/nothing"), R"(404 {"error":{"code":"not-found","message":"there is nothing at /nothing","faults":[]}})");
  const http::Answer wrong = answer("DELETE", "/proofs");
  EXPECT_EQ(wrong.status, 405);
  EXPECT_EQ(wrong.headers.at("allow"), "POST, GET");
  EXPECT_THAT(ask("POST", "/proofs", std::string(1'000'001, ' ')), StartsWith(R"(413 {"error":{"code":"full")"));
}

// ---- tokens ----

TEST_F(ApiTest, TokensDecideWhoMayDoWhat) {
  const auto tokens = Tokens::parse("# of this test\nread  reader-0123456789 grafana\nwrite writer-0123456789\n");
  ASSERT_TRUE(tokens.has_value()) << tokens.error().message;
  start({.tokens = *tokens});
  const http::Headers reader = {{"Authorization", "Bearer reader-0123456789"}};
  const http::Headers writer = {{"authorization", "bearer  writer-0123456789"}};
  for (const Endpoint& endpoint : endpoints()) {
    if (endpoint.response == "events" || endpoint.method == "DELETE") continue;
    std::string path(endpoint.pattern);
    if (const std::size_t at = path.find("{id}"); at != std::string::npos) path.replace(at, 4, kFull);
    if (const std::size_t at = path.find("{key}"); at != std::string::npos) path.replace(at, 5, "Hk2Lp");
    const std::string method(endpoint.method);
    const std::string body = R"({"name":"x","workers":{},"drivers":{}})";
    const auto status = [&](const http::Headers& headers) { return answer(method, path, body, headers).status; };
    const bool open = endpoint.role == Role::kOpen;
    EXPECT_EQ(status({}) == 401, !open) << path;
    EXPECT_EQ(status({{"Authorization", "Bearer unknown-0123456789"}}) == 401, !open) << path;
    EXPECT_EQ(status({{"Authorization", "Basic cmVhZGVyOng="}}) == 401, !open) << path;
    EXPECT_EQ(status(reader) == 403, endpoint.role == Role::kWrite) << path;
    EXPECT_NE(status(writer), 401) << path;
    EXPECT_NE(status(writer), 403) << path;
  }
  EXPECT_EQ(answer("DELETE", "/proofs/aB3dE", "", reader).status, 403);
  EXPECT_EQ(answer("GET", "/proofs").headers.at("www-authenticate"), "Bearer realm=\"streaming-proof\"");
  EXPECT_THAT(answer("PUT", "/configs", "{}", reader).headers.at("www-authenticate"), HasSubstr("insufficient_scope"));
  EXPECT_EQ(answer("GET", "/proofs/aB3dE/events").status, 401);
}

TEST(TokensTest, SayWhichLineIsWrongAndNotTheSecret) {
  for (const char* text : {"", "# nothing", "read", "admin abcdefghijklmnop", "read short", "read abcdefghijklmnop a b",
                           "read abcdefghijklmno\xC3\xA4", "read abcdefghijklmnop\nwrite abc"}) {
    const auto tokens = Tokens::parse(text);
    ASSERT_FALSE(tokens.has_value()) << text;
    EXPECT_THAT(tokens.error().message, HasSubstr("tokens"));
    EXPECT_THAT(tokens.error().message, Not(HasSubstr("abcdef")));
  }
}

}  // namespace
}  // namespace sp::api
