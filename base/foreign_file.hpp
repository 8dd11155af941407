// Files that people have at hand and that nothing here reads: what each is, and the command that
// makes something readable of it. The one table of endings and first bytes; a new format is a row.
#pragma once

#include <string>
#include <string_view>

namespace eyeroof {

struct ForeignFile {
    std::string_view what; // "a TensorFlow Lite model"; empty: not one of them
    std::string_view way;  // the command or the step that converts it

    explicit operator bool() const { return !what.empty(); }
};

inline constexpr std::size_t kForeignHead = 512; // bytes that tell

// By the first bytes, and where those say nothing by the ending of the name.
ForeignFile foreign_file(std::string_view head, std::string_view name);

} // namespace eyeroof
