// Which names of a catalog are meant by what people type: another case or separator, the owner
// before a slash ("Qwen/Qwen3-32B"), a vendor's word ("Tesla V100"), a memory size ("V100 32GB"),
// initials ("stable diffusion xl"), and words that change no size ("-Instruct").
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace eyeroof {

enum class Where { at_start, anywhere }; // of a name the first word must stand

struct MeantNames {
    // At most twelve, the likeliest first, by letters shared from the start and by whole words.
    std::vector<std::string> names;
    bool complete = false; // each has every word
    bool sure = false;     // one name that has every word; it may be taken, with a warning

    bool operator==(const MeantNames&) const = default;
};

MeantNames meant_names(std::string_view typed, std::span<const std::string> known, Where where);

} // namespace eyeroof
