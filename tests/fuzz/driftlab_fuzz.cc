// Any file is judged by driftlab's rules or refused with its name, the second time as the first; a short list says no more than a long one.
//
// links: check
#include <memory>
#include <string>

#include "check/driftlab.h"
#include "codec/byte_source.h"
#include "fuzz/bytes.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using namespace sp;  // one file, one test

struct Said {
  std::string lines;
  std::uint64_t anomalies = 0;
  bool judged = false;
};

Said check_text(std::string_view text, const check::DriftlabOptions& options, bool salvage) {
  history::Vocabulary vocabulary;
  const auto open = [&] {
    return history::Reader::open(std::make_unique<codec::TextSource>(text), "fuzz", vocabulary, {.accept_torn = salvage, .threads = false});
  };
  Said said;
  const auto result = check::check_driftlab(open, vocabulary, options);
  if (!result) {
    said.lines = result.error().message;
    return said;
  }
  check::tell_driftlab(*result, vocabulary, [&](std::string_view line) { said.lines.append(line) += '\n'; });
  said.judged = true;
  said.anomalies = result->anomalies.size();
  for (const std::uint64_t left_out : result->left_out) said.anomalies += left_out;
  const bool clean = result->verdict == check::DriftlabVerdict::kClean;
  fuzz::demand(!clean || (result->reasons.empty() && said.anomalies == 0), "what is clean has nothing wrong");
  return said;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{static_cast<const char*>(static_cast<const void*>(data)), size};
  const Said said = check_text(text, {}, false);
  if (!said.judged) fuzz::demand(said.lines.find("fuzz") != std::string::npos, "a refusal names the file");
  fuzz::demand(check_text(text, {}, false).lines == said.lines, "it says the same twice");
  const Said brief = check_text(text, {.listed_max = 1}, false);
  fuzz::demand(brief.judged == said.judged && brief.anomalies == said.anomalies, "what is not listed is counted");
  if (said.judged) fuzz::demand(check_text(text, {}, true).lines == said.lines, "what is whole is not salvaged");
  (void)check_text(text, {.gaps_max = 3}, true);
  return 0;
}
