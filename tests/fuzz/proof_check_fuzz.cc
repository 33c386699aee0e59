// Any two files, one of a worker and one of a coordinator, are judged or refused with the name of a file; a verdict of evidence that is not
// there is no pass; the order in which they are named changes nothing.
//
// links: check
#include <memory>
#include <string>
#include <vector>

#include "check/proof_check.h"
#include "codec/byte_source.h"
#include "fuzz/bytes.h"
#include "report/report.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using namespace sp;  // one file, one test

constexpr std::string_view kBetween = "\n====\n";

Result<report::Report> check_texts(const std::vector<std::string_view>& files) {
  history::Vocabulary vocabulary;
  std::vector<history::Merge::Input> inputs;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::string name = "fuzz" + std::to_string(i);
    inputs.push_back({name, [&vocabulary, text = files[i], name](history::Reader::Options how) {
                        how.threads = false;
                        return history::Reader::open(std::make_unique<codec::TextSource>(text), name, vocabulary, how);
                      }});
  }
  check::CheckOptions options;
  options.merge.threads = false;
  options.keys_max = 10'000;
  auto merge = history::Merge::open(std::move(inputs), options.merge);
  if (!merge) return tl::unexpected(std::move(merge).error());
  return check::check_proof(**merge, vocabulary, options);
}

std::string told(const Result<report::Report>& report) {
  return report ? report::json_report(*report) : "refused";
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes{static_cast<const char*>(static_cast<const void*>(data)), size};
  const std::size_t at = bytes.find(kBetween);
  if (at == std::string_view::npos) {
    const auto alone = check_texts({bytes});
    fuzz::demand(!alone || alone->judgement.status != judge::Status::kPassed || !alone->failure.empty(), "one file alone is no pass");
    return 0;
  }
  const std::string_view worker = bytes.substr(0, at);
  const std::string_view coordinator = bytes.substr(at + kBetween.size());
  const auto report = check_texts({worker, coordinator});
  if (!report) fuzz::demand(report.error().message.find("fuzz") != std::string::npos, "a refusal names the file");
  fuzz::demand(told(check_texts({coordinator, worker})) == told(report), "the order of the files changes nothing");
  return 0;
}
