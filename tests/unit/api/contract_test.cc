// Every answer has the members that the contract says, of the types that it says, and the contract has no member that no answer
// has. The same rows make docs/reference/rest.md and the schemas of /openapi.json.
#include "api/contract.h"

#include <filesystem>
#include <fstream>
#include <set>

#include <gmock/gmock.h>

#include "api/endpoints.h"
#include "base/text.h"
#include "codec/json_tree.h"
#include "unit/api/api_fixture.h"

namespace sp::api {
namespace {

using codec::JsonNode;
using Kind = codec::JsonNode::Kind;

// Compares a JSON text with a type, and remembers which rows it has met.
class Checker {
 public:
  // What does not fit, each with its path.
  std::vector<std::string> check(std::string_view json, std::string_view type) {
    wrong_.clear();
    if (const auto fault = tree_.parse(json)) {
      wrong_.push_back("no JSON: " + fault->reason);
    } else {
      value(0, type, "$");
    }
    return wrong_;
  }
  [[nodiscard]] std::vector<std::string> never_met() const {
    std::vector<std::string> rows;
    for (const FieldRow& row : field_rows()) {
      std::string name = std::string(row.object) + "." + std::string(row.name);
      if (!met_.contains(name)) rows.push_back(std::move(name));
    }
    return rows;
  }

 private:
  const JsonNode& node(std::size_t index) const { return tree_.nodes()[index]; }
  std::vector<std::size_t> children(std::size_t index) const {
    std::vector<std::size_t> found;
    for (std::size_t at = index + 1; at < node(index).end; at = node(at).end) found.push_back(at);
    return found;
  }
  void expect(bool fits, const std::string& path, std::string_view type) {
    if (!fits) wrong_.push_back(path + " is no " + std::string(type));
  }

  void value(std::size_t index, std::string_view type, const std::string& path) {
    const Kind kind = node(index).kind;
    if (type.ends_with('?')) {
      if (kind == Kind::kNull) return;
      type.remove_suffix(1);
    }
    if (type == "any") return;
    if (type == "string") return expect(kind == Kind::kString, path, type);
    if (type == "boolean") return expect(kind == Kind::kBool, path, type);
    const bool whole = kind == Kind::kUnsigned || kind == Kind::kNegative;
    if (type == "integer") return expect(whole, path, type);
    if (type == "number") return expect(whole || kind == Kind::kReal, path, type);
    if (type.front() == '[' || type.front() == '{') {
      const bool fits = kind == (type.front() == '[' ? Kind::kArray : Kind::kObject);
      expect(fits, path, type);
      if (!fits) return;
      for (const std::size_t child : children(index)) value(child, type.substr(1, type.size() - 2), path + "[]");
      return;
    }
    if (kind != Kind::kObject) return expect(false, path, type);
    object(index, type, path);
  }

  void object(std::size_t index, std::string_view type, const std::string& path) {
    std::vector<FieldRow> rows;
    if (type == "ListedProof") rows.assign(fields_of("Proof").begin(), fields_of("Proof").end());
    rows.insert(rows.end(), fields_of(type).begin(), fields_of(type).end());
    if (rows.empty()) wrong_.push_back("the contract has no object " + std::string(type));
    std::set<std::string_view> names;
    for (const std::size_t child : children(index)) {
      const std::string_view name = node(child).name;
      names.insert(name);
      const auto row = std::find_if(rows.begin(), rows.end(), [&](const FieldRow& each) { return each.name == name; });
      if (row == rows.end()) {
        wrong_.push_back(path + "." + std::string(name) + " is not in the contract");
        continue;
      }
      met_.insert(std::string(row->object) + "." + std::string(name));
      value(child, row->type, path + "." + std::string(name));
    }
    for (const FieldRow& row : rows) {
      if (!row.optional && !names.contains(row.name)) wrong_.push_back(path + "." + std::string(row.name) + " is missing");
    }
  }

  codec::JsonTree tree_;
  std::vector<std::string> wrong_;
  std::set<std::string> met_;
};

class ContractTest : public ApiTest {
 protected:
  // The endpoint's path for a proof.
  static std::string path_of(const Endpoint& endpoint, const std::string& id) {
    std::string path(endpoint.pattern);
    if (const std::size_t at = path.find("{id}"); at != std::string::npos) path.replace(at, 4, id);
    if (const std::size_t at = path.find("{key}"); at != std::string::npos) path.replace(at, 5, id == kFull ? "Hk2Lp" : "Zz9Yy");
    if (const std::size_t at = path.find("{path*}"); at != std::string::npos) path.replace(at, 7, "index.html");
    return path;
  }
};

TEST_F(ContractTest, EveryAnswerHasItsMembersAndEveryMemberIsAnswered) {
  using testing::IsEmpty;
  start({.assets = [](std::string_view) { return std::optional(Asset{"text/html", "<p>"}); }});
  Checker checker;
  for (const bool deletes : {false, true}) {  // what deletes comes last
    for (const Endpoint& endpoint : endpoints()) {
      if ((endpoint.method == "DELETE") != deletes || endpoint.response == "events") continue;
      for (const char* id : {kFull, kPlain}) {
        const std::string body = endpoint.body.starts_with("Config") ? R"({"workers":{},"drivers":{}})" : R"({"name":"x"})";
        const http::Answer got = answer(std::string(endpoint.method), path_of(endpoint, id), endpoint.body.empty() ? "" : body);
        const std::string what = std::string(endpoint.method) + " " + path_of(endpoint, id);
        if (endpoint.response == "redirect") {
          EXPECT_EQ(got.status, 302) << what;
        } else if (endpoint.response.empty()) {
          EXPECT_EQ(std::to_string(got.status) + got.body, "200") << what;
        } else if (got.status == 200 && endpoint.response != "text" && endpoint.response != "file") {
          EXPECT_EQ(got.headers.at("content-type"), "application/json") << what;
          EXPECT_THAT(checker.check(got.body, endpoint.response), IsEmpty()) << what;
        } else {
          EXPECT_TRUE(got.status == 200 || (endpoint.pattern.ends_with("result") && got.status == 409)) << what << " " << got.status;
        }
        if (endpoint.pattern == "/configs" && endpoint.method == "PUT") service_.configs_ = FakeService().configs_;
      }
    }
  }
  EXPECT_THAT(checker.check(ask("POST", "/proofs", R"({"name":"bad"})").substr(4), "Failure"), IsEmpty());
  EXPECT_THAT(checker.never_met(), IsEmpty());
}

TEST_F(ContractTest, TheCheckerFindsWhatDoesNotFit) {
  Checker checker;
  const std::string good = R"({"name":"a","version":"b"})";
  EXPECT_THAT(checker.check(good, "Version"), testing::IsEmpty());
  for (const char* bad : {R"({"name":"a"})", R"({"name":"a","version":1})", R"({"name":"a","version":"b","more":1})", "[]", "{"})
    EXPECT_EQ(checker.check(bad, "Version").size(), 1U) << bad;
  EXPECT_THAT(checker.check(R"({"a":[{"b":-1}]})", "{[{integer}]}"), testing::IsEmpty());
  EXPECT_EQ(checker.check(R"({"a":[{"b":1.5}]})", "{[{integer}]}").size(), 1U);
}

// The members of the reference's example of a report (its embedded proof is another example's).
TEST_F(ContractTest, TheReportHasAllMembersOfTheReference) {
  constexpr std::string_view kNames =
      "proof status resultReason clusterTargets role driverName driverType endpoints summary verified errors outOfOrders missed "
      "duplicates writeDuplicates timeouts verifiedStallSeconds maxVerifiedStallSeconds checkpointSummary inCheckKeys "
      "latestProducerKeys latestConsumerKeys verifiedProducerKeys verifiedConsumerKeys failedProducerKeys failedConsumerKeys "
      "performanceSummary elapsedSeconds plannedDurationSeconds remainingSeconds progressPercent targetMsgRate publishedMessages "
      "publishErrors publishAttempts consumedMessages backlogMessages verifiedMessages publishRate consumeRate publishErrorRate "
      "verifyRate publishBytesRate consumeBytesRate publishLatency count avg p50 p95 p99 max endToEndLatency timeSeries "
      "publishLatencyP95 publishLatencyP99 endToEndLatencyP95 endToEndLatencyP99 "
      "id name driver drivers features description topic partitions producers consumers msgRate keys messageSize checkPointInterval "
      "timeout consumeDelay duration finalWaitSeconds startTime timeSeriesInterval maxStallSeconds webhookConfig pulsar kafka";
  codec::JsonTree tree;
  ASSERT_FALSE(tree.parse(get("/proofs/aB3dE/report").substr(4)).has_value());
  std::set<std::string_view> said;
  for (const JsonNode& node : tree.nodes()) said.insert(node.name);
  for (const std::string_view name : split(kNames, {.separator = ' '})) EXPECT_TRUE(said.contains(name)) << name;
}

TEST_F(ContractTest, EveryRowThatIsCorrectedSaysWhy) {
  for (const FieldRow& row : field_rows())
    EXPECT_EQ(row.standing == Standing::kCorrected && row.note.empty(), false) << row.object << "." << row.name;
  for (const Endpoint& row : endpoints())
    EXPECT_EQ(row.standing == Standing::kCorrected && row.note.empty(), false) << row.method << " " << row.pattern;
}

TEST_F(ContractTest, OpenApiHasEveryEndpointAndEverySchemaThatItNames) {
  const std::string document = get("/openapi.json").substr(4);
  codec::JsonTree tree;
  ASSERT_FALSE(tree.parse(document).has_value());
  for (const Endpoint& endpoint : endpoints()) {
    std::string path(endpoint.pattern);
    if (const std::size_t star = path.find("*}"); star != std::string::npos) path.erase(star, 1);
    EXPECT_THAT(document, testing::HasSubstr("\"" + path + "\":{"));
  }
  std::set<std::string> named;
  std::set<std::string> there;
  for (const JsonNode& node : tree.nodes()) {
    if (node.name == "$ref") named.insert(std::string(node.text.substr(node.text.rfind('/') + 1)));
  }
  for (const FieldRow& row : field_rows()) there.insert(std::string(row.object));
  for (const std::string& name : named) EXPECT_TRUE(there.contains(name)) << name;
}

TEST(RestPageTest, IsWhatTheTablesSay) {
  const std::filesystem::path page = std::filesystem::path(__FILE__).parent_path() / "../../../docs/reference/rest.md";
  std::ifstream file(page);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  EXPECT_TRUE(text == rest_markdown()) << "the tables have changed; write api::rest_markdown() to docs/reference/rest.md";
}

}  // namespace
}  // namespace sp::api
