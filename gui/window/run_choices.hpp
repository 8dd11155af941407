// The second row at the top: the fields of the scenario that are changed most: sizes, batch,
// precision, phase, launch and mapping.
#pragma once

#include "analysis/scenario/question.hpp"
#include "gui/jobs/folders.hpp"
#include "gui/panes/fields.hpp"

#include <QToolBar>
#include <string>
#include <utility>
#include <vector>

class QCheckBox;
class QComboBox;
class QSpinBox;

namespace eyeroof::gui {

class NetworkSizes;

class RunChoices : public QToolBar {
    Q_OBJECT

  public:
    explicit RunChoices(QWidget* parent = nullptr);

    void write_into(analysis::Scenario& scenario) const;
    // These send nothing.
    void show_scenario(const analysis::Scenario& scenario, Count own_batch);
    // Greys what one of the machines lacks, with the reason; launch modes are those of GPUs,
    // mappings of accelerators.
    void show_machines(const std::vector<model::Machine>& machines);
    void show_sizes(const analysis::Scenario& scenario, const Folders& folders);

  signals:
    void changed();
    // The same network with other sizes: "seq=512".
    void sizes_wanted(const QString& network, const std::vector<std::string>& sizes);

  private:
    QComboBox* list(const char* name, const QString& what, const Entries& entries);
    QComboBox* add(QComboBox* box);
    void show_batch(const analysis::Scenario& scenario, Count own_batch);

    NetworkSizes* sizes_ = nullptr;
    QSpinBox* batch_ = nullptr;
    QComboBox* precision_ = nullptr;
    QComboBox* phase_ = nullptr;
    QComboBox* launch_ = nullptr;
    QCheckBox* compiled_ = nullptr;
    QComboBox* mapping_ = nullptr;
    std::vector<std::pair<std::string, QComboBox*>> fields_; // of the scenario, by name
    Count own_batch_ = 1;                                    // of the network
};

} // namespace eyeroof::gui
