// What tests of the window share: the catalog's folders, and waiting for answers.
#pragma once

#include "gui/window/main_window.hpp"
#include "tests/paths.hpp"

#include <QDropEvent>
#include <QFile>
#include <QMimeData>
#include <QSignalSpy>
#include <QTest>

namespace eyeroof::gui::testing {

inline constexpr int kPatience_ms = 60000; // on loaded machines

inline Folders folders() {
    const std::filesystem::path root = tests::source_dir();
    return {{root / "hwdb"}, {root / "examples/networks"}, {root / "profiles/metrics"}};
}

inline study::Session session_of(const char* network, std::vector<std::string> machines) {
    study::Session session;
    session.network = network;
    session.machines = std::move(machines);
    return session;
}

// A window that shows a session's answer.
inline bool open_and_wait(MainWindow& window, const study::Session& session) {
    QSignalSpy spy(&window, &MainWindow::shown);
    window.open_session(session);
    return spy.size() > 0 || spy.wait(kPatience_ms);
}

// The next answer after an action.
template <class Action> bool answered(MainWindow& window, Action action) {
    QSignalSpy spy(&window, &MainWindow::shown);
    action();
    return spy.size() > 0 || spy.wait(kPatience_ms);
}

inline QString written(const QString& path, const QByteArray& text) {
    QFile file(path);
    return file.open(QIODevice::WriteOnly) && file.write(text) > 0 ? path : QString();
}

inline void drop(QWidget& widget, const QString& file) {
    QMimeData data;
    data.setUrls({QUrl::fromLocalFile(file)});
    QDragEnterEvent enter({100, 100}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(&widget, &enter);
    QDropEvent event({100, 100}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(&widget, &event);
}

} // namespace eyeroof::gui::testing
