#include "gui/panes/timeline/timeline_pane.hpp"

#include "gui/views/qt_text.hpp"
#include "model/base/units.hpp"
#include "study/draw/svg.hpp"
#include "study/step/fusion.hpp"

#include <QCheckBox>
#include <QComboBox>
#include <QSpinBox>
#include <QVBoxLayout>

namespace eyeroof::gui {

namespace {

namespace step = study::step;

QString seconds(double value) {
    return text(model::format_si(value, "s", 4)).toHtmlEscaped();
}

// How the window launches, as the step's own word.
step::Mode mode_of(study::LaunchMode launch) {
    switch (launch) {
    case study::LaunchMode::eager:
        return step::Mode::eager;
    case study::LaunchMode::graph:
        return step::Mode::graph;
    case study::LaunchMode::compiled:
        return step::Mode::fused;
    default:
        return step::Mode::stream;
    }
}

model::Result<TimelineAnswer> answer_to(const StepQuestion& question,
                                        const step::TimelineOptions& options) {
    auto whole = whole_step(question);
    if (!whole) {
        return whole.diagnostics();
    }
    const bool fused = step::fuses(options.mode);
    const step::Rewired rewired = fused ? step::with_attention(whole->network, whole->wiring)
                                        : step::Rewired{whole->network, whole->wiring, 0};
    auto graph = step::make_graph(rewired.network, rewired.wiring, whole->graph);
    if (!graph) {
        return graph.diagnostics();
    }
    auto costs = step::costs_of(*graph, whole->gpu(), step::launch_of(options.mode));
    if (!costs) {
        return costs.diagnostics();
    }
    if (fused) {
        step::Fused made = step::fuse(*graph, *costs, whole->gpu());
        *graph = std::move(made.graph);
        *costs = std::move(made.costs);
    }
    TimelineAnswer answer;
    answer.options = options;
    answer.options.host = whole->host;
    answer.timeline = step::simulate(*graph, *costs, whole->gpu(), answer.options);
    answer.graph = *std::move(graph);
    answer.machine = whole->machine;
    answer.host = whole->host_id;
    answer.training = whole->training();
    return answer;
}

QString headline(const TimelineAnswer& answer) {
    const step::Timeline& t = answer.timeline;
    const auto share = [&](double part) {
        return t.time_s > 0.0 ? QString::number(100.0 * part / t.time_s, 'f', 0) : QString("0");
    };
    QString html = TimelinePane::tr("<b>%1</b> (%2 … %3) for %4: kernels run %5 %, the device "
                                    "waits for the host %6 %, for copies %7 %")
                       .arg(seconds(t.time_s), seconds(t.low_s), seconds(t.high_s),
                            answer.training ? TimelinePane::tr("a training step")
                                            : TimelinePane::tr("inference"),
                            share(t.busy_s), share(t.wait_host_s), share(t.wait_copy_s));
    html += answer.host.empty() ? TimelinePane::tr("; a host of round values issues")
                                : TimelinePane::tr("; %1 issues").arg(text(answer.host));
    if (answer.graph.chain) {
        html += TimelinePane::tr(". The network gives no graph: its layers run as a chain");
    }
    return html + ".";
}

} // namespace

TimelinePane::TimelinePane(const PaneActions& actions, QWidget* parent)
    : AskingPane(actions, parent) {
    mode_ = choice(tr("Launched"), "timeline mode",
                   {{tr("as above"), "above"},
                    {tr("by a framework's calls"), "eager"},
                    {tr("back to back"), "stream"},
                    {tr("as a captured graph"), "graph"},
                    {tr("fused by a compiler"), "fused"},
                    {tr("fused and captured"), "fused_graph"}});
    streams_ = number(tr("Streams"), "timeline streams", 1, 16, 1);
    copies_ =
        choice(tr("Copies"), "timeline copies",
               {{tr("none"), "none"}, {tr("the batch"), "batch"}, {tr("weights too"), "all"}});
    pageable_ = flag(tr("Pageable"), "timeline pageable");
    pageable_->setToolTip(
        tr("Copies from memory that is not pinned: half the rate, and the host waits"));
    picture_ = new ZoomView(84.0, 16.0, this);
    picture_->setObjectName("timeline picture");
    picture_->setAccessibleName(tr("Host, streams and copies over time"));
    picture_->setMinimumSize(260, 120);
    column()->addWidget(picture_, 1);
    connect(picture_, &ZoomView::window_changed, this, &TimelinePane::draw);
    connect(picture_, &ZoomView::clicked, this, &TimelinePane::select);
    clear();
}

step::TimelineOptions TimelinePane::options(const PaneInput& input) const {
    static const std::map<QString, step::Mode> modes = {{"eager", step::Mode::eager},
                                                        {"stream", step::Mode::stream},
                                                        {"graph", step::Mode::graph},
                                                        {"fused", step::Mode::fused},
                                                        {"fused_graph", step::Mode::fused_graph}};
    static const std::map<QString, step::Copies> copies = {
        {"none", step::Copies::none}, {"batch", step::Copies::batch}, {"all", step::Copies::all}};
    const auto mode = modes.find(mode_->currentData().toString());
    return {mode == modes.end() ? mode_of(input.options.launch) : mode->second,
            {},
            streams_->value(),
            copies.at(copies_->currentData().toString()),
            pageable_->isChecked()};
}

Background::Job TimelinePane::job(const PaneInput& input) {
    const auto question = step_question(input);
    if (!question) {
        say(tr("A step over time: for a network on a GPU or a host processor."));
        return {};
    }
    pageable_->setEnabled(copies_->currentIndex() > 0);
    return [this, question = *question, wanted = options(input)](
               const std::stop_token&, const model::ProgressCallback&) -> Background::Show {
        const auto found = answer_to(question, wanted);
        auto answer = found ? std::make_shared<const TimelineAnswer>(*found) : nullptr;
        return [this, answer, problems = found.diagnostics()] {
            if (answer) {
                return show_answer_of(answer);
            }
            clear();
            say(problems);
        };
    };
}

void TimelinePane::clear() {
    answer_.reset();
    picture_->clear(tr("No step to show."));
}

void TimelinePane::show_answer_of(std::shared_ptr<const TimelineAnswer> answer) {
    answer_ = std::move(answer);
    say(headline(*answer_));
    show_selection(actions_.look());
    draw();
}

step::TimelineLook TimelinePane::look() const {
    const auto window = picture_->window();
    step::TimelineLook look;
    look.layer = marked_;
    if (picture_->zoomed()) {
        look.shown = step::TimeRange{window.from * answer_->timeline.time_s,
                                     window.to * answer_->timeline.time_s};
    }
    return look;
}

void TimelinePane::draw() {
    if (!answer_) {
        return;
    }
    picture_->show_drawing(
        [answer = answer_, look = look()](const study::Canvas& canvas) {
            return step::draw_timeline(answer->report(), canvas, look);
        },
        false);
}

void TimelinePane::show_selection(const PaneInput& input) {
    std::optional<std::uint32_t> marked;
    if (answer_ && input.layer && input.selected) {
        const study::Report& report = input.reports->at(input.report);
        const model::Layer& layer = report.layers.at(*input.layer).layer;
        for (std::uint32_t i = 0; i < answer_->graph.layers.size() && !marked; ++i) {
            if (answer_->graph.layers[i] == layer || answer_->graph.layers[i].name == layer.name) {
                marked = i;
            }
        }
    }
    if (marked != marked_) {
        marked_ = marked;
        draw();
    }
}

void TimelinePane::select(QPointF place) {
    const PaneInput input = actions_.look();
    if (!answer_ || input.reports->empty()) {
        return;
    }
    const study::Canvas canvas{static_cast<double>(picture_->width()),
                               static_cast<double>(picture_->height())};
    const auto op = step::operator_at(answer_->report(), canvas, look(), {place.x(), place.y()});
    if (!op) {
        return;
    }
    const model::Layer& layer = answer_->graph.layers[answer_->graph.operators[*op].layer];
    if (const auto row = row_of(input.reports->front(), layer)) {
        actions_.select_layer(0, *row);
    } else {
        actions_.tell(tr("%1 is no row of the table: a compiler made it of several")
                          .arg(text(answer_->graph.name_of(answer_->graph.operators[*op]))));
    }
}

QString TimelinePane::html() const {
    return answer_ ? "<p>" + headline(*answer_) + "</p>" +
                         text(study::to_svg(step::draw_timeline(answer_->report(), {1000.0, 260.0}),
                                            study::SvgTheme::automatic))
                   : QString();
}

} // namespace eyeroof::gui
