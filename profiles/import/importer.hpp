// Measurements of other tools, distinguished by content and read into one profile. Each tool's
// format stays in its own source file; none is known here.
#pragma once

#include "base/progress.hpp"
#include "profiles/byte_source.hpp"
#include "profiles/measurement.hpp"

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::profiles {

// A file or text that can be opened more than once. `head` holds its first 64 KiB, unpacked.
struct ImportInput {
    std::string name; // for diagnostics; the path when there is one
    std::string head;
    std::function<Result<std::unique_ptr<ByteSource>>()> open;
    std::string path = {}; // of a file that can be read more than once; else empty
};
Result<ImportInput> input_of_file(const std::string& path);
ImportInput input_of_text(std::string text, const std::string& name);

class Importer {
  public:
    Importer() = default;
    Importer(const Importer&) = delete;
    Importer& operator=(const Importer&) = delete;
    virtual ~Importer() = default;

    virtual std::string_view name() const = 0; // "nsight-compute-csv"
    virtual std::string_view what() const = 0; // for --help, with how to make such a file
    virtual bool recognises(std::string_view head) const = 0;
    // Diagnostics have file, line and column (or the row of a database table).
    virtual Result<Profile> read(const ImportInput& input) const = 0;
};

// What the beginning of a trace or profile says of its device and run; empty where it says nothing.
RunInfo run_of_head(const ImportInput& input);

// In the order in which they are asked; the profile file itself is the first.
std::span<const Importer* const> importers();

// The name of the importer that recognises the file's content; empty for none, and for no file.
std::string_view format_of_file(const std::string& path);

// Errors: those of the importer that recognises the content; "unknown-format" with the list of what
// is read when none does; "unknown-importer" when `format` names none. Empty format: by content.
Result<Profile> import_profile(const ImportInput& input, std::string_view format = {});
Result<Profile> import_file(const std::string& path, std::string_view format = {},
                            const ProgressCallback& progress = {});

} // namespace eyeroof::profiles
