// Loads a text file from a path that a user gave.
#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace eyeroof {

inline constexpr std::size_t kMaxTextFileBytes = std::size_t{16} << 20; // 16 MiB

// The whole file as plain_text(). Errors: file-not-found, is-a-directory, not-readable, empty-file,
// foreign-file with the way to convert it, and file-too-large; the last two are found without
// reading the file.
// Pipes are read too, up to the limit; "-" is stdin. A pipe of the caller's own ("-", /dev/stdin,
// /dev/fd/63) is waited for and may be asked for again; any other gets 10 s to say something.
Result<std::string> read_text_file(const std::filesystem::path& path,
                                   std::size_t max_bytes = kMaxTextFileBytes);

// Whether a machine is given by its file rather than by a name of the catalog.
bool is_path(std::string_view name);

// Refuses what no text file of ours contains: control characters and bytes that are not UTF-8, with
// line and column of the first one. The text is made plain first, see base/plain_text.hpp.
Result<std::string> checked_text(std::string text, const std::string& file);

} // namespace eyeroof
