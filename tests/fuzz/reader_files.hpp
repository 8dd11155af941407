// What must hold for any text that is given as a file of machines, constants, or measurements, or
// as what a profiled program and its collector tell each other: readers below analysis/.
// Used by the fuzz targets and by the test that replays their corpora.
#pragma once

#include "formats/assignments.hpp"
#include "formats/ceilings.hpp"
#include "formats/metric_family.hpp"
#include "hwdb/calibration_reader.hpp"
#include "hwdb/engine_reader.hpp"
#include "hwdb/fabric_reader.hpp"
#include "hwdb/gpu_reader.hpp"
#include "hwdb/kernels_reader.hpp"
#include "hwdb/price_reader.hpp"
#include "hwdb/published_reader.hpp"
#include "hwdb/technology_reader.hpp"
#include "hwdb/transfer_reader.hpp"
#include "profiles/collect/fault.hpp"
#include "profiles/collect/request.hpp"
#include "profiles/profile_file.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <string>

namespace eyeroof::tests {

// Whatever is refused is refused with an error that has code and words.
template <class T> std::string badly_refused(const Result<T>& read) {
    if (!read && !read.diagnostics().has_errors()) {
        return "refused without an error";
    }
    for (const Diagnostic& d : read.diagnostics()) {
        if (d.code.empty() || d.message.empty() || d.where.line < 0 || d.where.column < 0) {
            return "a diagnostic lacks code, words or place: " + to_string(d);
        }
    }
    return "";
}

// A text that readers of files can open; nothing lies on a disk.
class TextAsFile {
  public:
    explicit TextAsFile(const std::string& text) : file_(::memfd_create("fuzz", MFD_CLOEXEC)) {
        whole_ = file_ >= 0 &&
                 ::write(file_, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    }
    TextAsFile(const TextAsFile&) = delete;
    TextAsFile& operator=(const TextAsFile&) = delete;
    ~TextAsFile() {
        if (file_ >= 0) {
            ::close(file_);
        }
    }
    bool whole() const { return whole_; }
    std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

  private:
    int file_;
    bool whole_ = false;
};

inline std::string broken_promise_gpu_yaml(const std::string& text) {
    auto document = hwdb::parse_yaml(text, "fuzz.yaml");
    return document ? badly_refused(hwdb::read_gpu(*document, "fuzz")) : badly_refused(document);
}

inline std::string broken_promise_kernels(const std::string& text) {
    auto document = hwdb::parse_yaml(text, "fuzz.yaml");
    if (!document) {
        return badly_refused(document);
    }
    const auto cells = hwdb::read_kernels(*document);
    if (!cells) {
        return badly_refused(cells);
    }
    auto again = hwdb::parse_yaml(hwdb::write_kernels(*cells, "fuzz"), "again.yaml");
    return again && hwdb::read_kernels(*again).ok() ? "" : "what was written is not read";
}

inline std::string broken_promise_calibration(const std::string& text) {
    auto document = hwdb::parse_yaml(text, "fuzz.yaml");
    if (!document) {
        return badly_refused(document);
    }
    if (text.find("library-kernels") != std::string::npos) {
        return broken_promise_kernels(text);
    }
    const auto file = hwdb::read_calibration(*document, "fuzz");
    if (!file) {
        return badly_refused(file);
    }
    auto again = hwdb::parse_yaml(hwdb::write_calibration(*file), "again.yaml");
    return again && hwdb::read_calibration(*again, "fuzz").ok() ? ""
                                                                : "what was written is not read";
}

inline std::string broken_promise_ceilings(const std::string& text) {
    return badly_refused(formats::parse_ceilings(text, "fuzz.yaml"));
}

inline std::string broken_promise_metric_family(const std::string& text) {
    return badly_refused(formats::parse_metric_family(text, "fuzz.yaml"));
}

inline std::string broken_promise_profile_file(const std::string& text) {
    const auto source = profiles::ByteSource::of_text(text, "fuzz.jsonl");
    const auto profile = profiles::read_profile(*source);
    if (!profile) {
        return badly_refused(profile);
    }
    const auto written = profiles::ByteSource::of_text(profiles::profile_text(*profile), "again");
    const auto again = profiles::read_profile(*written);
    return again && again->launches.size() == profile->launches.size()
               ? ""
               : "written and read again, it differs";
}

inline std::string broken_promise_assignments(const std::string& text) {
    return badly_refused(formats::parse_assignments(text, "fuzz.yaml"));
}

inline std::string broken_promise_fabric_yaml(const std::string& text) {
    auto document = hwdb::parse_yaml(text, "fuzz.yaml");
    if (!document) {
        return badly_refused(document);
    }
    return text.find("engine/1") != std::string::npos
               ? badly_refused(hwdb::read_engine(*document, "fuzz"))
               : badly_refused(hwdb::read_fabric(*document, "fuzz"));
}

inline std::string broken_promise_technology_yaml(const std::string& text) {
    auto document = hwdb::parse_yaml(text, "fuzz.yaml");
    return document ? badly_refused(hwdb::read_technology(*document)) : badly_refused(document);
}

inline std::string broken_promise_price_yaml(const std::string& text) {
    auto document = hwdb::parse_yaml(text, "fuzz.yaml");
    return document ? badly_refused(hwdb::read_prices(*document)) : badly_refused(document);
}

inline std::string broken_promise_transfer_yaml(const std::string& text) {
    auto document = hwdb::parse_yaml(text, "fuzz.yaml");
    if (!document) {
        return badly_refused(document);
    }
    const auto transfer = hwdb::read_transfer(*document);
    if (!transfer) {
        return badly_refused(transfer);
    }
    auto again = hwdb::parse_yaml(hwdb::write_transfer(*transfer), "again.yaml");
    return again && hwdb::read_transfer(*again).ok() ? "" : "what was written is not read";
}

inline std::string broken_promise_published_yaml(const std::string& text) {
    const TextAsFile file(text);
    return file.whole() ? badly_refused(hwdb::load_published(file.path())) : "";
}

inline std::string broken_promise_collect_text(const std::string& text) {
    const auto fault = profiles::fault_from_text(text);
    if (fault && !(profiles::fault_from_text(profiles::fault_text(*fault)) == fault)) {
        return "a fault that is written and read again differs";
    }
    const auto request = profiles::request_from_text(text);
    if (!request) {
        return badly_refused(request);
    }
    return profiles::request_from_text(profiles::request_text(*request)).ok()
               ? ""
               : "a request that is written is not read";
}

} // namespace eyeroof::tests
