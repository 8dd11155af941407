#include "profiles/import/foreign_report.hpp"

#include "base/ascii.hpp"

#include <algorithm>

namespace eyeroof::profiles {

namespace {

// A summary of kernels or a trace as a table, by words of its first lines.
std::optional<ForeignReport> table_of(std::string_view head) {
    constexpr std::size_t kLooked = 4096;
    const std::string_view text = head.substr(0, kLooked);
    const auto has = [&](const char* part) { return text.find(part) != std::string_view::npos; };
    const bool nsys = has("Total Time ("); // old tables of it have Time(%) and Num Calls, too
    if (has("NVPROF") || has("Metric Description") || (has("Time(%)") && has("Calls") && !nsys)) {
        return ForeignReport{"a table of nvprof",
                             "trace with its successor: nsys profile --trace=cuda,nvtx, then nsys "
                             "export --type sqlite"};
    }
    if (nsys && (has("Instances") || has("Num Calls") || has("Count"))) {
        return ForeignReport{"a summary of `nsys stats`, without single launches",
                             "import the trace: nsys export --type sqlite REPORT.nsys-rep"};
    }
    if (has("Duration (") && has("Start (")) {
        return ForeignReport{"a trace table of `nsys stats`",
                             "import the trace: nsys export --type sqlite REPORT.nsys-rep"};
    }
    if (has("TotalDurationNs") && has("Calls")) {
        return ForeignReport{"a summary of rocprof (kernel_stats), without single launches",
                             "rocprofv3 --kernel-trace -- ./app writes a database that is read "
                             "(or --output-format csv, the file NAME_kernel_trace.csv)"};
    }
    const bool calls = has("Domain") && has("Function") && has("Correlation_Id");
    const bool copies = has("Direction") && has("Source_Agent_Id");
    if (!has("Kernel_Name") && (calls || copies || (has("Agent_Type") && has("Node_Id")))) {
        return ForeignReport{"a table of rocprofv3 without kernels",
                             "import the file NAME_kernel_trace.csv that stands beside it"};
    }
    if (has("\"Address\"") && has("\"Source\"")) {
        return ForeignReport{"the source page of Nsight Compute, without kernels' counters",
                             "ncu --import REPORT.ncu-rep --csv --page raw --print-units base"};
    }
    if (has("Index,KernelName,gpu-id") && !has("BeginNs")) {
        return ForeignReport{"a table of rocprof without times", "rocprof --timestamp on …"};
    }
    if (has("Self CPU %")) {
        return ForeignReport{"a summary of PyTorch's profiler (key_averages), without single "
                             "launches",
                             "prof.export_chrome_trace(\"trace.json\")"};
    }
    if (has("Accelerator Core") && has("Duration(us)")) {
        return ForeignReport{
            "a table of Ascend's profiler",
            "name two of its columns kernel and time_us, and leave out the others"};
    }
    if (has("Metric Name") && !has("Kernel Name")) {
        return ForeignReport{"Nsight Compute CSV without the columns ID and Kernel Name",
                             "ncu --import REPORT.ncu-rep --csv --page raw --print-units base"};
    }
    return std::nullopt;
}

bool is_binary(std::string_view head) {
    return head.substr(0, 512).find('\0') != std::string_view::npos;
}

} // namespace

std::optional<ForeignReport> foreign_report(std::string_view head, std::string_view name) {
    const std::string lower = lowered(name);
    const auto ends = [&](const char* end) { return lower.ends_with(end); };
    if (ends(".nsys-rep") || ends(".qdrep")) {
        return ForeignReport{"a report of Nsight Systems",
                             "nsys export --type sqlite REPORT.nsys-rep, and import the .sqlite"};
    }
    if (ends(".ncu-rep") || (is_binary(head) && head.starts_with("NVR"))) {
        return ForeignReport{"a report of Nsight Compute",
                             "ncu --import REPORT.ncu-rep --csv --page raw --print-units base > "
                             "report.csv"};
    }
    for (const std::string_view packed : {"PK\x03\x04", "\x28\xb5\x2f\xfd",
                                          "\xfd"
                                          "7zXZ",
                                          "BZh"}) {
        if (head.starts_with(packed)) {
            return ForeignReport{"a packed file of a kind that is not read (zip, zstd, xz, bzip2)",
                                 "unpack it; gzip is read as it is"};
        }
    }
    const bool events = head.find("\"traceEvents\"") != std::string_view::npos;
    if (ends(".xplane.pb") || (events && head.find("\"/device:") != std::string_view::npos)) {
        return ForeignReport{"a profile of XLA (JAX, TensorFlow), without kinds of events",
                             "profile the program with Nsight Systems (nsys profile --trace=cuda,"
                             "nvtx, nsys export --type sqlite) or rocprofv3, which are read"};
    }
    if (ends(".pftrace") || ends(".perfetto-trace") || ends(".rpd")) {
        return ForeignReport{"a trace for Perfetto or rpd",
                             "rocprofv3 --kernel-trace -- ./app writes a database that is read; of "
                             "PyTorch, prof.export_chrome_trace(\"t.json\")"};
    }
    return events ? std::nullopt : table_of(head);
}

} // namespace eyeroof::profiles
