#include "gui/panes/scaling/scaling_pane.hpp"

#include "analysis/program/lower.hpp"
#include "analysis/scale/search.hpp"
#include "gui/views/qt_text.hpp"
#include "hwdb/fabric_reader.hpp"
#include "hwdb/kernels_reader.hpp"
#include "report/scale/scale_answer.hpp"

#include <QComboBox>
#include <QLineEdit>
#include <QSpinBox>
#include <utility>

namespace eyeroof::gui {

namespace {

struct ScalingQuestion {
    analysis::Question device;
    std::string fabric;
    analysis::ScaleOptions options;
    Folders folders;
};

// As `eyeroof scale --search` asks of decoders, with as many sequences for each device, and
// `eyeroof scale` of other networks: data parallel.
Result<analysis::ScaleResult> result_of(const ScalingQuestion& question,
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
    if (const auto* gpu = std::get_if<model::Gpu>(&device.machine.kind)) {
        auto kernels = hwdb::load_kernels(*gpu, device.machine.id, question.folders.machines);
        if (!kernels) {
            return kernels.diagnostics();
        }
        wanted.kernels = *std::move(kernels);
    }
    return analysis::search_transformer(*decoder, device.machine, *fabric, options.devices, wanted,
                                        stop, progress);
}

Result<report::Answer> answer_to(const ScalingQuestion& question, const std::stop_token& stop,
                                 const ProgressCallback& progress) {
    const auto result = result_of(question, stop, progress);
    if (!result) {
        return result.diagnostics();
    }
    report::Answer answer = report::scale_answer(*result);
    if (analysis::transformer_of(question.device.network)) {
        answer.notes.emplace_back("the best plan of each number of devices, as `eyeroof scale "
                                  "--search` finds it");
    }
    return answer;
}

} // namespace

ScalingPane::ScalingPane(const PaneActions& actions, QWidget* parent)
    : AnswerPane(actions, parent) {
    fabric_ = choice(tr("Joined by"), "scaling fabric");
    devices_ = text_field(tr("Devices"), "scaling devices", "1..256");
    devices_->setToolTip(tr("8..1024 by doubling, or 8, 24, 96"));
    each_ = number(tr("Batch of each"), "scaling batch", 1, 65536, 32);
    zero_ =
        choice(tr("ZeRO"), "scaling zero", {{tr("off"), "0"}, {"1", "1"}, {"2", "2"}, {"3", "3"}});
    zero_->setToolTip(tr("Divided over the devices: 1 the optimizer's states, 2 gradients too, 3 "
                         "and weights"));
    add_views({tr("Numbers of devices"), tr("Samples a second against devices, bound by bound"),
               "scaling", tr("Nothing to scale.")},
              Qt::Vertical);
}

// What was chosen for a GPU stays until another one is on screen, and a batch until the toolbar has
// another one.
void ScalingPane::fill(const PaneInput& input) {
    if (fabric_->count() == 0) {
        for (const auto& entry : hwdb::list_fabrics(input.folders->machines)) {
            fabric_->addItem(text(entry.id), text(entry.id));
        }
        fabric_->setPlaceholderText(tr("choose"));
        fabric_->setCurrentIndex(-1);
    }
    if (input.network != nullptr) {
        const Count batch =
            input.scenario->batch.value_or(analysis::own_batch(input.network->network));
        if (batch != std::exchange(batch_, batch)) {
            const QSignalBlocker quiet(each_);
            each_->setValue(static_cast<int>(std::min<Count>(batch, each_->maximum())));
        }
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
    return asking([question](const std::stop_token& stop, const ProgressCallback& progress) {
        return answer_to(question, stop, progress);
    });
}

void ScalingPane::link_followed(const QString& target) {
    if (target != "train") {
        return AnswerPane::link_followed(target);
    }
    actions_.change_scenario([](analysis::Scenario& scenario) {
        scenario.training = analysis::TrainingOptions{"adam"};
    });
}

} // namespace eyeroof::gui
