// A Hugging Face config.json as a network: its sizes say all that counts, no weights are read.
#pragma once

#include "base/result.hpp"

#include <string>
#include <string_view>

namespace eyeroof::formats::hf {

// A JSON object with a model_type, or with the architectures of one.
bool is_hf_config(std::string_view text);

// The network as YAML of its own. Errors: "not-json", "unsupported" for a model_type that is not
// known, with those that are, and for values that would make another network; "missing-key".
// Warnings: "unread-key" with the keys that were not read, "image-tower" where learned values are
// left out.
Result<std::string> read_hf_config(const std::string& text, const std::string& file);

} // namespace eyeroof::formats::hf
