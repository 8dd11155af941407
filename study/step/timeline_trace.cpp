// The timeline as a trace and as a picture.
#include "model/base/units.hpp"
#include "study/draw/svg.hpp"
#include "study/step/timeline_write.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>

namespace eyeroof::study::step {

namespace {

using Out = std::back_insert_iterator<std::string>;

std::string quoted(const std::string& text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

constexpr int kHost = 1, kDevice = 2;
constexpr int kCopyThread = 1000;

void event(std::string& out, const std::string& name, const char* category, int process, int thread,
           double start_s, double seconds, const std::string& arguments) {
    fmt::format_to(
        Out(out),
        ",\n{{\"ph\":\"X\",\"cat\":\"{}\",\"name\":{},\"pid\":{},\"tid\":{},\"ts\":{:.3f},"
        "\"dur\":{:.3f},\"args\":{{{}}}}}",
        category, quoted(name), process, thread, start_s * 1e6, seconds * 1e6, arguments);
}

void name_process(std::string& out, int process, const std::string& name, bool first) {
    fmt::format_to(Out(out),
                   "{}{{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":{},\"tid\":0,\"args\":{{"
                   "\"name\":{}}}}}",
                   first ? "" : ",\n", process, quoted(name));
}

} // namespace

std::string timeline_trace(const TimelineReport& r) {
    std::string out = "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"made_by\":\"eyeroof\","
                      "\"predicted\":true},\"traceEvents\":[\n";
    name_process(out, kHost, r.host.empty() ? "host" : "host " + r.host, true);
    name_process(out, kDevice, r.machine, false);
    for (std::size_t i = 0; i < r.timeline.spans.size(); ++i) {
        const Span& span = r.timeline.spans[i];
        const std::string name = r.graph.name_of(r.graph.operators[i]);
        const std::string link = fmt::format("\"correlation\":{}", i + 1);
        event(out, name, "cpu_op", kHost, 1, span.issue_s, span.issued_s - span.issue_s, link);
        event(out, name, "kernel", kDevice, 7 + span.stream, span.start_s,
              span.end_s - span.start_s,
              fmt::format("{},\"stream\":{},\"waited for\":\"{}\"", link, 7 + span.stream,
                          waited_text(span.waited)));
    }
    for (const CopySpan& copy : r.timeline.copies) {
        const char* direction = copy.to_device ? "HtoD" : "DtoH";
        event(out, fmt::format("Memcpy {}", direction), "gpu_memcpy", kDevice,
              kCopyThread + (copy.to_device ? 0 : 1), copy.start_s, copy.end_s - copy.start_s,
              fmt::format("\"bytes\":{}", r.graph.tensors[copy.tensor].bytes));
    }
    return out + "\n]}\n";
}

namespace {

constexpr double kLanesWidth = 1200.0, kLanesLeft = 110.0, kLanesRight = 44.0, kLanesTop = 64.0,
                 kLane = 34.0;

// Spans closer than a third of a pixel are drawn as one: a picture of a hundred thousand
// operators stays small.
class Lane {
  public:
    Lane(std::string& svg, double top, double scale, const char* css)
        : svg_(svg), top_(top), scale_(scale), css_(css) {}
    ~Lane() { flush(); }
    Lane(const Lane&) = delete;
    Lane& operator=(const Lane&) = delete;

    void add(double start_s, double end_s, const std::string& name) {
        const double from = kLanesLeft + start_s * scale_, to = kLanesLeft + end_s * scale_;
        if (open_ && from < to_ + 0.33 && to - from < 1.0) {
            to_ = std::max(to_, to);
            ++merged_;
            return;
        }
        flush();
        open_ = true;
        from_ = from;
        to_ = to;
        name_ = name;
        seconds_ = end_s - start_s;
        merged_ = 1;
    }

  private:
    void flush() {
        if (!open_) {
            return;
        }
        const std::string tip = merged_ > 1
                                    ? fmt::format("{} and {} more", name_, merged_ - 1)
                                    : fmt::format("{}: {}", name_, model::format_si(seconds_, "s"));
        fmt::format_to(Out(svg_),
                       "<rect class=\"{}\" x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" "
                       "height=\"{:.1f}\" opacity=\"0.85\"><title>{}</title></rect>\n",
                       css_, from_, top_, std::max(to_ - from_ - 0.15, 0.2), kLane - 10.0,
                       svg_escape(tip));
        open_ = false;
    }

    std::string& svg_;
    double top_, scale_;
    const char* css_;
    bool open_ = false;
    double from_ = 0.0, to_ = 0.0, seconds_ = 0.0;
    std::string name_;
    std::size_t merged_ = 0;
};

void label(std::string& svg, double x, double y, const std::string& text, const char* more = "") {
    fmt::format_to(Out(svg),
                   "<text class=\"f-text\" x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"12\"{}>{}"
                   "</text>\n",
                   x, y, more, svg_escape(text));
}

void add_axis(std::string& svg, double bottom, double time_s, double scale) {
    for (int i = 0; i <= 8; ++i) {
        const double at = time_s * i / 8.0;
        fmt::format_to(Out(svg),
                       "<line class=\"s-frame\" x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" "
                       "y2=\"{2:.1f}\" opacity=\"0.4\"/>\n",
                       kLanesLeft + at * scale, kLanesTop - 8.0, bottom);
        label(svg, kLanesLeft + at * scale, bottom + 16.0, model::format_si(at, "s"),
              " text-anchor=\"middle\"");
    }
}

} // namespace

std::string timeline_svg(const TimelineReport& r) {
    const Timeline& t = r.timeline;
    const int lanes = 1 + r.options.streams + (t.copies.empty() ? 0 : 2);
    const double bottom = kLanesTop + lanes * kLane;
    const double scale = (kLanesWidth - kLanesLeft - kLanesRight) / std::max(t.time_s, 1e-12);
    const std::string title =
        fmt::format("{} on {}, {} mode: {}", r.graph.name, r.machine, mode_name(r.options.mode),
                    model::format_si(t.time_s, "s"));
    std::string svg = svg_open({kLanesWidth, bottom + 30.0}, title,
                               "host, streams and copies over time", SvgTheme::automatic);
    label(svg, 16.0, 28.0, title, " font-weight=\"bold\"");
    add_axis(svg, bottom, t.time_s, scale);
    label(svg, 16.0, kLanesTop + 17.0, "host");
    {
        Lane host(svg, kLanesTop, scale, "f-series-2");
        for (std::size_t i = 0; i < t.spans.size(); ++i) {
            host.add(t.spans[i].issue_s, t.spans[i].issued_s,
                     r.graph.name_of(r.graph.operators[i]));
        }
    }
    for (int stream = 0; stream < r.options.streams; ++stream) {
        const double top = kLanesTop + (1 + stream) * kLane;
        label(svg, 16.0, top + 17.0, fmt::format("stream {}", stream + 1));
        Lane lane(svg, top, scale, "f-series-1");
        for (std::size_t i = 0; i < t.spans.size(); ++i) {
            if (t.spans[i].stream == stream) {
                lane.add(t.spans[i].start_s, t.spans[i].end_s,
                         r.graph.name_of(r.graph.operators[i]));
            }
        }
    }
    for (int way = 0; way < (t.copies.empty() ? 0 : 2); ++way) {
        const double top = kLanesTop + (1 + r.options.streams + way) * kLane;
        label(svg, 16.0, top + 17.0, way == 0 ? "to device" : "to host");
        Lane lane(svg, top, scale, "f-series-3");
        for (const CopySpan& copy : t.copies) {
            if (copy.to_device == (way == 0)) {
                lane.add(copy.start_s, copy.end_s, r.graph.name_of(r.graph.tensors[copy.tensor]));
            }
        }
    }
    return svg + "</svg>\n";
}

std::string timeline_html(const TimelineReport& r) {
    return fmt::format("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
                       "<title>{}</title></head>\n<body>\n{}<pre>{}</pre>\n</body></html>\n",
                       svg_escape(r.graph.name), timeline_svg(r), svg_escape(timeline_text(r)));
}

} // namespace eyeroof::study::step
