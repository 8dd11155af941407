#include "report/scale/collective_answer.hpp"

#include "base/units.hpp"
#include "report/answer/write.hpp"
#include "report/draw/chart_scene.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::report {

namespace {

using analysis::CollectivePoint;
using analysis::CollectiveStudy;

// "Up to 352 GB/s of bus bandwidth, at 1.07 GB; 15.8 us for 1.02 kB"
std::vector<std::string> best_sentences(const CollectiveStudy& s) {
    if (s.points.empty()) {
        return {};
    }
    const CollectivePoint& quickest =
        *std::ranges::min_element(s.points, {}, &CollectivePoint::time_s);
    const CollectivePoint& widest =
        *std::ranges::max_element(s.points, {}, &CollectivePoint::bus_bytes_per_s);
    return {fmt::format("Up to {} of bus bandwidth, at {}; {} for {}",
                        format_si(widest.bus_bytes_per_s, "B/s"), format_si(widest.bytes, "B"),
                        format_si(quickest.time_s, "s"), format_si(quickest.bytes, "B"))};
}

Chart bandwidth_chart(const CollectiveStudy& s, const std::string& title) {
    Chart chart;
    chart.title = title;
    chart.x_title = "bytes";
    chart.y_title = "bus bandwidth, bytes/s";
    ChartLine line{"predicted", {}, false, true};
    ChartLine measured{"measured", {}, false, true};
    for (const CollectivePoint& p : s.points) {
        line.points.emplace_back(p.bytes, p.bus_bytes_per_s);
        if (p.measured_s) { // the same bytes on the bus in another time
            measured.points.emplace_back(p.bytes, p.bus_bytes_per_s * p.time_s / *p.measured_s);
        }
    }
    chart.lines.push_back(line);
    if (!measured.points.empty()) {
        chart.lines.push_back(measured);
    }
    return chart;
}

AnswerTable sizes_table(const CollectiveStudy& s) {
    const bool beside = std::ranges::any_of(
        s.points, [](const CollectivePoint& p) { return p.measured_s.has_value(); });
    const unsigned measured = beside ? kAll : kPrograms;
    const auto interval = [](const CollectivePoint& p) {
        return range_text(p.low_s, p.high_s, Unit::seconds);
    };
    const auto error = [](const CollectivePoint& p) {
        return p.measured_s ? std::optional(p.time_s / *p.measured_s - 1.0) : std::nullopt;
    };
    return make_table<CollectivePoint>(
        "points", "", s.points,
        {{"bytes", "size", Unit::bytes, &CollectivePoint::bytes, kAll, "of the whole array"},
         {"time_s", "time", Unit::seconds, &CollectivePoint::time_s},
         {"", "80 % interval", Unit::none, interval, kPeople,
          "eight measured collectives in ten lie within"},
         {"low_s", "", Unit::seconds, &CollectivePoint::low_s, kPrograms,
          "one measured collective in ten is faster"},
         {"high_s", "", Unit::seconds, &CollectivePoint::high_s, kPrograms,
          "one measured collective in ten is slower"},
         {"measured_s", "measured", Unit::seconds, &CollectivePoint::measured_s, measured,
          "of --beside; null: this size was not measured"},
         {"", "error", Unit::share, error, beside ? kPeople : 0U, "prediction over measured"},
         {"algorithm_bytes_per_s", "algorithm", Unit::bytes_per_s,
          &CollectivePoint::algorithm_bytes_per_s, kAll, "bytes / time"},
         {"bus_bytes_per_s", "bus", Unit::bytes_per_s, &CollectivePoint::bus_bytes_per_s, kAll,
          "as nccl-tests: algorithm bandwidth times 2 (n-1)/n of an all-reduce, (n-1)/n of others, "
          "1 of a broadcast or send"},
         {"algorithm", "by", Unit::none, &CollectivePoint::algorithm},
         {"protocol", "protocol", Unit::none, &CollectivePoint::protocol}});
}

} // namespace

Answer collective_answer(const CollectiveStudy& s) {
    Answer a;
    a.schema = "eyeroof/collective/1";
    a.title = fmt::format("{} over {} devices, {}", analysis::operation_name(s.kind), s.devices,
                          s.fabric);
    a.question = a.title + (s.transport.empty() ? "" : ", " + s.transport);
    a.sentences = best_sentences(s);
    a.figures = {{"operation", "", analysis::operation_name(s.kind)},
                 {"devices", "", s.devices},
                 {"fabric", "", s.fabric},
                 {"transport", "", s.transport, Unit::none, kPrograms,
                  "software of the outermost level; empty: the wire alone"}};
    a.tables = {sizes_table(s)};
    a.picture = [chart = bandwidth_chart(s, a.title)](const Canvas& canvas) {
        return draw_chart(chart, canvas);
    };
    return a;
}

} // namespace eyeroof::report
