// Whether the engine and the reference judge say the same of a history: a line for each number in which they differ.
//
// SP_PROPERTY_IGNORE=late      not this count, while looking for another disagreement
//
// Cost:    that of both judges.   Errors: none.   Threads: pure functions.   Source: docs/algebra.md 3.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "judge/judge.h"
#include "model/lab.h"
#include "model/player.h"

namespace sp::property {

// How the evidence of a seed arrives: in pieces, out of order, twice.
[[nodiscard]] model::PlayOptions way_of(std::uint64_t seed);
[[nodiscard]] std::vector<std::string> disagreements(const model::History& history, const model::PlayOptions& options);
// Of what `check` made of the file.
[[nodiscard]] std::vector<std::string> disagreements(const model::LabFile& file, const judge::Judgement& checked);

}  // namespace sp::property
