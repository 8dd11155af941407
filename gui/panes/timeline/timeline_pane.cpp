#include "gui/panes/timeline/timeline_pane.hpp"

#include "analysis/scenario/fields.hpp"
#include "base/units.hpp"
#include "gui/views/qt_text.hpp"
#include "report/draw/svg.hpp"
#include "report/step/measured_track.hpp"

#include <QCheckBox>
#include <QComboBox>
#include <QLineEdit>
#include <QSpinBox>
#include <QVBoxLayout>
#include <algorithm>
#include <filesystem>

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
        TimelinePane::tr("<b>%1</b> (%2 to %3): kernels run %4 %, the device waits for the "
                         "host %5 %, for copies %6 %. ")
            .arg(seconds(t.time_s), seconds(t.low_s), seconds(t.high_s), share(t.busy_s),
                 share(t.wait_host_s), share(t.wait_copy_s)) +
        text(answer.of->words).toHtmlEscaped() + ".";
    if (answer.program().chain) {
        html += TimelinePane::tr(" The network gives no graph: its layers run as a chain.");
    }
    return html;
}

// "Measured gaps: waits for its launch 3.1 us, …": the causes that there are.
QString waits_text(const report::BusySeconds& busy) {
    QStringList parts;
    for (std::size_t cause = 0; cause < busy.waits.size(); ++cause) {
        if (busy.waits[cause] > 0.0) {
            const auto wait = static_cast<report::MeasuredWait>(cause);
            parts << text(report::measured_wait_text(wait)) + " " + seconds(busy.waits[cause]);
        }
    }
    return parts.isEmpty() ? QString()
                           : TimelinePane::tr(" Measured gaps: %1.").arg(parts.join(", "));
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
    find_ = new QLineEdit(this);
    find_->setPlaceholderText(tr("kernel or layer"));
    find_->setMaximumWidth(130);
    labelled(tr("Find"), "timeline find", find_);
    connect(find_, &QLineEdit::textEdited, this, [this] { found_s_ = -1.0; });
    connect(find_, &QLineEdit::returnPressed, this, &TimelinePane::find_next);
    picture_ = new ZoomView(84.0, 16.0, this);
    picture_->setObjectName("timeline picture");
    picture_->setAccessibleName(tr("Host, streams and copies over time"));
    picture_->setMinimumSize(260, 120);
    column()->addWidget(picture_, 1);
    connect(picture_, &ZoomView::window_changed, this, &TimelinePane::draw);
    connect(picture_, &ZoomView::clicked, this, &TimelinePane::select);
    connect(picture_, &ZoomView::ruled, this, &TimelinePane::rule);
    connect(picture_, &ZoomView::pressed, this, &TimelinePane::press);
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
    const auto compared = std::ranges::find_if(*input.files, [&](const MeasurementFile& file) {
        return file.kind == MeasurementFile::Kind::profile && file.content && report->measured;
    });
    const auto file = compared == input.files->end() ? MeasurementFile{} : *compared;
    return [this, file, report, gpu = std::get<model::Gpu>(question->machine.kind)](
               const std::stop_token&, const ProgressCallback&) -> Background::Show {
        const auto answer = std::make_shared<TimelineAnswer>(TimelineAnswer{report, gpu});
        if (file.content) {
            answer->measured = std::make_shared<const report::MeasuredTrack>(
                report::measured_track(*file.content, *report));
            answer->run = std::filesystem::path(file.path).filename().string();
        }
        return [this, answer] { show_answer_of(answer); };
    };
}

void TimelinePane::clear() {
    answer_.reset();
    picture_->clear(tr("No step to show."));
}

void TimelinePane::show_answer_of(std::shared_ptr<const TimelineAnswer> answer) {
    answer_ = std::move(answer);
    ruler_.reset(); // its marks are of the step before
    show_selection(actions_.look());
    draw();
}

// Of the range between the marks, or that the wheel or a drag shows: both sums beside each other.
QString TimelinePane::sums() const {
    const bool track = answer_->measured && !answer_->measured->empty();
    QString head;
    if (answer_->measured && !track) {
        head = tr("<br>%1 has no start times, so that it has no track here.")
                   .arg(text(answer_->run).toHtmlEscaped());
    }
    if (!track && !ruler_) {
        return head;
    }
    const double length = report::timeline_length_s(answer_->report(), look());
    const report::TimeRange seen = look().shown.value_or(report::TimeRange{0.0, length});
    const report::TimeRange range = ruler_.value_or(seen);
    const report::BusySeconds busy =
        report::busy_in(range, track ? *answer_->measured : report::MeasuredTrack{}, *answer_->of);
    head += ruler_ ? tr("<br>Between the marks, %1 from %2 to %3: ")
                         .arg(seconds(range.to_s - range.from_s), seconds(range.from_s),
                              seconds(range.to_s))
                   : tr("<br>In sight, %1: ").arg(seconds(range.to_s - range.from_s));
    return head +
           (track ? tr("kernels of %1 run %2, predicted ones %3.")
                        .arg(text(answer_->run).toHtmlEscaped(), seconds(busy.measured),
                             seconds(busy.predicted))
                  : tr("kernels run %1.").arg(seconds(busy.predicted))) +
           waits_text(busy);
}

// A mark near the edge of a box is that edge.
void TimelinePane::rule(double from, double to) {
    constexpr double reach = 6.0; // pixels
    ruler_.reset();
    if (answer_ && to > from) {
        const auto window = picture_->window();
        const double length = report::timeline_length_s(answer_->report(), look());
        const double reach_s =
            reach * (window.to - window.from) * length / std::max(1, picture_->width());
        const report::Drawing& drawing = picture_->drawing();
        ruler_ = report::TimeRange{report::nearest_edge_s(drawing, from * length, reach_s),
                                   report::nearest_edge_s(drawing, to * length, reach_s)};
    }
    draw();
}

report::TimelineLook TimelinePane::look() const {
    const auto window = picture_->window();
    report::TimelineLook look;
    look.layer = marked_;
    look.measured = answer_->measured;
    look.ruler = ruler_;
    if (picture_->zoomed()) {
        const double length = report::timeline_length_s(answer_->report(), look);
        look.shown = report::TimeRange{window.from * length, window.to * length};
    }
    return look;
}

void TimelinePane::draw() {
    if (!answer_) {
        return;
    }
    say(headline(*answer_) + sums());
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
        at_ = *op;
        actions_.select_layer(0, answer_->program().operators[*op].layer);
    }
}

std::optional<std::size_t> TimelinePane::kernel() const {
    const auto& operators = answer_->program().operators;
    if (at_ < operators.size() && operators[at_].layer == marked_) {
        return at_;
    }
    const auto first = std::ranges::find_if(
        operators, [this](const analysis::step::Operator& op) { return op.layer == marked_; });
    return first == operators.end()
               ? std::nullopt
               : std::optional(static_cast<std::size_t>(first - operators.begin()));
}

void TimelinePane::fit(double from_s, double to_s) {
    constexpr double around = 8.0; // times the kernel's own length
    const double length = report::timeline_length_s(answer_->report(), look());
    const double middle = 0.5 * (from_s + to_s) / length;
    const double half = 0.5 * around * (to_s - from_s) / length;
    picture_->set_window(middle - half, middle + half);
}

// The kernel before and after, the selected one in the middle, and a ruler over it.
void TimelinePane::press(int key) {
    if (!answer_) {
        return;
    }
    const auto& spans = answer_->timeline().spans;
    const auto now = kernel();
    if ((key == Qt::Key_Period || key == Qt::Key_Comma) && !spans.empty()) {
        const std::size_t step = key == Qt::Key_Period ? 1 : spans.size() - 1;
        at_ = now ? (*now + step) % spans.size() : 0;
        actions_.select_layer(0, answer_->program().operators[at_].layer);
    } else if (key == Qt::Key_F && now) {
        fit(spans[*now].start_s, spans[*now].end_s);
    } else if (key == Qt::Key_R && now) {
        ruler_ = report::TimeRange{spans[*now].start_s, spans[*now].end_s};
        draw();
    }
}

namespace {

struct Found {
    double start_s = 0.0, end_s = 0.0;
    QString name;
    std::optional<std::size_t> layer; // of predicted kernels
};

// Kernels of the predicted step and of the measured one whose name has the text, by start.
std::vector<Found> found_in(const TimelineAnswer& answer, const QString& word) {
    std::vector<Found> found;
    const auto& spans = answer.timeline().spans;
    for (std::size_t i = 0; i < spans.size(); ++i) {
        const std::size_t layer = answer.program().operators[i].layer;
        const QString name = text(answer.program().layers[layer].name);
        if (name.contains(word, Qt::CaseInsensitive)) {
            found.push_back({spans[i].start_s, spans[i].end_s, name, layer});
        }
    }
    if (answer.measured) {
        for (const report::MeasuredSlice& slice : answer.measured->slices) {
            if (text(slice.name).contains(word, Qt::CaseInsensitive)) {
                found.push_back({slice.start_s, slice.end_s, text(slice.name), std::nullopt});
            }
        }
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const Found& a, const Found& b) { return a.start_s < b.start_s; });
    return found;
}

} // namespace

// The next kernel of that name comes into the middle, around again after the last.
void TimelinePane::find_next() {
    const QString word = find_->text().trimmed();
    if (!answer_ || word.isEmpty()) {
        return;
    }
    const std::vector<Found> all = found_in(*answer_, word);
    if (all.empty()) {
        return actions_.tell(tr("No kernel of the step has '%1' in its name").arg(word));
    }
    auto next = std::find_if(all.begin(), all.end(),
                             [this](const Found& one) { return one.start_s > found_s_; });
    next = next == all.end() ? all.begin() : next;
    found_s_ = next->start_s;
    double predicted_s = 0.0;
    double measured_s = 0.0;
    for (const Found& one : all) {
        (one.layer ? predicted_s : measured_s) += one.end_s - one.start_s;
    }
    fit(next->start_s, next->end_s);
    if (next->layer) {
        actions_.select_layer(0, *next->layer);
    }
    actions_.tell(tr("%1: %2 of %3 kernels with '%4', predicted %5, measured %6")
                      .arg(next->name)
                      .arg(next - all.begin() + 1)
                      .arg(all.size())
                      .arg(word, seconds(predicted_s), seconds(measured_s)));
}

QString TimelinePane::html() const {
    return answer_
               ? "<p>" + headline(*answer_) + "</p>" +
                     text(report::to_svg(report::draw_timeline(answer_->report(), {1000.0, 260.0}),
                                         report::SvgTheme::automatic))
               : QString();
}

} // namespace eyeroof::gui
