#include "store/state.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "support/tiny_disk.h"
#include "sys/files.h"

namespace sp::store {
namespace {

using control::Input;
using control::InputKind;
using control::PortCall;

class StateTest : public testing::Test {
 protected:
  StateTest() : folder_(*sys::TemporaryFolder::make("sp-state-test")) {}

  [[nodiscard]] std::filesystem::path path() const { return folder_.path() / "state"; }
  void open() {
    state_.reset();  // it is held exclusively
    auto opened = State::open(path());
    ASSERT_TRUE(opened) << opened.error().message;
    state_ = std::move(*opened);
  }
  static ProofRow proof(const std::string& id) {
    return {id, 0xFFFF'FFFF'FFFF'FFF0, "{\"a\":1}", "streaming-proof 1", "{}", 77, std::nullopt};
  }
  static Input step(std::int64_t at) { return {InputKind::kStep, PortCall::kNone, 0, at, {}}; }

  sys::TemporaryFolder folder_;
  std::unique_ptr<State> state_;
};

TEST_F(StateTest, ConfigurationsSurvive) {
  open();
  EXPECT_FALSE(*state_->configs("told"));
  ASSERT_TRUE(state_->put_configs("told", "{}"));
  ASSERT_TRUE(state_->put_configs("told", "{\"workers\":{}}"));
  open();
  EXPECT_EQ(*state_->configs("told"), "{\"workers\":{}}");
  EXPECT_FALSE(*state_->configs("folder"));
}

TEST_F(StateTest, ProofsSurviveInTheirOrder) {
  open();
  ASSERT_TRUE(state_->add_proof(proof("zzzzz")));
  ASSERT_TRUE(state_->add_proof(proof("aaaaa")));
  ASSERT_TRUE(state_->archive_proof("aaaaa", "{\"head\":{}}"));
  open();
  const auto rows = *state_->proofs();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].id, "zzzzz");
  EXPECT_EQ(rows[0].run, 0xFFFF'FFFF'FFFF'FFF0);
  EXPECT_EQ(rows[0].submission, "{\"a\":1}");
  EXPECT_EQ(rows[0].program, "streaming-proof 1");
  EXPECT_EQ(rows[0].created, 77);
  EXPECT_FALSE(rows[0].archive);
  EXPECT_EQ(rows[1].archive, "{\"head\":{}}");
}

TEST_F(StateTest, AnIdIsTakenOnce) {
  open();
  ASSERT_TRUE(state_->add_proof(proof("aaaaa")));
  EXPECT_EQ(state_->add_proof(proof("aaaaa")).error().code, ErrorCode::kExists);
  ASSERT_TRUE(state_->remove_proof("aaaaa"));
  EXPECT_TRUE(state_->add_proof(proof("aaaaa")));
}

TEST_F(StateTest, WhatWasCommittedIsReplayedAndNothingElse) {
  open();
  ASSERT_TRUE(state_->add_proof(proof("aaaaa")));
  const std::string bytes("\0\x01\xff", 3);
  {
    auto log = state_->inputs("aaaaa");
    EXPECT_FALSE(*log->replay());
    log->append({InputKind::kAnswer, PortCall::kPoll, 3, 0, bytes});
    log->append(step(-5));
    ASSERT_TRUE(log->commit());
    log->append(step(6));  // never committed: as if the process had died here
  }
  open();
  auto log = state_->inputs("aaaaa");
  const auto first = *log->replay();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->kind, InputKind::kAnswer);
  EXPECT_EQ(first->call, PortCall::kPoll);
  EXPECT_EQ(first->worker, 3U);
  EXPECT_EQ(first->bytes, bytes);
  const auto second = *log->replay();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->value, -5);
  EXPECT_FALSE(*log->replay());
  EXPECT_EQ(log->count(), 2U);
  log->append(step(7));
  ASSERT_TRUE(log->commit());
  auto again = state_->inputs("aaaaa");
  std::int64_t last = 0;
  while (auto input = *again->replay()) last = input->value;
  EXPECT_EQ(last, 7);
  EXPECT_EQ(again->count(), 3U);
}

TEST_F(StateTest, AReplayLongerThanWhatIsReadAtOnceIsWhole) {
  open();
  ASSERT_TRUE(state_->add_proof(proof("aaaaa")));
  auto log = state_->inputs("aaaaa");
  EXPECT_FALSE(*log->replay());
  for (std::int64_t i = 0; i < 2'500; ++i) log->append(step(i));
  ASSERT_TRUE(log->commit());
  auto again = state_->inputs("aaaaa");
  std::int64_t expected = 0;
  while (auto input = *again->replay()) EXPECT_EQ(input->value, expected++);
  EXPECT_EQ(expected, 2'500);
}

TEST_F(StateTest, LogsOfTwoProofsAreApart) {
  open();
  ASSERT_TRUE(state_->add_proof(proof("aaaaa")));
  ASSERT_TRUE(state_->add_proof(proof("bbbbb")));
  auto a = state_->inputs("aaaaa");
  auto b = state_->inputs("bbbbb");
  a->append(step(1));
  b->append(step(2));
  ASSERT_TRUE(a->commit());
  ASSERT_TRUE(b->commit());
  EXPECT_EQ((*state_->inputs("aaaaa")->replay())->value, 1);
  ASSERT_TRUE(state_->archive_proof("aaaaa", "{}"));
  EXPECT_FALSE(*state_->inputs("aaaaa")->replay());
  EXPECT_EQ((*state_->inputs("bbbbb")->replay())->value, 2);
  ASSERT_TRUE(state_->remove_proof("bbbbb"));
  EXPECT_FALSE(*state_->inputs("bbbbb")->replay());
}

TEST_F(StateTest, TwoProcessesDoNotShareIt) {
  open();
  const auto second = State::open(path());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kExists);
  EXPECT_NE(second.error().message.find("another process"), std::string::npos) << second.error().message;
}

TEST_F(StateTest, AFileOfANewerVersionIsLeftAlone) {
  open();
  state_.reset();
  {
    auto database = Database::open(path() / "state.db");
    ASSERT_TRUE(database);
    ASSERT_TRUE(database->execute("PRAGMA user_version=999;"));
  }
  const auto opened = State::open(path());
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kUnsupported);
  auto database = Database::open(path() / "state.db");
  EXPECT_EQ(*database->version(), 999);
}

TEST_F(StateTest, WhatIsNoDatabaseIsNotTouched) {
  std::filesystem::create_directories(path());
  const std::string text(8'192, 'x');
  std::ofstream(path() / "state.db") << text;
  const auto opened = State::open(path());
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kParse) << opened.error().message;
  EXPECT_NE(opened.error().message.find("state.db"), std::string::npos);
  EXPECT_EQ(std::filesystem::file_size(path() / "state.db"), text.size());
}

TEST_F(StateTest, AnInputOfAnUnknownKindIsRefused) {
  open();
  ASSERT_TRUE(state_->add_proof(proof("aaaaa")));
  auto log = state_->inputs("aaaaa");
  log->append(step(1));
  ASSERT_TRUE(log->commit());
  state_.reset();
  {
    auto database = Database::open(path() / "state.db");
    ASSERT_TRUE(database->execute("UPDATE inputs SET kind = 99;"));
  }
  open();
  EXPECT_EQ(state_->inputs("aaaaa")->replay().error().code, ErrorCode::kParse);
}

TEST(StateOnAFullDiskTest, SaysSoAndGoesOnWhereItWasOnceThereIsRoom) {
  const support::TinyDisk disk;
  ASSERT_EQ(disk.problem(), "") << "this test mounts a small disk: run it as root";
  auto state = State::open(disk.path());
  ASSERT_TRUE(state) << state.error().message;
  ASSERT_TRUE((*state)->add_proof({"aaaaa", 1, "{}", "p", "{}", 1, std::nullopt}));
  auto log = (*state)->inputs("aaaaa");
  ASSERT_FALSE(*log->replay());
  disk.fill(0);
  std::uint64_t appended = 0;
  Result<void> done;
  while (done && appended < 1'000) {  // what the file has room for already
    log->append({InputKind::kAnswer, PortCall::kPoll, 0, static_cast<std::int64_t>(++appended), std::string(10'000, 'x')});
    done = log->commit();
  }
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::kFull);
  EXPECT_NE(done.error().message.find("the disk is full"), std::string::npos) << done.error().message;
  EXPECT_FALSE(log->commit()) << "it is still full";
  disk.make_room();
  ASSERT_TRUE(log->commit());
  auto again = (*state)->inputs("aaaaa");
  std::int64_t expected = 0;
  while (auto input = *again->replay()) EXPECT_EQ(input->value, ++expected);
  EXPECT_EQ(static_cast<std::uint64_t>(expected), appended) << "each once";
}

TEST_F(StateTest, AMissingInputIsNoticed) {
  open();
  ASSERT_TRUE(state_->add_proof(proof("aaaaa")));
  auto log = state_->inputs("aaaaa");
  for (std::int64_t i = 0; i < 3; ++i) log->append(step(i));
  ASSERT_TRUE(log->commit());
  state_.reset();
  {
    auto database = Database::open(path() / "state.db");
    ASSERT_TRUE(database->execute("DELETE FROM inputs WHERE number = 2;"));
  }
  open();
  auto again = state_->inputs("aaaaa");
  EXPECT_EQ(again->replay().error().code, ErrorCode::kParse);
}

}  // namespace
}  // namespace sp::store
