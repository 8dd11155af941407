// The sizes that a network's file declares (sequence, layers, width …) as fields behind a button
// that tells which differ from the file's own.
#pragma once

#include "formats/network_yaml.hpp"
#include "gui/jobs/folders.hpp"

#include <QToolButton>
#include <map>
#include <optional>
#include <string>
#include <vector>

class QDoubleSpinBox;
class QFormLayout;
class QWidgetAction;

namespace eyeroof::gui {

class NetworkSizes : public QToolButton {
    Q_OBJECT

  public:
    explicit NetworkSizes(QWidget* parent = nullptr);
    // The fields of a network's head, with sizes as a scenario has them: {"seq=512"}, or behind the
    // name: "bert:seq=512". Sends nothing.
    void show_network(const QString& name, const std::vector<std::string>& sizes,
                      const Folders& folders);

  signals:
    // The name without sizes, and those that differ from the file's own.
    void chosen(const QString& name, const std::vector<std::string>& sizes);

  private:
    void make_fields(const std::map<QString, double>& given);
    void tell();
    std::vector<std::string> sizes() const;

    std::optional<QString> shown_; // name and sizes that the fields are of
    QString base_;                 // the name without sizes
    formats::NetworkHead head_;
    bool open_ = false;                      // they must all be given: the file leaves them open
    std::map<std::string, double> standard_; // of the name: a variant has values of its own
    QWidgetAction* action_ = nullptr;
    std::vector<QDoubleSpinBox*> fields_; // beside head_.parameters
};

} // namespace eyeroof::gui
