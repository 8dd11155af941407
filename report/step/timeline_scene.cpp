#include "base/units.hpp"
#include "report/draw/fitted_text.hpp"
#include "report/draw/linear_plot.hpp"
#include "report/step/step_scenes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <utility>

namespace eyeroof::report {

namespace {

constexpr double kLanesLeft = 84.0, kLanesRight = 16.0, kLanesTop = 44.0, kLanesBelow = 26.0;
constexpr double kMostLane = 160.0, kLeastLane = 16.0;
constexpr std::size_t kMostMeasured = 4; // lanes of measured streams
constexpr std::size_t kMostArrows = 64;  // more would hide the lanes
constexpr double kLeastCut = 64.0,
                 kNameEdge = 4.0;      // pixels of a box with a cut name, and beside it
constexpr double kWiderLetters = 1.25; // than text_width(), in some fonts
constexpr double kGapHeight = 0.35;    // of a lane
constexpr double kKernelOpacity = 0.85, kGapOpacity = 0.45;

using analysis::step::Waited;

// What a stream may wait for, each in the colour of what is waited for.
struct Gap {
    Waited cause;
    ColourRole role;
    const char* name;
};
constexpr std::array<Gap, 4> kGaps = {
    {{Waited::host, ColourRole::series2, "waits for its launch"},
     {Waited::copy, ColourRole::series3, "waits for a copy"},
     {Waited::operand, ColourRole::series5, "waits for an operand"},
     {Waited::room, ColourRole::series7, "waits for free SMs"}}};

ColourRole role_of(MeasuredWait wait) {
    switch (wait) {
    case MeasuredWait::host:
        return ColourRole::series2;
    case MeasuredWait::launch:
        return ColourRole::series6;
    case MeasuredWait::copy:
        return ColourRole::series3;
    case MeasuredWait::device:
        return ColourRole::series5;
    case MeasuredWait::unknown:
        break;
    }
    return ColourRole::faint;
}

TimeRange range_of(const TimelineReport& r, const TimelineLook& look) {
    return look.shown.value_or(TimeRange{0.0, std::max(timeline_length_s(r, look), 1e-12)});
}

bool has_track(const TimelineLook& look) {
    return look.measured && !look.measured->empty();
}

// Of a measured step: a lane each, those beyond the last lane share it.
std::size_t measured_lanes(const TimelineLook& look) {
    std::size_t lanes = 0;
    for (std::size_t i = 0; has_track(look) && i < look.measured->slices.size(); ++i) {
        lanes = std::max(lanes, look.measured->slices[i].stream + 1);
    }
    return std::min(lanes, kMostMeasured);
}

int lane_count(const TimelineReport& r, const TimelineLook& look) {
    return static_cast<int>(measured_lanes(look)) + 1 + r.report.scenario.streams +
           (r.timeline().copies.empty() ? 0 : 2);
}

struct Scale {
    TimeRange range;
    double width; // of the lanes, pixels

    double x(double seconds) const {
        return kLanesLeft + width * (seconds - range.from_s) / (range.to_s - range.from_s);
    }
};

Scale scale_of(const TimelineReport& r, const Canvas& canvas, const TimelineLook& look) {
    return {range_of(r, look), std::max(canvas.width - kLanesLeft - kLanesRight, 40.0)};
}

using Naming = std::function<std::string(std::size_t)>;

// What a box is called, and the lines that its tip has below that and its length.
struct Words {
    Naming name;
    Naming more = {}; // none: no such lines
};

// A picture, and beside each of its boxes the operator that it is of; kNone: of none.
struct Lanes {
    Drawing drawing;
    std::vector<analysis::step::OperatorId> operators;
};

// One after the other; what is too narrow to be seen is drawn with its neighbours, as the longest
// of them.
class Lane {
  public:
    Lane(Lanes& lanes, const Scale& scale, std::string name, Box box, ColourRole role, Words words,
         bool numbered, bool gaps = false)
        : lanes_(lanes), scale_(scale), name_(std::move(name)), box_(box), role_(role),
          words_(std::move(words)), numbered_(numbered), gaps_(gaps) {}
    ~Lane() { flush(); }
    Lane(const Lane&) = delete;
    Lane& operator=(const Lane&) = delete;

    void add(double start_s, double end_s, std::size_t what, bool marked) {
        const double from = std::max(scale_.x(start_s), box_.left);
        const double to = std::min(scale_.x(end_s), box_.right());
        if (to < box_.left || from > box_.right()) {
            return;
        }
        const bool joins =
            merged_ > 0 && from < to_ + 0.33 && to - from < 1.0 && !marked && !marked_;
        if (!joins) {
            flush();
            from_ = from;
            marked_ = marked;
            start_s_ = start_s;
            longest_s_ = -1.0;
        }
        to_ = to;
        end_s_ = end_s;
        ++merged_;
        if (end_s - start_s > longest_s_) {
            longest_s_ = end_s - start_s;
            what_ = what;
        }
    }

  private:
    void flush() {
        if (merged_ == 0) {
            return;
        }
        const std::string name = words_.name(what_);
        const std::string tip =
            fmt::format("{}: {}{}{}", name, format_si(longest_s_, "s"),
                        merged_ > 1 ? fmt::format(", and {} more", merged_ - 1) : "",
                        words_.more ? "\n" + words_.more(what_) : "");
        const Box box{from_, box_.top, std::max(to_ - from_ - 0.15, marked_ ? 1.0 : 0.2),
                      box_.height};
        lanes_.drawing.boxes.push_back({box, marked_ ? ColourRole::selection : role_,
                                        gaps_ ? kGapOpacity : kKernelOpacity, false, tip});
        if (merged_ == 1 && !gaps_ && box.height >= kSmallPx) {
            add_name(name, box);
        }
        lanes_.operators.push_back(numbered_ ? static_cast<analysis::step::OperatorId>(what_)
                                             : analysis::step::kNone);
        lanes_.drawing.figures.rows.push_back(
            {name_, name, start_s_, end_s_, static_cast<double>(merged_)});
        merged_ = 0;
    }

    // Whole where it fits, its ends in a wide box, else not at all.
    void add_name(const std::string& name, const Box& box) {
        const double width = (box.width - 2.0 * kNameEdge) / kWiderLetters;
        if (text_width(name, kSmallPx) > width && box.width < kLeastCut) {
            return;
        }
        lanes_.drawing.texts.push_back(
            {{box.left + kNameEdge, box.top + 0.5 * box.height + 0.35 * kSmallPx},
             fitted(name, kSmallPx, width),
             ColourRole::text,
             kSmallPx,
             0.0,
             false,
             true});
    }

    Lanes& lanes_;
    const Scale& scale_;
    std::string name_;
    Box box_;
    ColourRole role_;
    Words words_;
    bool numbered_, gaps_, marked_ = false;
    double from_ = 0.0, to_ = 0.0, start_s_ = 0.0, end_s_ = 0.0, longest_s_ = 0.0;
    std::size_t what_ = 0, merged_ = 0;
};

// As many as tell two neighbouring ticks apart.
int digits_of(double value, double step) {
    return std::clamp(static_cast<int>(std::ceil(std::log10(value / step))) + 2, 3, 12);
}

void add_axis(Drawing& d, const Scale& scale, double bottom) {
    const double span = scale.range.to_s - scale.range.from_s;
    const double most = std::clamp(scale.width / 90.0, 1.0, 10.0);
    for (const double at : round_ticks(scale.range.from_s, scale.range.to_s, most)) {
        const double x = scale.x(at);
        d.lines.push_back({{{x, kLanesTop - 6.0}, {x, bottom}}, ColourRole::grid});
        const std::string label =
            at < 1e-9 * span ? "0 s" : format_si(at, "s", digits_of(at, span / most));
        const double half = text_width(label, kSmallPx) / 2.0;
        const double middle = std::clamp(
            x, kLanesLeft + half, std::max(kLanesLeft + scale.width - half, kLanesLeft + half));
        d.texts.push_back({{middle, bottom + 16.0}, label, ColourRole::faint, kSmallPx, 0.5});
    }
}

// The lanes from top to bottom, each with its name.
class LanesBelow {
  public:
    LanesBelow(Lanes& lanes, const Scale& scale, double height)
        : lanes_(lanes), scale_(scale), height_(height) {}

    // Where the row that comes next has its boxes.
    Box box() const {
        return {kLanesLeft, kLanesTop + height_ * row_, scale_.width, height_ * 0.75};
    }

    Lane next(const std::string& name, ColourRole role, Words words, bool numbered) {
        const double top = kLanesTop + height_ * row_++;
        lanes_.drawing.texts.push_back(
            {{14.0, top + 0.5 * height_}, name, ColourRole::text, kSmallPx});
        return {lanes_, scale_,           name,    {kLanesLeft, top, scale_.width, height_ * 0.75},
                role,   std::move(words), numbered};
    }

  private:
    Lanes& lanes_;
    const Scale& scale_;
    double height_;
    int row_ = 0;
};

// What a stream waits for between its kernels, below their line.
void add_gaps(Lanes& picture, const TimelineReport& r, const Scale& scale, int stream, Box box) {
    const auto& spans = r.timeline().spans;
    box.top += box.height * (1.0 - kGapHeight);
    box.height *= kGapHeight;
    for (const Gap& gap : kGaps) {
        const Naming named = [&](std::size_t i) {
            return r.graph().name_of(r.graph().operators[i]) + " " + gap.name;
        };
        Lane gaps(picture, scale, fmt::format("stream {} waits", stream + 1), box, gap.role,
                  {named}, false, true);
        double last_s = 0.0;
        for (std::size_t i = 0; i < spans.size(); ++i) {
            if (spans[i].stream != stream) {
                continue;
            }
            if (spans[i].waited == gap.cause && spans[i].start_s > last_s) {
                gaps.add(last_s, spans[i].start_s, i, false);
            }
            last_s = spans[i].end_s;
        }
    }
}

// Why no measured kernel runs, below the line of those that do.
void add_gaps(Lanes& picture, const MeasuredTrack& track, const Scale& scale, Box box) {
    box.top += box.height * (1.0 - kGapHeight);
    box.height *= kGapHeight;
    for (std::size_t cause = 0; cause < kMeasuredWaits; ++cause) {
        const auto wait = static_cast<MeasuredWait>(cause);
        const Naming named = [&](std::size_t i) {
            return fmt::format("{} {}", track.gaps[i].next, measured_wait_text(wait));
        };
        Lane gaps(picture, scale, "measured waits", box, role_of(wait), {named}, false, true);
        for (std::size_t i = 0; i < track.gaps.size(); ++i) {
            if (track.gaps[i].cause == wait) {
                gaps.add(track.gaps[i].start_s, track.gaps[i].end_s, i, false);
            }
        }
    }
}

// Causes of gaps that there are, predicted or measured, once each.
std::vector<std::pair<std::string, ColourRole>> causes_of(const TimelineReport& r,
                                                          const TimelineLook& look) {
    std::vector<std::pair<std::string, ColourRole>> causes;
    for (const Gap& gap : kGaps) {
        if (std::ranges::any_of(r.timeline().spans,
                                [&](const auto& span) { return span.waited == gap.cause; })) {
            causes.emplace_back(gap.name, gap.role);
        }
    }
    for (std::size_t cause = 0; has_track(look) && cause < kMeasuredWaits; ++cause) {
        const auto wait = static_cast<MeasuredWait>(cause);
        const std::pair entry{std::string(measured_wait_text(wait)), role_of(wait)};
        if (std::ranges::any_of(look.measured->gaps,
                                [&](const auto& gap) { return gap.cause == wait; }) &&
            std::ranges::find(causes, entry) == causes.end()) {
            causes.push_back(entry);
        }
    }
    return causes;
}

// Which colour of a gap is which cause.
void add_gap_legend(Drawing& d, const TimelineReport& r, const TimelineLook& look) {
    double x = kLanesLeft;
    for (const auto& [name, role] : causes_of(r, look)) {
        const double width = 22.0 + text_width(name, kSmallPx);
        if (x + width > d.canvas.width) {
            continue;
        }
        d.boxes.push_back({{x, 30.0, 8.0, 8.0}, role, kGapOpacity});
        d.texts.push_back({{x + 12.0, 37.5}, name, ColourRole::faint, kSmallPx});
        x += width;
    }
}

// When a predicted kernel was launched, and why it started no sooner.
std::string launch_text(const TimelineReport& r, std::size_t i, double free_s) {
    const analysis::step::Span& span = r.timeline().spans[i];
    std::string text =
        fmt::format("starts at {}, {} after the CPU launched it", format_si(span.start_s, "s", 4),
                    format_si(std::max(0.0, span.start_s - span.issued_s), "s"));
    const auto gap = std::ranges::find(kGaps, span.waited, &Gap::cause);
    if (gap != kGaps.end() && span.start_s > free_s) {
        text += fmt::format("\n{} for {}", gap->name, format_si(span.start_s - free_s, "s"));
    }
    return span.before == analysis::step::kNone
               ? text
               : text + "\nafter " + r.graph().name_of(r.graph().operators[span.before]);
}

std::string launch_text(const MeasuredSlice& slice) {
    std::string text = "starts at " + format_si(slice.start_s, "s", 4);
    text += slice.launched_by.empty() ? "" : "\nlaunched by " + slice.launched_by;
    return slice.called_s ? text + fmt::format("{}{} before it starts",
                                               slice.launched_by.empty() ? "\nlaunched " : ", ",
                                               format_si(slice.start_s - *slice.called_s, "s"))
                          : text;
}

// By span: when its stream had nothing to do any more.
std::vector<double> free_since(const TimelineReport& r) {
    std::vector<double> free(r.timeline().spans.size());
    std::vector<double> last(static_cast<std::size_t>(r.report.scenario.streams), 0.0);
    for (std::size_t i = 0; i < free.size(); ++i) {
        const analysis::step::Span& span = r.timeline().spans[i];
        if (span.stream < last.size()) {
            free[i] = std::exchange(last[span.stream], span.end_s);
        }
    }
    return free;
}

void add_measured(Lanes& picture, const TimelineLook& look, const Scale& scale, LanesBelow& lanes) {
    const MeasuredTrack& track = *look.measured;
    const std::size_t streams = measured_lanes(look);
    add_gaps(picture, track, scale, lanes.box());
    for (std::size_t stream = 0; stream < streams; ++stream) {
        Lane measured = lanes.next(
            streams == 1 ? "measured" : fmt::format("measured {}", stream + 1), ColourRole::series4,
            {[&](std::size_t i) { return track.slices[i].name; },
             [&](std::size_t i) { return launch_text(track.slices[i]); }},
            false);
        for (std::size_t i = 0; i < track.slices.size(); ++i) {
            if (std::min(track.slices[i].stream, streams - 1) == stream) {
                measured.add(track.slices[i].start_s, track.slices[i].end_s, i, false);
            }
        }
    }
}

void add_copies(const TimelineReport& r, LanesBelow& lanes) {
    const auto& tensors = r.graph().tensors;
    const Words words{
        [&](std::size_t t) { return r.graph().name_of(tensors[t]); },
        [&](std::size_t t) { return format_si(static_cast<double>(tensors[t].bytes), "B"); }};
    for (int way = 0; way < (r.timeline().copies.empty() ? 0 : 2); ++way) {
        Lane copies =
            lanes.next(way == 0 ? "to device" : "to host", ColourRole::series3, words, false);
        for (const analysis::step::CopySpan& copy : r.timeline().copies) {
            if (copy.to_device == (way == 0)) {
                copies.add(copy.start_s, copy.end_s, copy.tensor, false);
            }
        }
    }
}

// From a launch to its kernel.
struct Flow {
    Place from, to;
};

std::vector<Flow> add_lanes(Lanes& picture, const TimelineReport& r, const Scale& scale,
                            const TimelineLook& look, double height) {
    LanesBelow lanes(picture, scale, height);
    if (has_track(look)) {
        add_measured(picture, look, scale, lanes);
    }
    const auto& spans = r.timeline().spans;
    const std::vector<double> free = free_since(r);
    const Naming named = [&](std::size_t i) { return r.graph().name_of(r.graph().operators[i]); };
    const auto marked = [&](std::size_t i) { return look.layer == r.graph().operators[i].layer; };
    std::vector<Flow> flows;
    const double launched = lanes.box().bottom();
    {
        Lane host = lanes.next("host", ColourRole::series2,
                               {named,
                                [&](std::size_t i) {
                                    return "launch; its kernel starts at " +
                                           format_si(spans[i].start_s, "s", 4);
                                }},
                               true);
        for (std::size_t i = 0; i < spans.size(); ++i) {
            host.add(spans[i].issue_s, spans[i].issued_s, i, marked(i));
        }
    }
    for (int stream = 0; stream < r.report.scenario.streams; ++stream) {
        add_gaps(picture, r, scale, stream, lanes.box());
        const double top = lanes.box().top;
        Lane kernels =
            lanes.next(fmt::format("stream {}", stream + 1), ColourRole::series1,
                       {named, [&](std::size_t i) { return launch_text(r, i, free[i]); }}, true);
        for (std::size_t i = 0; i < spans.size(); ++i) {
            if (spans[i].stream == stream) {
                kernels.add(spans[i].start_s, spans[i].end_s, i, marked(i));
                if (marked(i) && flows.size() < kMostArrows) {
                    flows.push_back(
                        {{scale.x(spans[i].issued_s), launched}, {scale.x(spans[i].start_s), top}});
                }
            }
        }
    }
    add_copies(r, lanes);
    return flows;
}

// Arrows of the marked layer, and the ruler, over the lanes.
ClippedLayer overlay(const Drawing& d, const std::vector<Flow>& flows, const Scale& scale,
                     const TimelineLook& look, double bottom) {
    ClippedLayer layer;
    layer.clip = {kLanesLeft, kLanesTop - 12.0, scale.width, d.canvas.height - kLanesTop + 12.0};
    constexpr double head = 4.0;
    for (const Flow& flow : flows) {
        layer.lines.push_back({{flow.from, flow.to}, ColourRole::selection, 1.4});
        layer.lines.push_back(
            {{{flow.to.x - head, flow.to.y - head}, flow.to, {flow.to.x + head, flow.to.y - head}},
             ColourRole::selection,
             1.4});
    }
    if (look.ruler) {
        const double from = scale.x(look.ruler->from_s);
        const double to = scale.x(look.ruler->to_s);
        const double top = kLanesTop - 6.0;
        layer.boxes.push_back({{from, top, to - from, bottom - top}, ColourRole::selection, 0.15});
        for (const double x : {from, to}) {
            layer.lines.push_back({{{x, top}, {x, bottom}}, ColourRole::selection, 1.4});
        }
        const double middle = std::clamp(0.5 * (from + to), kLanesLeft + 40.0,
                                         kLanesLeft + std::max(40.0, scale.width - 40.0));
        layer.texts.push_back({{middle, bottom - 4.0},
                               format_si(look.ruler->to_s - look.ruler->from_s, "s", 4),
                               ColourRole::text,
                               kFontPx,
                               0.5,
                               true,
                               true});
    }
    return layer;
}

Lanes lanes_of(const TimelineReport& r, const Canvas& canvas, const TimelineLook& look) {
    Lanes picture;
    Drawing& d = picture.drawing;
    const int lanes = lane_count(r, look);
    const double lane =
        std::clamp((canvas.height - kLanesTop - kLanesBelow) / lanes, kLeastLane, kMostLane);
    const double bottom = kLanesTop + lanes * lane;
    d.canvas = {std::max(canvas.width, kLanesLeft + kLanesRight + 40.0),
                std::max(canvas.height, bottom + kLanesBelow)};
    d.title = fmt::format("{} on {}, {}{}: {}", r.graph().name, r.report.machine.id,
                          model::launch_name(r.report.scenario.launch),
                          r.report.scenario.compiled ? ", compiled" : "",
                          format_si(r.timeline().time_s, "s"));
    const Scale scale = scale_of(r, d.canvas, look);
    const auto most = static_cast<std::size_t>(std::max(12.0, (d.canvas.width - 32.0) / 8.5));
    d.texts.push_back(
        {{14.0, 22.0}, shortened(d.title, most), ColourRole::text, kFontPx, 0.0, true});
    add_axis(d, scale, bottom);
    d.figures.columns = {"lane", "operator", "start_s", "end_s", "operators"};
    const std::vector<Flow> flows = add_lanes(picture, r, scale, look, lane);
    add_gap_legend(d, r, look); // behind the lanes' boxes, which operators stand beside
    if (!flows.empty() || look.ruler) {
        d.layers.push_back(overlay(d, flows, scale, look, bottom));
    }
    return picture;
}

} // namespace

std::string_view measured_wait_text(MeasuredWait wait) {
    switch (wait) {
    case MeasuredWait::host:
        return "waits for its launch";
    case MeasuredWait::launch:
        return "launch latency";
    case MeasuredWait::copy:
        return "waits for a copy";
    case MeasuredWait::device:
        return "launched, waits on the device";
    case MeasuredWait::unknown:
        break;
    }
    return "launch not recorded";
}

double timeline_length_s(const TimelineReport& r, const TimelineLook& look) {
    double end = r.timeline().time_s;
    if (has_track(look)) {
        for (const MeasuredSlice& slice : look.measured->slices) {
            end = std::max(end, slice.end_s);
        }
    }
    return end;
}

double nearest_edge_s(const Drawing& timeline, double at_s, double reach_s) {
    double nearest = at_s;
    for (const auto& row : timeline.figures.rows) {
        for (const std::size_t column : {std::size_t{2}, std::size_t{3}}) { // start_s, end_s
            const double edge = std::get<double>(row.at(column));
            if (std::abs(edge - at_s) < reach_s) {
                reach_s = std::abs(edge - at_s);
                nearest = edge;
            }
        }
    }
    return nearest;
}

Drawing draw_timeline(const TimelineReport& r, const Canvas& canvas, const TimelineLook& look) {
    return lanes_of(r, canvas, look).drawing;
}

std::optional<analysis::step::OperatorId> operator_at(const TimelineReport& r, const Canvas& canvas,
                                                      const TimelineLook& look, Place place) {
    constexpr double kReach = 1.0; // pixels beside a narrow box
    const Lanes picture = lanes_of(r, canvas, look);
    std::optional<analysis::step::OperatorId> found;
    for (std::size_t i = 0; i < picture.operators.size(); ++i) {
        const Box& box = picture.drawing.boxes[i].box;
        const bool here = place.x >= box.left - kReach && place.x <= box.right() + kReach &&
                          place.y >= box.top && place.y <= box.bottom();
        if (here && picture.operators[i] != analysis::step::kNone) {
            found = picture.operators[i];
        }
    }
    return found;
}

} // namespace eyeroof::report
