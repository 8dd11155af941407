// Writing a result to a file so that the file is whole or untouched, whatever happens.
// Called by cli and gui with the text that a writer made.
// Knows no format.
#pragma once

#include "model/base/result.hpp"

#include <filesystem>
#include <string_view>

namespace eyeroof::study {

// Writes a temporary file beside `path` and renames it over `path`; a link is followed, permissions
// of a file that exists are kept. Devices and pipes are written directly. Errors: "cannot-write".
model::Result<model::Done> write_file(const std::filesystem::path& path, std::string_view text);

} // namespace eyeroof::study
