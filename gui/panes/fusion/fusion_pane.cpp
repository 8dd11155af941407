#include "gui/panes/fusion/fusion_pane.hpp"

#include "analysis/program/lower.hpp"
#include "base/units.hpp"
#include "gui/panes/number_table.hpp"
#include "gui/panes/table_html.hpp"
#include "gui/views/qt_text.hpp"
#include "report/draw/chart_scene.hpp"
#include "report/draw/svg.hpp"

#include <QComboBox>
#include <QHeaderView>
#include <QLineEdit>
#include <QSplitter>
#include <QTableWidget>
#include <QVBoxLayout>

namespace eyeroof::gui {

namespace {

QString bytes(double amount) {
    return text(format_iec(amount, "B", 4));
}

struct FusionQuestion {
    analysis::Question apart; // layer by layer
    analysis::FuseAim aim = analysis::FuseAim::traffic;
    std::optional<double> buffer_bytes; // instead of the machine's
};

Result<FusionAnswer> answer_to(const FusionQuestion& question, const std::stop_token& stop,
                               const ProgressCallback& progress) {
    const auto layers = analysis::forward_layers(question.apart);
    if (!layers) {
        return layers.diagnostics();
    }
    const model::Network& network = layers->network;
    auto chip = analysis::chip_of(question.apart.machine, network.layers.front().types.input);
    if (!chip) {
        return chip.diagnostics();
    }
    chip->buffer_bytes = question.buffer_bytes.value_or(chip->buffer_bytes);
    const auto readers = layers->edges
                             ? std::optional(analysis::only_readers(network, *layers->edges))
                             : std::nullopt;
    auto groups = analysis::fuse_network(network, *chip, question.aim, stop, progress, readers);
    if (!groups) {
        return groups.diagnostics();
    }
    auto curve = analysis::fuse_curve(network, *chip, stop, progress, readers);
    if (!curve) {
        return curve.diagnostics();
    }
    return FusionAnswer{*std::move(groups), *std::move(curve)};
}

QString headline(const analysis::FuseResult& r) {
    return FusionPane::tr("In %1 of %2, together <b>%3</b> pass the link instead of %4 (%5 times "
                          "less), and it takes %6 instead of %7 at peak and full bandwidth. "
                          "Proved best among partitions into neighbours.")
        .arg(text(r.chip.buffer).toHtmlEscaped(), bytes(r.chip.buffer_bytes),
             bytes(r.together.bytes), bytes(r.apart.bytes))
        .arg(r.together.bytes > 0.0 ? r.apart.bytes / r.together.bytes : 1.0, 0, 'g', 3)
        .arg(text(format_si(r.together.time_s, "s", 4)), text(format_si(r.apart.time_s, "s", 4)));
}

} // namespace

report::Chart fusion_chart(const FusionAnswer& answer) {
    report::Chart chart;
    chart.title = answer.groups.network + ": least traffic by buffer";
    chart.x_title = "buffer (B)";
    chart.y_title = "bytes over the link";
    report::ChartLine apart{"layer by layer", {}, false, true},
        together{"together", {}, false, true};
    for (const analysis::FusePoint& point : answer.curve) {
        if (point.fits) {
            apart.points.emplace_back(point.buffer_bytes, point.apart_bytes);
            together.points.emplace_back(point.buffer_bytes, point.together_bytes);
        }
    }
    chart.lines = {apart, together};
    chart.marks = {{answer.groups.chip.buffer_bytes, answer.groups.chip.buffer, true}};
    return chart;
}

FusionPane::FusionPane(const PaneActions& actions, QWidget* parent) : AskingPane(actions, parent) {
    aim_ = choice(tr("Least"), "fusion aim", {{tr("traffic"), "traffic"}, {tr("time"), "latency"}});
    buffer_ = text_field(tr("Buffer"), "fusion buffer", {});
    buffer_->setPlaceholderText(tr("the machine's"));
    auto* both = new QSplitter(Qt::Horizontal, this);
    rows_ = number_table(tr("Groups of layers"), both);
    rows_->setObjectName("fusion groups");
    picture_ = new DrawingView(both);
    picture_->setObjectName("fusion picture");
    picture_->setAccessibleName(tr("Least traffic over the size of the buffer"));
    picture_->setMinimumSize(240, 120);
    column()->addWidget(both, 1);
    clear();
}

Background::Job FusionPane::job(const PaneInput& input) {
    if (input.question() == nullptr) {
        say(tr("Choose a network and a machine."));
        return {};
    }
    FusionQuestion question{*input.question(),
                            aim_->currentIndex() == 0 ? analysis::FuseAim::traffic
                                                      : analysis::FuseAim::latency,
                            {}};
    if (const QString size = buffer_->text().trimmed(); !size.isEmpty()) {
        const auto given = parse<Bytes>(size.toStdString());
        if (!given || given->value < 1.0 || given->value > 1e15) {
            say(tr("'%1' is no size of a buffer: as in 512 KiB or 1 MiB")
                    .arg(size.toHtmlEscaped()));
            return {};
        }
        question.buffer_bytes = given->value;
    }
    return [this, question](const std::stop_token& stop,
                            const ProgressCallback& progress) -> Background::Show {
        const auto found = answer_to(question, stop, progress);
        auto answer = found ? std::make_shared<const FusionAnswer>(*found) : nullptr;
        return [this, answer, problems = found.diagnostics()] {
            if (answer) {
                return show_answer_of(answer);
            }
            clear();
            say(problems);
        };
    };
}

void FusionPane::clear() {
    answer_.reset();
    rows_->setRowCount(0);
    rows_->hide();
    picture_->clear(tr("Nothing to fuse."));
}

void FusionPane::show_answer_of(std::shared_ptr<const FusionAnswer> answer) {
    answer_ = std::move(answer);
    say(headline(answer_->groups));
    fill_rows();
    picture_->show_drawing(
        [chart = fusion_chart(*answer_)](const report::Canvas& canvas) {
            return report::draw_chart(chart, canvas);
        },
        false);
}

void FusionPane::fill_rows() {
    const auto& groups = answer_->groups.groups;
    rows_->setColumnCount(7);
    rows_->setHorizontalHeaderLabels({tr("Layers"), tr("Runs"), tr("Together"), tr("Apart"),
                                      tr("Buffer"), tr("How"), tr("Ends because")});
    rows_->setRowCount(static_cast<int>(groups.size()));
    for (int i = 0; i < rows_->rowCount(); ++i) {
        const analysis::FusedGroup& group = groups[static_cast<std::size_t>(i)];
        const std::string names = group.layers.size() == 1
                                      ? group.layers.front()
                                      : group.layers.front() + " … " + group.layers.back();
        auto* first = cell(text(names));
        QStringList all;
        for (const std::string& layer : group.layers) {
            all << text(layer);
        }
        first->setToolTip(all.join(", "));
        rows_->setItem(i, 0, first);
        rows_->setItem(i, 1, cell(QString::number(group.count), static_cast<double>(group.count)));
        rows_->setItem(i, 2, cell(bytes(group.together.bytes), group.together.bytes));
        rows_->setItem(i, 3, cell(bytes(group.apart.bytes), group.apart.bytes));
        rows_->setItem(
            i, 4,
            cell(group.fits ? bytes(group.buffer_bytes) : tr("does not fit"), group.buffer_bytes));
        rows_->setItem(i, 5, cell(text(group.how)));
        rows_->setItem(i, 6, cell(text(group.ends)));
    }
    fit_columns(*rows_);
    rows_->show();
}

QString FusionPane::html() const {
    return answer_
               ? "<p>" + headline(answer_->groups) + "</p>" +
                     text(report::to_svg(report::draw_chart(fusion_chart(*answer_), {800.0, 360.0}),
                                         report::SvgTheme::automatic)) +
                     table_html(*rows_)
               : QString();
}

} // namespace eyeroof::gui
