#include "store/database.h"

#include <fmt/core.h>
#include <sqlite3.h>

namespace sp::store {
namespace {

constexpr int kBusyMilliseconds = 2'000;

Error error_of(sqlite3* database, int code, const std::filesystem::path* file) {
  const char* const words = database != nullptr ? sqlite3_errmsg(database) : sqlite3_errstr(code);
  const std::string where = file != nullptr ? file->string() + ": " : std::string();
  switch (code & 0xff) {
    case SQLITE_FULL:
      return {ErrorCode::kFull,
              fmt::format("{}the disk is full ({}): make room, then start again; nothing that was kept is lost", where, words)};
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {ErrorCode::kExists,
              fmt::format("{}another process has it open ({}): stop that one, or choose another --state", where, words)};
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      return {ErrorCode::kParse, fmt::format("{}it is damaged or no state file ({}): nothing was changed; move it away, or take "
                                             "a copy that is whole",
                                             where, words)};
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
      return {ErrorCode::kIo, fmt::format("{}it cannot be opened for writing ({}): look at the rights of the folder", where, words)};
    default:
      return {ErrorCode::kIo, fmt::format("{}{}", where, words)};
  }
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Statement& Statement::bind(int at, std::int64_t number) {
  sqlite3_bind_int64(statement_.get(), at, number);
  return *this;
}

Statement& Statement::bind(int at, std::string_view text) {
  sqlite3_bind_text64(statement_.get(), at, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  return *this;
}

Statement& Statement::bind_bytes(int at, std::string_view bytes) {
  sqlite3_bind_blob64(statement_.get(), at, bytes.data(), bytes.size(), SQLITE_STATIC);
  return *this;
}

Statement& Statement::bind_null(int at) {
  sqlite3_bind_null(statement_.get(), at);
  return *this;
}

Result<bool> Statement::next() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  Error error;
  if (code != SQLITE_DONE) error = error_of(database_, sqlite3_extended_errcode(database_), nullptr);
  reset();
  if (code == SQLITE_DONE) return false;
  return tl::unexpected(std::move(error));
}

Result<void> Statement::run() {
  auto row = next();
  if (!row) return tl::unexpected(std::move(row).error());
  if (*row) reset();
  return {};
}

void Statement::reset() {
  sqlite3_reset(statement_.get());
  sqlite3_clear_bindings(statement_.get());
}

std::int64_t Statement::number(int column) const { return sqlite3_column_int64(statement_.get(), column); }

std::string Statement::text(int column) const {
  const void* const bytes = sqlite3_column_blob(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return bytes == nullptr ? std::string() : std::string(static_cast<const char*>(bytes), static_cast<std::size_t>(size));
}

bool Statement::is_null(int column) const { return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL; }

void Database::Close::operator()(sqlite3* database) const { sqlite3_close_v2(database); }

Result<Database> Database::open(const std::filesystem::path& file) {
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(file.c_str(), &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX, nullptr);
  std::unique_ptr<sqlite3, Close> owned(raw);
  if (code != SQLITE_OK) return tl::unexpected(error_of(raw, code, &file));
  sqlite3_extended_result_codes(raw, 1);
  sqlite3_busy_timeout(raw, kBusyMilliseconds);
  Database database(std::move(owned), file);
  // An exclusive lock, taken with the first write: two coordinators must not go on with the same proofs.
  auto prepared = database.execute(
      "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; "
      "PRAGMA foreign_keys=ON; BEGIN IMMEDIATE; COMMIT;");
  if (!prepared) return tl::unexpected(std::move(prepared).error());
  return database;
}

Result<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(database_.get(), sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
  if (code != SQLITE_OK) return tl::unexpected(error_of(database_.get(), sqlite3_extended_errcode(database_.get()), &file_));
  return Statement(database_.get(), statement);
}

Result<void> Database::execute(const std::string& sql) {
  const int code = sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code == SQLITE_OK) return {};
  return tl::unexpected(error_of(database_.get(), sqlite3_extended_errcode(database_.get()), &file_));
}

Result<std::int64_t> Database::version() {
  auto statement = prepare("PRAGMA user_version");
  if (!statement) return tl::unexpected(std::move(statement).error());
  auto row = statement->next();
  if (!row) return tl::unexpected(std::move(row).error());
  return *row ? statement->number(0) : 0;
}

}  // namespace sp::store
