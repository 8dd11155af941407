#include "report/scale/collective_write.hpp"

#include "base/csv.hpp"
#include "base/json.hpp"
#include "base/lines.hpp"
#include "base/units.hpp"
#include "report/draw/chart.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace eyeroof::report {

namespace {

// "Up to 352 GB/s of bus bandwidth, at 1.07 GB; 15.8 us for 1.02 kB"
std::string best_text(const analysis::CollectiveStudy& s) {
    if (s.points.empty()) {
        return {};
    }
    const analysis::CollectivePoint& quickest =
        *std::ranges::min_element(s.points, {}, &analysis::CollectivePoint::time_s);
    const analysis::CollectivePoint& widest =
        *std::ranges::max_element(s.points, {}, &analysis::CollectivePoint::bus_bytes_per_s);
    return wrapped(fmt::format("Up to {} of bus bandwidth, at {}; {} for {}",
                               format_si(widest.bus_bytes_per_s, "B/s"),
                               format_si(widest.bytes, "B"), format_si(quickest.time_s, "s"),
                               format_si(quickest.bytes, "B")),
                   0, kTextColumns);
}

// "      15.2  +4 % "; blank where nothing was measured
std::string measured_text(const analysis::CollectivePoint& p) {
    return p.measured_s ? fmt::format("{:>11.4g} {:>+4.0f} % ", *p.measured_s * 1e6,
                                      100.0 * (p.time_s / *p.measured_s - 1.0))
                        : std::string(19, ' ');
}

} // namespace

std::string collective_text(const analysis::CollectiveStudy& s) {
    const bool beside = std::ranges::any_of(
        s.points, [](const analysis::CollectivePoint& p) { return p.measured_s.has_value(); });
    std::string text =
        wrapped(fmt::format("{} over {} devices, {}{}", analysis::operation_name(s.kind), s.devices,
                            masked_controls(s.fabric),
                            s.transport.empty() ? "" : ", " + masked_controls(s.transport)),
                0, kTextColumns) +
        best_text(s) +
        fmt::format("\n{:>11} {:>10} {:>17} {}{:>9} {:>9}  {}\n", "bytes", "time us",
                    "80 % interval us", beside ? "measured us   off " : "", "alg GB/s", "bus GB/s",
                    "algorithm");
    for (const analysis::CollectivePoint& p : s.points) {
        text += fmt::format("{:>11.0f} {:>10.4g} {:>17} {}{:>9.4g} {:>9.4g}  {}{}\n", p.bytes,
                            p.time_s * 1e6,
                            fmt::format("{:.3g} to {:.3g}", p.low_s * 1e6, p.high_s * 1e6),
                            beside ? measured_text(p) : std::string(),
                            p.algorithm_bytes_per_s / 1e9, p.bus_bytes_per_s / 1e9, p.algorithm,
                            p.protocol.empty() ? "" : " (" + p.protocol + ")");
    }
    return text;
}

std::string collective_json(const analysis::CollectiveStudy& s) {
    using Json = nlohmann::ordered_json;
    Json points = Json::array();
    for (const analysis::CollectivePoint& p : s.points) {
        points.push_back({{"bytes", p.bytes},
                          {"time_s", p.time_s},
                          {"low_s", p.low_s},
                          {"high_s", p.high_s},
                          {"algorithm", p.algorithm},
                          {"protocol", p.protocol},
                          {"algorithm_bytes_per_s", p.algorithm_bytes_per_s},
                          {"bus_bytes_per_s", p.bus_bytes_per_s},
                          {"measured_s", p.measured_s ? Json(*p.measured_s) : Json()}});
    }
    const Json json = {{"schema", "eyeroof/collective/1"},
                       {"operation", analysis::operation_name(s.kind)},
                       {"devices", s.devices},
                       {"fabric", s.fabric},
                       {"transport", s.transport},
                       {"points", points}};
    return json_document(json);
}

std::string collective_csv(const analysis::CollectiveStudy& s) {
    std::string text = "bytes,time_s,low_s,high_s,algorithm,protocol,algorithm_bytes_per_s,"
                       "bus_bytes_per_s,measured_s\n";
    for (const analysis::CollectivePoint& p : s.points) {
        text += fmt::format("{:.0f},{:.6g},{:.6g},{:.6g},{},{},{:.6g},{:.6g},{}\n", p.bytes,
                            p.time_s, p.low_s, p.high_s, p.algorithm, p.protocol,
                            p.algorithm_bytes_per_s, p.bus_bytes_per_s,
                            p.measured_s ? fmt::format("{:.6g}", *p.measured_s) : std::string());
    }
    return text;
}

std::string collective_svg(const analysis::CollectiveStudy& s) {
    Chart chart;
    chart.title = fmt::format("{} over {} devices, {}", analysis::operation_name(s.kind), s.devices,
                              s.fabric);
    chart.x_title = "bytes";
    chart.y_title = "bus bandwidth, bytes/s";
    ChartLine line{"predicted", {}, false, true};
    ChartLine measured{"measured", {}, false, true};
    for (const analysis::CollectivePoint& p : s.points) {
        line.points.emplace_back(p.bytes, p.bus_bytes_per_s);
        if (p.measured_s) { // the same bytes on the bus in another time
            measured.points.emplace_back(p.bytes, p.bus_bytes_per_s * p.time_s / *p.measured_s);
        }
    }
    chart.lines.push_back(line);
    if (!measured.points.empty()) {
        chart.lines.push_back(measured);
    }
    return chart_svg(chart);
}

} // namespace eyeroof::report
