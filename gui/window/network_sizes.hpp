// The sizes that a network's file declares (sequence, layers, width …) as fields behind a button
// that tells which differ from the file's own.
// Used by the second row at the top.
// Knows the heads of network files; loads no layers.
#pragma once

#include "gui/jobs/folders.hpp"
#include "study/formats/network_yaml.hpp"

#include <QToolButton>
#include <map>

class QDoubleSpinBox;
class QFormLayout;
class QWidgetAction;

namespace eyeroof::gui {

class NetworkSizes : public QToolButton {
    Q_OBJECT

  public:
    explicit NetworkSizes(QWidget* parent = nullptr);
    // "bert:sequence=384": the fields of its head, with these values. Sends nothing.
    void show_network(const QString& reference, const Folders& folders);

  signals:
    void chosen(const QString& reference); // with the sizes that differ from the file's own

  private:
    void make_fields(const std::map<QString, double>& given);
    void tell();
    QString reference() const;

    QString shown_; // the reference that the fields are of
    QString base_;  // without sizes
    study::read::NetworkHead head_;
    std::map<std::string, double> standard_; // of the name: a variant has values of its own
    QWidgetAction* action_ = nullptr;
    std::vector<QDoubleSpinBox*> fields_; // beside head_.parameters
};

} // namespace eyeroof::gui
