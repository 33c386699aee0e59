#include "history/foreign/foreign.h"

#include <utility>

#include <fmt/core.h>

#include "history/file_source.h"
#include "history/foreign/jepsen.h"
#include "history/foreign/verifiable.h"
#include "history/new_file.h"

namespace sp::history {
namespace {

Result<std::unique_ptr<codec::ByteSource>> open_foreign(const std::filesystem::path& path) {
  auto file = sys::InputFile::open(path);
  if (!file) return tl::unexpected(std::move(file).error());
  return std::make_unique<FileSource>(std::move(*file));
}

}  // namespace

std::optional<ForeignKind> find_foreign(std::string_view name) {
  if (name == "verifiable") return ForeignKind::kVerifiable;
  if (name == "jepsen") return ForeignKind::kJepsen;
  return std::nullopt;
}

std::string_view foreign_names() { return "verifiable, jepsen"; }

std::unique_ptr<Foreign> make_foreign(ForeignKind kind, std::vector<ForeignInput> inputs, const ForeignOptions& options) {
  if (kind == ForeignKind::kJepsen) return std::make_unique<JepsenHistory>(std::move(inputs), options);
  return std::make_unique<VerifiableOutput>(std::move(inputs), options);
}

Result<ForeignConverted> convert_foreign(ForeignKind kind, const std::vector<std::filesystem::path>& from,
                                         const std::filesystem::path& to, const ForeignOptions& options) {
  if (auto form = form_to_write(to); !form) return tl::unexpected(std::move(form).error());
  std::vector<ForeignInput> inputs;
  for (const auto& path : from) {
    if (path == "-") {
      return fail(ErrorCode::kInvalid, "standard input can be read only once, and this is read twice: store it in a file first");
    }
    inputs.push_back({path.string(), [path] { return open_foreign(path); }});
  }
  const auto foreign = make_foreign(kind, std::move(inputs), options);
  const auto meta = foreign->survey();
  if (!meta) return tl::unexpected(meta.error());
  Vocabulary vocabulary;
  auto file = NewFile::create(to, *meta, vocabulary);
  if (!file) return tl::unexpected(std::move(file).error());
  Told told(vocabulary, [&](const Operation& operation) { return (*file)->add(operation); });
  if (auto all = foreign->tell(told); !all) return tl::unexpected(std::move(all).error());
  if (auto finished = (*file)->finish(); !finished) return tl::unexpected(std::move(finished).error());
  return ForeignConverted{told.written(), foreign->notes()};
}

}  // namespace sp::history
