#include "gui/window/run_choices.hpp"

#include "gui/jobs/precisions.hpp"
#include "gui/views/qt_text.hpp"
#include "gui/window/network_sizes.hpp"
#include "model/layer.hpp"
#include "study/exam/launch_names.hpp"

#include <QComboBox>
#include <QLabel>
#include <QSpinBox>
#include <algorithm>
#include <array>

namespace eyeroof::gui {

namespace {

// In the order of the list.
constexpr std::array<study::MappingPolicy, 3> kMappings = {
    study::MappingPolicy::automatic, study::MappingPolicy::dataflow, study::MappingPolicy::best};

} // namespace

RunChoices::RunChoices(QWidget* parent) : QToolBar(tr("How it is run"), parent) {
    setObjectName("run choices");
    setMovable(false);
    sizes_ = new NetworkSizes(this);
    addWidget(sizes_);
    addWidget(new QLabel(tr(" Batch "), this));
    batch_ = new QSpinBox(this);
    batch_->setRange(1, 65536);
    batch_->setPrefix("×");
    batch_->setObjectName("batch");
    batch_->setAccessibleName(tr("Batch, times the network's own"));
    batch_->setToolTip(batch_->accessibleName());
    addWidget(batch_);
    precision_ = list(tr("Precision"), "precision");
    precision_->addItem(tr("own precision"), QString());
    for (const std::string_view name : model::data_type_names()) {
        precision_->addItem(text(name), text(name));
    }
    phase_ = list(tr("Inference or training"), "phase");
    phase_->addItem(tr("inference"), "inference");
    phase_->addItem(tr("training, SGD"), "sgd");
    phase_->addItem(tr("training, momentum"), "sgd_momentum");
    phase_->addItem(tr("training, Adam"), "adam");
    launch_ = list(tr("How kernels are launched, on GPUs"), "launch");
    launch_->addItem(tr("called by a framework"), "eager");
    launch_->addItem(tr("launched back to back"), "stream");
    launch_->addItem(tr("kernels alone"), "kernel");
    launch_->addItem(tr("as a CUDA graph"), "graph");
    launch_->addItem(tr("compiled"), "compiled");
    mapping_ = list(tr("Mapping, on accelerators"), "mapping");
    mapping_->addItems({tr("usual mapping"), tr("dataflow's mapping"), tr("best mapping")});
    mapping_->setToolTip(tr("On accelerators: the best that the dataflow allows, by its published "
                            "rules where there are any; by the dataflow's rules alone, without a "
                            "search; or the one that no other beats, searched for"));
    set_chosen({});
    connect(batch_, &QSpinBox::valueChanged, this, &RunChoices::changed);
    connect(sizes_, &NetworkSizes::chosen, this, &RunChoices::network_wanted);
}

QComboBox* RunChoices::list(const QString& label, const char* name) {
    addWidget(new QLabel(" ", this));
    auto* box = new QComboBox(this);
    box->setObjectName(name);
    box->setAccessibleName(label);
    box->setToolTip(label);
    box->setMinimumContentsLength(6);
    addWidget(box);
    connect(box, &QComboBox::activated, this, &RunChoices::changed);
    return box;
}

HowRun RunChoices::chosen() const {
    return {batch_->value(), precision_->currentData().toString().toStdString(),
            kMappings[static_cast<std::size_t>(std::max(0, mapping_->currentIndex()))],
            phase_->currentData().toString().toStdString(),
            study::launch_named(launch_->currentData().toString().toStdString())};
}

void RunChoices::set_chosen(const HowRun& run) {
    const QSignalBlocker quiet(batch_);
    batch_->setValue(static_cast<int>(run.batch));
    precision_->setCurrentIndex(std::max(0, precision_->findData(text(run.data_type))));
    mapping_->setCurrentIndex(static_cast<int>(
        std::find(kMappings.begin(), kMappings.end(), run.mapping) - kMappings.begin()));
    phase_->setCurrentIndex(std::max(0, phase_->findData(text(run.phase))));
    launch_->setCurrentIndex(std::max(0, launch_->findData(text(study::launch_name(run.launch)))));
}

void RunChoices::show_machines(const std::vector<model::Machine>& machines) {
    grey_missing(*precision_, machines);
    const auto gpu = [](const model::Machine& machine) {
        return std::holds_alternative<model::Gpu>(machine.kind);
    };
    const bool some = std::any_of(machines.begin(), machines.end(), gpu);
    const bool all = std::all_of(machines.begin(), machines.end(), gpu);
    launch_->setEnabled(some || machines.empty());
    mapping_->setEnabled(!all || machines.empty());
}

void RunChoices::show_network(const QString& reference, const Folders& folders) {
    sizes_->show_network(reference, folders);
}

} // namespace eyeroof::gui
