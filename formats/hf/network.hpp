// A Hugging Face config.json as a network: its sizes say all that counts, no weights are read.
#pragma once

#include "base/result.hpp"

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace eyeroof::formats::hf {

// A JSON object with a model_type, or with the architectures of one.
bool is_hf_config(std::string_view text);

// Values of a network's parameters by name.
using Variables = std::map<std::string, double, std::less<>>;

// How the configuration becomes a network: a network YAML of its own, or sizes of one of the
// catalog's (encoders). Both have the parameters of a decoder or of that network.
struct HfNetwork {
    std::string yaml;
    std::string base; // "bert"; empty where there is a yaml
    Variables values; // of base
};

// Errors: "not-json", "unsupported" for a model_type that is not known, with those that are, and
// for values that would make another network; "missing-key". Warnings: "unread-key" with the keys
// that were not read, "image-tower" where learned values are left out.
Result<HfNetwork> read_hf_config(const std::string& text, const std::string& file);

} // namespace eyeroof::formats::hf
