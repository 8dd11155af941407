#include "gui/panes/scaling/scaling_pane.hpp"

#include "analysis/scale/search.hpp"
#include "base/units.hpp"
#include "gui/panes/number_table.hpp"
#include "gui/panes/table_html.hpp"
#include "gui/views/qt_text.hpp"
#include "hwdb/fabric_reader.hpp"
#include "report/draw/chart_scene.hpp"
#include "report/draw/svg.hpp"
#include "report/scale/scale_chart.hpp"

#include <fmt/format.h>

#include <QComboBox>
#include <QLineEdit>
#include <QSpinBox>
#include <QSplitter>
#include <QTableWidget>
#include <QVBoxLayout>

namespace eyeroof::gui {

namespace {

struct ScalingQuestion {
    analysis::Question device;
    std::string fabric;
    analysis::ScaleOptions options;
    Folders folders;
};

// As `eyeroof scale` asks: decoders for the best plan that fits, with as many sequences for each
// device; other networks data parallel.
Result<analysis::ScaleResult> answer_to(const ScalingQuestion& question,
                                        const std::stop_token& stop,
                                        const ProgressCallback& progress) {
    const auto fabric = hwdb::load_fabric(question.fabric, question.folders.machines);
    if (!fabric) {
        return fabric.diagnostics();
    }
    const analysis::Question& device = question.device;
    const analysis::ScaleOptions& options = question.options;
    const auto decoder = analysis::transformer_of(device.network);
    if (!decoder) {
        return analysis::scale_data_parallel(device, *fabric, options, stop, progress);
    }
    analysis::TransformerOptions wanted;
    wanted.batch = options.batch_per_device.value_or(1) * options.devices.back();
    wanted.type = device.scenario.data_type.value_or(wanted.type);
    wanted.exam = device.scenario;
    return analysis::search_transformer(*decoder, device.machine, *fabric, options.devices, wanted,
                                        stop, progress);
}

QString where_time_goes(const analysis::ScalePoint& point) {
    const analysis::ScaleParts& p = point.parts;
    QStringList parts;
    for (const auto& [name, seconds] :
         {std::pair{ScalingPane::tr("compute"), p.compute_s},
          std::pair{ScalingPane::tr("small batches"), p.small_batch_s},
          std::pair{ScalingPane::tr("idle"), p.idle_s},
          std::pair{ScalingPane::tr("computed again"), p.recompute_s},
          std::pair{ScalingPane::tr("communication"), p.exposed_s},
          std::pair{ScalingPane::tr("waiting"), p.waiting_s}}) {
        const double share = point.step_s > 0.0 ? 100.0 * seconds / point.step_s : 0.0;
        if (share >= 0.5) {
            parts << QString("%1 %2 %").arg(name).arg(share, 0, 'f', 0);
        }
    }
    return parts.join(", ");
}

} // namespace

ScalingPane::ScalingPane(const PaneActions& actions, QWidget* parent)
    : AskingPane(actions, parent) {
    fabric_ = choice(tr("Joined by"), "scaling fabric");
    devices_ = text_field(tr("Devices"), "scaling devices", "1..256");
    devices_->setToolTip(tr("8..1024 by doubling, or 8, 24, 96"));
    each_ = number(tr("Batch of each"), "scaling batch", 1, 65536, 32);
    zero_ =
        choice(tr("ZeRO"), "scaling zero", {{tr("off"), "0"}, {"1", "1"}, {"2", "2"}, {"3", "3"}});
    zero_->setToolTip(tr("Divided over the devices: 1 the optimizer's states, 2 gradients too, 3 "
                         "and weights"));
    auto* both = new QSplitter(Qt::Vertical, this);
    picture_ = new DrawingView(both);
    picture_->setObjectName("scaling picture");
    picture_->setAccessibleName(tr("Samples a second against devices, bound by bound"));
    picture_->setMinimumSize(260, 150);
    rows_ = number_table(tr("Numbers of devices"), both);
    rows_->setObjectName("scaling rows");
    rows_->setMinimumHeight(76); // the header and two rows
    both->setStretchFactor(0, 2);
    both->setStretchFactor(1, 1);
    column()->addWidget(both, 1);
    clear();
}

// What was chosen for a GPU stays until another one is on screen.
void ScalingPane::fill(const PaneInput& input) {
    if (fabric_->count() == 0) {
        for (const auto& entry : hwdb::list_fabrics(input.folders->machines)) {
            fabric_->addItem(text(entry.id), text(entry.id));
        }
        fabric_->setPlaceholderText(tr("choose"));
        fabric_->setCurrentIndex(-1);
    }
    const analysis::Question* device = input.gpu_question();
    if (device != nullptr && device->machine.id != fabric_for_) {
        fabric_for_ = device->machine.id;
        const auto usual = hwdb::usual_fabric(fabric_for_, input.folders->machines);
        fabric_->setCurrentIndex(usual ? fabric_->findData(text(usual->id)) : -1);
    }
}

Background::Job ScalingPane::job(const PaneInput& input) {
    const analysis::Question* device = input.gpu_question();
    if (device == nullptr) {
        say(tr("Training on many devices: for a network on a GPU."));
        return {};
    }
    if (!device->scenario.training) {
        say(tr("Devices are counted for a training step; the toolbar says inference. "
               "<a href=\"train\">Choose training with Adam</a>"));
        return {};
    }
    if (fabric_->currentIndex() < 0) {
        say(tr("No fabric is known for a box of %1. Choose how the devices are joined.")
                .arg(text(device->machine.name).toHtmlEscaped()));
        return {};
    }
    const auto devices = analysis::parse_devices(devices_->text().toStdString());
    if (!devices) {
        say(devices.diagnostics());
        return {};
    }
    ScalingQuestion question{
        *device, fabric_->currentData().toString().toStdString(), {}, *input.folders};
    question.options.devices = *devices;
    question.options.batch_per_device = each_->value();
    question.options.data.zero = zero_->currentIndex();
    return [this, question](const std::stop_token& stop,
                            const ProgressCallback& progress) -> Background::Show {
        const auto found = answer_to(question, stop, progress);
        auto answer = found ? std::make_shared<const analysis::ScaleResult>(*found) : nullptr;
        const std::string asked =
            fmt::format("Training with {} on {}", question.device.scenario.training->optimizer,
                        question.device.machine.name);
        return [this, answer, asked, problems = found.diagnostics()] {
            if (answer) {
                words_ = asked;
                return show_answer_of(answer);
            }
            clear();
            say(problems);
        };
    };
}

void ScalingPane::link_followed(const QString& target) {
    if (target != "train") {
        return AskingPane::link_followed(target);
    }
    actions_.change_scenario([](analysis::Scenario& scenario) {
        scenario.training = analysis::TrainingOptions{"adam"};
    });
}

void ScalingPane::clear() {
    answer_.reset();
    rows_->setRowCount(0);
    rows_->hide();
    picture_->clear(tr("Nothing to scale."));
}

QString ScalingPane::headline() const {
    QString html = tr("%1 over %2. ").arg(text(words_).toHtmlEscaped(), fabric_->currentText());
    html +=
        answer_->pays_to
            ? tr("Pays up to <b>%1 devices</b> (80 % efficiency or more).").arg(*answer_->pays_to)
            : tr("No number of devices asked for reaches 80 % efficiency.");
    html += tr(" One device: %1, %2.")
                .arg(text(answer_->baseline).toHtmlEscaped(),
                     text(format_si(answer_->baseline_samples_per_s, answer_->unit + "/s", 4))
                         .toHtmlEscaped());
    for (const std::string& note : answer_->notes) {
        html += " " + text(note).toHtmlEscaped() + ".";
    }
    return html;
}

void ScalingPane::show_answer_of(std::shared_ptr<const analysis::ScaleResult> answer) {
    answer_ = std::move(answer);
    say(headline());
    fill_rows();
    picture_->show_drawing(
        [chart = report::scale_chart(*answer_)](const report::Canvas& canvas) {
            return report::draw_chart(chart, canvas);
        },
        true);
}

void ScalingPane::fill_rows() {
    rows_->setColumnCount(8);
    rows_->setHorizontalHeaderLabels({tr("Devices"), tr("Batch"), tr("Step"),
                                      text(answer_->unit) + "/s", tr("Speed-up"), tr("Efficiency"),
                                      tr("Memory"), tr("Where the time goes")});
    rows_->setRowCount(static_cast<int>(answer_->points.size()));
    for (int i = 0; i < rows_->rowCount(); ++i) {
        const analysis::ScalePoint& p = answer_->points[static_cast<std::size_t>(i)];
        const auto put = [&](int column, const QString& shown, double value) {
            rows_->setItem(i, column, cell(shown, value));
        };
        put(0, QString::number(p.devices), static_cast<double>(p.devices));
        put(1, QString::number(p.batch), static_cast<double>(p.batch));
        put(2, text(format_si(p.step_s, "s", 4)), p.step_s);
        put(3, text(format_si(p.samples_per_s, "", 4)), p.samples_per_s);
        put(4, QString::number(p.speedup, 'g', 4), p.speedup);
        put(5, tr("%1 %").arg(100.0 * p.efficiency, 0, 'f', 0), p.efficiency);
        put(6,
            text(format_si(p.memory.total(), "B", 3)) +
                (p.memory.fits() ? QString() : tr(", too much")),
            p.memory.total());
        auto* goes = cell(where_time_goes(p));
        QStringList notes = {text(p.strategy), where_time_goes(p)};
        for (const analysis::ScaleStep& s : p.steps) {
            notes << QString("%1 %2: %3").arg(s.number).arg(text(s.name), text(s.reason));
        }
        goes->setToolTip(notes.join("\n"));
        rows_->setItem(i, 7, goes);
    }
    fit_columns(*rows_);
    rows_->show();
}

QString ScalingPane::html() const {
    return answer_ ? "<p>" + headline() + "</p>" +
                         text(report::to_svg(
                             report::draw_chart(report::scale_chart(*answer_), {900.0, 420.0}),
                             report::SvgTheme::automatic)) +
                         table_html(*rows_)
                   : QString();
}

} // namespace eyeroof::gui
