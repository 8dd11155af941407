// What went wrong, as a list: message, file, line, column, what to do.
#pragma once

#include "base/diagnostic.hpp"

#include <QTreeWidget>

namespace eyeroof::gui {

class ErrorList : public QTreeWidget {
    Q_OBJECT

  public:
    explicit ErrorList(QWidget* parent = nullptr);
    void show_all(const Diagnostics& diagnostics);
};

} // namespace eyeroof::gui
