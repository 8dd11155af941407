// What an empty window shows: what to do first, and examples that are one click away.
// Used by the main window.
// Knows names of the catalog only.
#pragma once

#include <QWidget>

namespace eyeroof::gui {

class StartPage : public QWidget {
    Q_OBJECT

  public:
    explicit StartPage(QWidget* parent = nullptr);

  signals:
    void example_wanted(const QString& network, const QString& machine);
    void upgrade_wanted(const QString& network, const QString& from, const QString& to);
};

} // namespace eyeroof::gui
