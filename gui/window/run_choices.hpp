// The second row at the top: how the network is run: its sizes, batch, precision, phase, launch
// mode, and by which mapping.
// Used by the main window.
// Examines nothing.
#pragma once

#include "gui/jobs/experiment.hpp"
#include "gui/jobs/folders.hpp"
#include "model/machine/machine.hpp"

#include <QToolBar>
#include <vector>

class QComboBox;
class QSpinBox;

namespace eyeroof::gui {

class NetworkSizes;

class RunChoices : public QToolBar {
    Q_OBJECT

  public:
    explicit RunChoices(QWidget* parent = nullptr);

    HowRun chosen() const;
    // These send nothing.
    void set_chosen(const HowRun& run);
    // Greys what one of the machines lacks, with the reason; launch modes are those of GPUs,
    // mappings of accelerators.
    void show_machines(const std::vector<model::Machine>& machines);
    void show_network(const QString& reference, const Folders& folders);

  signals:
    void changed();
    void network_wanted(const QString& reference); // the same with other sizes

  private:
    QComboBox* list(const QString& label, const char* name);

    NetworkSizes* sizes_ = nullptr;
    QSpinBox* batch_ = nullptr;
    QComboBox* precision_ = nullptr;
    QComboBox* phase_ = nullptr;
    QComboBox* launch_ = nullptr;
    QComboBox* mapping_ = nullptr;
};

} // namespace eyeroof::gui
