// What must hold for any bytes that are opened as a file of unknown kind.
// Used by the fuzz target and by the test that replays its corpus.
#pragma once

#include "formats/any_machine.hpp"
#include "formats/catalog.hpp"
#include "formats/file_kind.hpp"
#include "formats/trace_gpu.hpp"
#include "profiles/import/importer.hpp"
#include "tests/fuzz/reader_files.hpp"

#include <string>

namespace eyeroof::tests {

// The kind is named or refused, and the reader of that kind answers or says why not.
inline std::string broken_promise_any_file(const std::string& text) {
    const TextAsFile file(text);
    if (!file.whole()) {
        return "";
    }
    const auto kind = formats::kind_of_file(file.path());
    if (!kind) {
        return badly_refused(kind);
    }
    if (*kind == formats::FileKind::machine) {
        return badly_refused(formats::load_any_machine(file.path(), {}));
    }
    if (*kind == formats::FileKind::network) {
        return badly_refused(formats::load_network(file.path(), {}));
    }
    if (*kind == formats::FileKind::profile) {
        const auto profile = profiles::import_file(file.path());
        return profile ? badly_refused(formats::gpu_of_run(profile->run, {}))
                       : badly_refused(profile);
    }
    return "";
}

} // namespace eyeroof::tests
