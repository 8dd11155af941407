// The timeline as a trace.
#include "base/json.hpp"
#include "report/step/timeline_write.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

namespace eyeroof::report {

namespace {

using Out = std::back_insert_iterator<std::string>;

constexpr int kHost = 1, kDevice = 2;
constexpr int kCopyThread = 1000;

// Start and end are rounded to nanoseconds, and the duration is what lies between them: rounding it
// by itself makes slices that follow each other overlap by a nanosecond.
void event(std::string& out, const std::string& name, const char* category, int process, int thread,
           double start_s, double end_s, const std::string& arguments) {
    const long long start_ns = std::llround(start_s * 1e9);
    const long long dur_ns = std::llround(end_s * 1e9) - start_ns;
    fmt::format_to(Out(out),
                   ",\n{{\"ph\":\"X\",\"cat\":\"{}\",\"name\":{},\"pid\":{},\"tid\":{},"
                   "\"ts\":{}.{:03},\"dur\":{}.{:03},\"args\":{{{}}}}}",
                   category, json_quoted(name), process, thread, start_ns / 1000, start_ns % 1000,
                   dur_ns / 1000, dur_ns % 1000, arguments);
}

void name_process(std::string& out, int process, const std::string& name, bool first) {
    fmt::format_to(Out(out),
                   "{}{{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":{},\"tid\":0,\"args\":{{"
                   "\"name\":{}}}}}",
                   first ? "" : ",\n", process, json_quoted(name));
}

} // namespace

std::string timeline_trace(const TimelineReport& r) {
    std::string out = "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"made_by\":\"eyeroof\","
                      "\"predicted\":true},\"traceEvents\":[\n";
    name_process(out, kHost, r.report.host.empty() ? "host" : "host " + r.report.host, true);
    name_process(out, kDevice, r.report.machine.id, false);
    for (std::size_t i = 0; i < r.timeline().spans.size(); ++i) {
        const analysis::step::Span& span = r.timeline().spans[i];
        const std::string name = r.graph().name_of(r.graph().operators[i]);
        const std::string link = fmt::format("\"correlation\":{}", i + 1);
        event(out, name, "cpu_op", kHost, 1, span.issue_s, span.issued_s, link);
        event(out, name, "kernel", kDevice, 7 + span.stream, span.start_s, span.end_s,
              fmt::format("{},\"stream\":{},\"waited for\":\"{}\"", link, 7 + span.stream,
                          analysis::step::waited_text(span.waited)));
    }
    for (const analysis::step::CopySpan& copy : r.timeline().copies) {
        const char* direction = copy.to_device ? "HtoD" : "DtoH";
        event(out, fmt::format("Memcpy {}", direction), "gpu_memcpy", kDevice,
              kCopyThread + (copy.to_device ? 0 : 1), copy.start_s, copy.end_s,
              fmt::format("\"bytes\":{}", r.graph().tensors[copy.tensor].bytes));
    }
    return out + "\n]}\n";
}

} // namespace eyeroof::report
