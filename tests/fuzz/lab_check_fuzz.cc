// Any bytes as the history of a lab are judged, twice the same, or refused with the name of the file; what proves nothing is not clean.
//
// links: check
#include <memory>
#include <string>

#include "check/lab_check.h"
#include "codec/byte_source.h"
#include "fuzz/bytes.h"
#include "report/report.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using namespace sp;  // one file, one test

Result<report::Report> check_text(std::string_view text) {
  history::Vocabulary vocabulary;
  const auto reader = history::Reader::open(std::make_unique<codec::TextSource>(text), "fuzz", vocabulary, {.threads = false});
  if (!reader) return tl::unexpected(reader.error());
  return check::check_lab(**reader, vocabulary, {});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes{static_cast<const char*>(static_cast<const void*>(data)), size};
  const auto report = check_text(bytes);
  if (!report) {
    fuzz::demand(
        report.error().message.find("fuzz") != std::string::npos || report.error().message.find("meta record") != std::string::npos,
        "a refusal names the file, or what is wrong with the contract in it");
    return 0;
  }
  const judge::Judgement& judgement = report->judgement;
  fuzz::demand(judgement.status != judge::Status::kClean || (judgement.coverage.acked > 0 && judgement.undecided == 0),
               "what proves nothing is not clean");
  for (std::size_t i = 0; i < core::kCodeCount; ++i) {
    const auto code = static_cast<core::Code>(i);
    fuzz::demand(judgement.allowed[code] <= judgement.counts[code], "what is allowed was counted");
    fuzz::demand(judgement.status != judge::Status::kClean || !report->lab->contract.forbids(code) ||
                     judgement.allowed[code] == judgement.counts[code],
                 "nothing that is forbidden is clean");
  }
  fuzz::demand(report::json_report(*check_text(bytes)) == report::json_report(*report), "twice the same");
  fuzz::demand(!report::text_report(*report).empty() && !report::markdown_report(*report).empty() && !report::junit_report(*report).empty(),
               "every rendering says something");
  return 0;
}
