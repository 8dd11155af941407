// The row at the top: which network on which machine, against which, with which batch, precision
// and mapping.
// Used by the main window.
// Knows names only; loads nothing.
#pragma once

#include "gui/jobs/folders.hpp"
#include "model/machine/machine.hpp"
#include "study/exam/run.hpp"

#include <QToolBar>
#include <vector>

class QComboBox;
class QSpinBox;

namespace eyeroof::gui {

// What the list of other machines shows when there is none.
inline constexpr const char* kNoMachine = "(no comparison)";

class Choices : public QToolBar {
    Q_OBJECT

  public:
    explicit Choices(QWidget* parent = nullptr);
    void fill(const Folders& folders);

    QString network() const;
    QStringList machines() const; // the first, and those to compare it with
    int batch() const;
    std::string data_type() const; // empty: the layers' own
    study::MappingPolicy mapping() const;

    // These send nothing.
    void set_network(const QString& name);
    void set_machine(const QString& name);
    void set_machines(const QStringList& names); // all of machines()
    // Greys what one of them lacks, with the reason.
    void show_precisions(const std::vector<model::Machine>& machines);
    void set_experiment(int batch, const std::string& data_type, study::MappingPolicy mapping);

  signals:
    void chosen();          // another network or machine
    void options_changed(); // batch, precision or mapping

  private:
    void choose(bool again); // tells of a choice; of the same one only when asked again
    void keep_told();
    QComboBox* combo(const QString& label, const char* name, int width);

    QStringList told_; // the names that were told of last
    QComboBox* network_ = nullptr;
    QComboBox* machine_ = nullptr;
    QComboBox* other_ = nullptr;
    QSpinBox* batch_ = nullptr;
    QComboBox* precision_ = nullptr;
    QComboBox* mapping_ = nullptr;
};

} // namespace eyeroof::gui
