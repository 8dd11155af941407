// The row at the top: which network on which machine, against which.
#pragma once

#include "gui/jobs/offered.hpp"

#include <QToolBar>

class QComboBox;

namespace eyeroof::gui {

// What the list of other machines shows when there is none.
inline constexpr const char* kNoMachine = "(no comparison)";

class Choices : public QToolBar {
    Q_OBJECT

  public:
    explicit Choices(QWidget* parent = nullptr);
    void fill(const Offered& offered);

    QString network() const;
    QStringList machines() const; // the first, and those to compare it with

    // These send nothing.
    void set_network(const QString& name);
    void set_machine(const QString& name);
    void set_machines(const QStringList& names); // all of machines()

  signals:
    void chosen(); // another network or machine

  private:
    void choose(bool again); // tells of a choice; of the same one only when asked again
    void keep_reported();
    QComboBox* combo(const QString& label, const char* name, int width);

    QStringList reported_; // the names that were passed last
    QComboBox* network_ = nullptr;
    QComboBox* machine_ = nullptr;
    QComboBox* other_ = nullptr;
};

} // namespace eyeroof::gui
