// One SQLite database and its statements, closed when they go.
//
//     Statement put = *db.prepare("INSERT INTO t VALUES (?, ?)");
//     put.bind(1, 7).bind(2, "x").run()
//
// Cost:     SQLite's.   Limits: a text or blob of 1 GB.
// Errors:   kIo with SQLite's own words and what to do: disk full (kFull), a file that is no database or is damaged (kParse),
//           somebody else has it (kExists).
// Threads:  one at a time; whoever shares it has the lock.   Source: sqlite.org, the C interface.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace sp::store {

class Statement {
 public:
  Statement& bind(int at, std::int64_t number);
  Statement& bind(int at, std::string_view text);
  // The bytes must live until run() or next() returned.
  Statement& bind_bytes(int at, std::string_view bytes);
  Statement& bind_null(int at);

  // Executes it; what was bound is forgotten.
  [[nodiscard]] Result<void> run();
  // True: there is a row, whose columns can be read; false: that was the last, what was bound is forgotten.
  [[nodiscard]] Result<bool> next();
  [[nodiscard]] std::int64_t number(int column) const;
  [[nodiscard]] std::string text(int column) const;  // or bytes
  [[nodiscard]] bool is_null(int column) const;
  // Done with it before its last row.
  void reset();

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  Statement(sqlite3* database, sqlite3_stmt* statement) : database_(database), statement_(statement) {}

  sqlite3* database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

class Database {
 public:
  // Opens or makes it, in WAL mode, with every commit on disk before it returns. Held exclusively.
  [[nodiscard]] static Result<Database> open(const std::filesystem::path& file);

  [[nodiscard]] Result<Statement> prepare(std::string_view sql);
  // Several statements without parameters.
  [[nodiscard]] Result<void> execute(const std::string& sql);
  // `PRAGMA user_version`.
  [[nodiscard]] Result<std::int64_t> version();
  [[nodiscard]] const std::filesystem::path& file() const { return file_; }

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  Database(std::unique_ptr<sqlite3, Close> database, std::filesystem::path file) : database_(std::move(database)), file_(std::move(file)) {}

  std::unique_ptr<sqlite3, Close> database_;
  std::filesystem::path file_;
};

}  // namespace sp::store
