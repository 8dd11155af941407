// What a file is, recognized by its content and not by whether some reader accepts it: so a file
// with a mistake is still read by the reader that its author meant, who says what is wrong. Reads
// nothing but enough to tell.
#pragma once

#include "base/result.hpp"

#include <string>

namespace eyeroof::formats {

enum class FileKind {
    session,     // "eyeroof: session/1"
    machine,     // eyeroof's own YAML, or a Timeloop architecture
    network,     // network YAML, a table of layers, ONNX, and other tools' workloads
    profile,     // measured kernels, in any format that import reads
    ceilings,    // "eyeroof_ceilings: 1"
    assignments, // "eyeroof_assignments: 1"
    trials,      // a log of tuning: JSON lines, "eyeroof/trial/1"
};

// Errors: those of reading the file; YAML that is none; "unknown-file" when nothing tells.
Result<FileKind> kind_of_file(const std::string& path);

} // namespace eyeroof::formats
