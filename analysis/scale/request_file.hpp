// Recorded requests of a service: when each came, and its tokens.
#pragma once

#include "analysis/scale/serving_load.hpp"

#include <string>
#include <vector>

namespace eyeroof::analysis {

// A CSV table with the tokens of each request, and the time it came, in order of time. Columns:
//   arrival_s, prompt, answer                        seconds; tokens; tokens
//   TIMESTAMP, ContextTokens, GeneratedTokens        Azure's public traces of language models
//   arrived_at, num_prefill_tokens, num_decode_tokens  Vidur's
// and the other names of kArrival, kPrompt, and kAnswer, whatever their case, blanks, and
// underscores; columns of other names are passed over.
// The time is optional: a number of seconds, or a date and time. The first request comes at 0. An
// answer may have 0 tokens.
// Errors: "missing-column", "bad-header" for two columns of one meaning, "no-rows", "bad-row" and
// "bad-cell" with their place, "not-a-table" for JSON, "too-many".
inline constexpr std::size_t kMostRecorded = 20'000'000;
Result<std::vector<RequestSize>> parse_requests(const std::string& text, const std::string& file);

} // namespace eyeroof::analysis
