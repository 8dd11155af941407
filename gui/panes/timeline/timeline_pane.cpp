#include "gui/panes/timeline/timeline_pane.hpp"

#include "analysis/scenario/fields.hpp"
#include "base/units.hpp"
#include "gui/views/qt_text.hpp"
#include "report/draw/svg.hpp"

#include <QCheckBox>
#include <QComboBox>
#include <QSpinBox>
#include <QVBoxLayout>

namespace eyeroof::gui {

namespace {

namespace step = analysis::step;

QString seconds(double value) {
    return text(format_si(value, "s", 4)).toHtmlEscaped();
}

QString headline(const TimelineAnswer& answer) {
    const step::Timeline& t = answer.timeline();
    const auto share = [&](double part) {
        return t.time_s > 0.0 ? QString::number(100.0 * part / t.time_s, 'f', 0) : QString("0");
    };
    QString html =
        TimelinePane::tr("<b>%1</b> (%2 … %3): kernels run %4 %, the device waits for the "
                         "host %5 %, for copies %6 %. ")
            .arg(seconds(t.time_s), seconds(t.low_s), seconds(t.high_s), share(t.busy_s),
                 share(t.wait_host_s), share(t.wait_copy_s)) +
        text(answer.of->words).toHtmlEscaped() + ".";
    if (answer.program().chain) {
        html += TimelinePane::tr(" The network gives no graph: its layers run as a chain.");
    }
    return html;
}

} // namespace

TimelinePane::TimelinePane(const PaneActions& actions, QWidget* parent)
    : AskingPane(actions, parent) {
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

void TimelinePane::choice_changed() {
    actions_.change_scenario([this](analysis::Scenario& scenario) {
        scenario.streams = streams_->value();
        analysis::find_field("copies")->set(scenario,
                                            {copies_->currentData().toString().toStdString()});
        scenario.pageable = pageable_->isChecked();
    });
}

void TimelinePane::show_choices(const analysis::Scenario& scenario) {
    const QSignalBlocker one(streams_), two(pageable_);
    streams_->setValue(scenario.streams);
    copies_->setCurrentIndex(copies_->findData(text(analysis::copies_name(scenario.copies))));
    pageable_->setChecked(scenario.pageable);
    pageable_->setEnabled(scenario.copies != analysis::Copies::none);
}

Background::Job TimelinePane::job(const PaneInput& input) {
    show_choices(*input.scenario);
    const analysis::Question* question = input.gpu_question();
    const auto report = input.first_report();
    if (question == nullptr || report == nullptr) {
        say(tr("A step over time: for a network on a GPU or a host processor."));
        return {};
    }
    const auto answer = std::make_shared<const TimelineAnswer>(
        TimelineAnswer{report, std::get<model::Gpu>(question->machine.kind)});
    return [this, answer](const std::stop_token&, const ProgressCallback&) -> Background::Show {
        return [this, answer] { show_answer_of(answer); };
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

report::TimelineLook TimelinePane::look() const {
    const auto window = picture_->window();
    report::TimelineLook look;
    look.layer = marked_;
    if (picture_->zoomed()) {
        look.shown = report::TimeRange{window.from * answer_->timeline().time_s,
                                       window.to * answer_->timeline().time_s};
    }
    return look;
}

void TimelinePane::draw() {
    if (!answer_) {
        return;
    }
    picture_->show_drawing(
        [answer = answer_, look = look()](const report::Canvas& canvas) {
            return report::draw_timeline(answer->report(), canvas, look);
        },
        false);
}

void TimelinePane::show_selection(const PaneInput& input) {
    std::optional<std::uint32_t> marked;
    if (answer_ && input.layer && input.selected && input.report == 0) {
        marked = static_cast<std::uint32_t>(*input.layer);
    }
    if (marked != marked_) {
        marked_ = marked;
        draw();
    }
}

void TimelinePane::select(QPointF place) {
    if (!answer_) {
        return;
    }
    const report::Canvas canvas{static_cast<double>(picture_->width()),
                                static_cast<double>(picture_->height())};
    const auto op = report::operator_at(answer_->report(), canvas, look(), {place.x(), place.y()});
    if (op) {
        actions_.select_layer(0, answer_->program().operators[*op].layer);
    }
}

QString TimelinePane::html() const {
    return answer_
               ? "<p>" + headline(*answer_) + "</p>" +
                     text(report::to_svg(report::draw_timeline(answer_->report(), {1000.0, 260.0}),
                                         report::SvgTheme::automatic))
               : QString();
}

} // namespace eyeroof::gui
