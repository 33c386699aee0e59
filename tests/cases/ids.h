// The ids of all rows, copied from the page of cases: none may be forgotten. Rows with two variants
// are two ids.
//
// Errors: none.   Threads: constants.   Source: tests/cases/README.md.
#pragma once

#include <string_view>

namespace sp::cases {

constexpr std::string_view kIds[] = {
    "L1",  "L2",  "L3",  "L4",  "L5",   "L6",   "L7",   "L8",   "L9",   "L10", "L11", "L12", "L13",
    "L14", "L15", "L16", "L17", "L18",  "L19a", "L19b", "L20",  "L21",  "L22", "L23", "L24", "L25",
    "L26", "L27", "L28", "L29", "L30",  "D1",   "D2",   "D3",   "D4",   "D5",  "D6",  "D7",  "D8",
    "D9",  "D10", "D11", "D12", "D13",  "D14a", "D14b", "D15a", "D15b", "D16", "D17", "D18", "D19",
    "D20", "D21", "D22", "D23", "O1",   "O2",   "O3",   "O4",   "O5",   "O6",  "O7",  "O8",  "O9",
    "O10", "O11", "O12", "O13", "O14a", "O14b", "O15",  "O16",  "O17",  "C1a", "C1b", "C2",  "C3",
    "C4",  "C5a", "C5b", "C6",  "C7",   "C8",   "C9",   "C10",  "C11",  "T1",  "T2",  "T3",  "T4",
    "T5",  "T6",  "T7",  "T8",  "T9",   "T10",  "T11",  "W1",   "W2",   "W3",  "W4",  "W5",  "W6",
    "W7",  "W8",  "W9",  "W10", "W11",  "W12",  "V1",   "V2",   "V3",   "V4",  "V5",  "V6",  "V7a",
    "V7b", "V8",  "V9",  "V10", "V11a", "V11b"};

}  // namespace sp::cases
