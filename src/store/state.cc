#include "store/state.h"

#include <algorithm>
#include <array>
#include <deque>
#include <utility>

#include <fmt/core.h>

#include "sys/files.h"

namespace sp::store {
namespace {

constexpr std::size_t kReadAhead = 1'000;  // inputs of a replay

// What turns a file of version i into one of version i + 1. A step that was released never changes.
constexpr std::array<const char*, kStateVersion> kSteps = {
    R"(CREATE TABLE configs (layer TEXT PRIMARY KEY, json TEXT NOT NULL) STRICT;
       CREATE TABLE proofs (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, run INTEGER NOT NULL, submission TEXT NOT NULL,
                            program TEXT NOT NULL, world TEXT NOT NULL, created INTEGER NOT NULL, archive TEXT) STRICT;
       CREATE TABLE inputs (proof INTEGER NOT NULL REFERENCES proofs(number) ON DELETE CASCADE, number INTEGER NOT NULL,
                            kind INTEGER NOT NULL, call INTEGER NOT NULL, worker INTEGER NOT NULL, value INTEGER NOT NULL,
                            bytes BLOB NOT NULL, PRIMARY KEY (proof, number)) STRICT, WITHOUT ROWID;)",
};

Result<control::Input> input_of(const Statement& row) {
  control::Input input;
  const auto kind = row.number(1);
  const auto call = row.number(2);
  if (kind < 1 || kind > static_cast<std::int64_t>(control::InputKind::kFault) || call < 0 ||
      call > static_cast<std::int64_t>(control::PortCall::kRemove)) {
    return fail(ErrorCode::kParse,
                fmt::format("input {} is of kind {} and call {}, which this program does not know", row.number(0), kind, call));
  }
  input.kind = static_cast<control::InputKind>(kind);
  input.call = static_cast<control::PortCall>(call);
  input.worker = static_cast<std::uint32_t>(row.number(3));
  input.value = row.number(4);
  input.bytes = row.text(5);
  return input;
}

}  // namespace

class State::Inputs final : public control::InputLog {
 public:
  Inputs(State& state, std::string_view id) : state_(state), id_(id) {}

  Result<std::optional<control::Input>> replay() override {
    if (ahead_.empty() && !replayed_) {
      auto read = state_.read_inputs(id_, count_, kReadAhead);
      if (!read) return tl::unexpected(std::move(read).error());
      ahead_.assign(std::make_move_iterator(read->begin()), std::make_move_iterator(read->end()));
      replayed_ = ahead_.empty();
    }
    if (ahead_.empty()) return std::optional<control::Input>();
    control::Input next = std::move(ahead_.front());
    ahead_.pop_front();
    ++count_;
    return std::optional(std::move(next));
  }
  void append(control::Input input) override {
    pending_.push_back(std::move(input));
    ++count_;
  }
  [[nodiscard]] std::uint64_t count() const override { return count_; }
  Result<void> commit() override {
    if (pending_.empty()) return {};
    auto done = state_.commit_inputs(id_, count_ - pending_.size() + 1, pending_);
    if (done) pending_.clear();
    return done;
  }

 private:
  State& state_;
  const std::string id_;
  std::uint64_t count_ = 0;
  bool replayed_ = false;
  std::deque<control::Input> ahead_;
  std::vector<control::Input> pending_;
};

Result<std::unique_ptr<State>> State::open(const std::filesystem::path& folder) {
  if (auto made = sys::make_folders(folder); !made) return fail_up(std::move(made), "--state");
  auto database = Database::open(folder / "state.db");
  if (!database) return tl::unexpected(std::move(database).error());
  std::unique_ptr<State> state(new State(std::move(*database)));
  if (auto migrated = state->migrate(); !migrated) return tl::unexpected(std::move(migrated).error());
  return state;
}

Result<void> State::migrate() {
  auto version = database_.version();
  if (!version) return tl::unexpected(std::move(version).error());
  if (*version > kStateVersion) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("{} is of version {}, this program knows {}: use the newer program that wrote it; nothing was changed",
                            database_.file().string(), *version, kStateVersion));
  }
  for (auto step = std::max<std::int64_t>(0, *version); step < kStateVersion; ++step) {
    auto done = database_.execute(
        fmt::format("BEGIN IMMEDIATE; {} PRAGMA user_version={}; COMMIT;", kSteps[static_cast<std::size_t>(step)], step + 1));
    if (done) continue;
    static_cast<void>(database_.execute("ROLLBACK;"));
    return fail_up(std::move(done), fmt::format("{}: bringing it to version {}", database_.file().string(), step + 1));
  }
  return {};
}

Result<void> State::run(std::string_view sql, std::string_view first, std::string_view second) {
  const std::lock_guard lock(mutex_);
  auto statement = database_.prepare(sql);
  if (!statement) return tl::unexpected(std::move(statement).error());
  statement->bind(1, first);
  if (!second.empty()) statement->bind(2, second);
  return statement->run();
}

Result<std::optional<std::string>> State::configs(std::string_view layer) {
  const std::lock_guard lock(mutex_);
  auto statement = database_.prepare("SELECT json FROM configs WHERE layer = ?");
  if (!statement) return tl::unexpected(std::move(statement).error());
  auto row = statement->bind(1, layer).next();
  if (!row) return tl::unexpected(std::move(row).error());
  if (!*row) return std::optional<std::string>();
  return std::optional(statement->text(0));
}

Result<void> State::put_configs(std::string_view layer, std::string_view json) {
  return run("INSERT INTO configs VALUES (?1, ?2) ON CONFLICT (layer) DO UPDATE SET json = ?2", layer, json);
}

Result<std::vector<ProofRow>> State::proofs() {
  const std::lock_guard lock(mutex_);
  auto statement = database_.prepare("SELECT id, run, submission, program, world, created, archive FROM proofs ORDER BY number");
  if (!statement) return tl::unexpected(std::move(statement).error());
  std::vector<ProofRow> rows;
  for (;;) {
    auto row = statement->next();
    if (!row) return tl::unexpected(std::move(row).error());
    if (!*row) return rows;
    ProofRow proof;
    proof.id = statement->text(0);
    proof.run = static_cast<std::uint64_t>(statement->number(1));
    proof.submission = statement->text(2);
    proof.program = statement->text(3);
    proof.world = statement->text(4);
    proof.created = statement->number(5);
    if (!statement->is_null(6)) proof.archive = statement->text(6);
    rows.push_back(std::move(proof));
  }
}

Result<void> State::add_proof(const ProofRow& proof) {
  const std::lock_guard lock(mutex_);
  auto there = database_.prepare("SELECT 1 FROM proofs WHERE id = ?");
  if (!there) return tl::unexpected(std::move(there).error());
  auto row = there->bind(1, proof.id).next();
  if (!row) return tl::unexpected(std::move(row).error());
  if (*row) return fail(ErrorCode::kExists, fmt::format("there is a proof {} already", proof.id));
  auto insert =
      database_.prepare("INSERT INTO proofs (id, run, submission, program, world, created, archive) VALUES (?, ?, ?, ?, ?, ?, ?)");
  if (!insert) return tl::unexpected(std::move(insert).error());
  insert->bind(1, proof.id).bind(2, static_cast<std::int64_t>(proof.run)).bind(3, proof.submission).bind(4, proof.program);
  insert->bind(5, proof.world).bind(6, proof.created);
  if (proof.archive) {
    insert->bind(7, *proof.archive);
  } else {
    insert->bind_null(7);
  }
  return insert->run();
}

Result<void> State::archive_proof(std::string_view id, std::string_view archive) {
  const std::lock_guard lock(mutex_);
  auto begun = database_.execute("BEGIN IMMEDIATE;");
  if (!begun) return begun;
  auto done = [&]() -> Result<void> {
    auto update = database_.prepare("UPDATE proofs SET archive = ? WHERE id = ?");
    if (!update) return tl::unexpected(std::move(update).error());
    if (auto updated = update->bind(1, archive).bind(2, id).run(); !updated) return updated;
    auto erase = database_.prepare("DELETE FROM inputs WHERE proof = (SELECT number FROM proofs WHERE id = ?)");
    if (!erase) return tl::unexpected(std::move(erase).error());
    return erase->bind(1, id).run();
  }();
  if (done) done = database_.execute("COMMIT;");
  if (!done) static_cast<void>(database_.execute("ROLLBACK;"));
  return done;
}

Result<void> State::remove_proof(std::string_view id) { return run("DELETE FROM proofs WHERE id = ?", id, {}); }

std::unique_ptr<control::InputLog> State::inputs(std::string_view id) { return std::make_unique<Inputs>(*this, id); }

Result<void> State::commit_inputs(std::string_view id, std::uint64_t first, const std::vector<control::Input>& inputs) {
  const std::lock_guard lock(mutex_);
  auto begun = database_.execute("BEGIN IMMEDIATE;");
  if (!begun) return begun;
  auto done = [&]() -> Result<void> {
    auto insert = database_.prepare("INSERT INTO inputs SELECT proofs.number, ?2, ?3, ?4, ?5, ?6, ?7 FROM proofs WHERE id = ?1");
    if (!insert) return tl::unexpected(std::move(insert).error());
    std::uint64_t number = first;
    for (const control::Input& input : inputs) {
      insert->bind(1, id).bind(2, static_cast<std::int64_t>(number++)).bind(3, static_cast<std::int64_t>(input.kind));
      insert->bind(4, static_cast<std::int64_t>(input.call)).bind(5, static_cast<std::int64_t>(input.worker));
      insert->bind(6, input.value).bind_bytes(7, input.bytes);
      if (auto inserted = insert->run(); !inserted) return inserted;
    }
    return {};
  }();
  if (done) done = database_.execute("COMMIT;");
  if (!done) static_cast<void>(database_.execute("ROLLBACK;"));
  return done;
}

Result<std::vector<control::Input>> State::read_inputs(std::string_view id, std::uint64_t after, std::size_t most) {
  const std::lock_guard lock(mutex_);
  auto select = database_.prepare(
      "SELECT inputs.number, kind, call, worker, value, bytes FROM inputs JOIN proofs ON inputs.proof = proofs.number "
      "WHERE proofs.id = ? AND inputs.number > ? ORDER BY inputs.number LIMIT ?");
  if (!select) return tl::unexpected(std::move(select).error());
  select->bind(1, id).bind(2, static_cast<std::int64_t>(after)).bind(3, static_cast<std::int64_t>(most));
  std::vector<control::Input> inputs;
  for (;;) {
    auto row = select->next();
    if (!row) return tl::unexpected(std::move(row).error());
    if (!*row) return inputs;
    const std::uint64_t expected = after + inputs.size() + 1;
    if (static_cast<std::uint64_t>(select->number(0)) != expected) {
      return fail(ErrorCode::kParse, fmt::format("{}: input {} of proof {} is missing", database_.file().string(), expected, id));
    }
    auto input = input_of(*select);
    if (!input) return fail_up(std::move(input), fmt::format("{}: proof {}", database_.file().string(), id));
    inputs.push_back(std::move(*input));
  }
}

}  // namespace sp::store
