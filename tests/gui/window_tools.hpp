// What tests of the window share: the catalog's folders, waiting for answers, and finding things.
#pragma once

#include "gui/window/main_window.hpp"
#include "tests/paths.hpp"

#include <QAbstractItemView>
#include <QDropEvent>
#include <QFile>
#include <QMimeData>
#include <QSignalSpy>
#include <QSlider>
#include <QTest>

namespace eyeroof::gui::testing {

inline constexpr int kPatience_ms = 60000; // on loaded machines

inline Folders folders() {
    const std::filesystem::path root = tests::source_dir();
    return {{root / "hwdb"}, {root / "examples/networks"}, {root / "profiles/metrics"}};
}

inline report::Session session_of(const char* network, std::vector<std::string> machines) {
    report::Session session;
    session.scenario.network = network;
    session.machines = std::move(machines);
    session.scenario.machine = session.machines.empty() ? "" : session.machines.front();
    return session;
}

// What is asked of the session's first machine.
inline analysis::Question question_of(const report::Session& session) {
    return analysis::resolve(session.scenario, folders().data()).value();
}

// Large enough that nothing needs to be scrolled to.
inline void show(MainWindow& window, QSize size = {1600, 1000}) {
    window.resize(size);
    window.show();
    QVERIFY(QTest::qWaitForWindowExposed(&window));
}

// A window that shows a session's answer.
inline bool open_and_wait(MainWindow& window, const report::Session& session) {
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

// What stands in a cell of a table.
inline QString cell_text(const QAbstractItemView& table, int row, int column) {
    return table.model()->index(row, column).data().toString();
}

// The same in the column whose header begins so.
inline QString cell_text(const QAbstractItemView& table, int row, const QString& header) {
    const QAbstractItemModel& model = *table.model();
    for (int column = 0; column < model.columnCount(); ++column) {
        if (model.headerData(column, Qt::Horizontal).toString().startsWith(header)) {
            return cell_text(table, row, column);
        }
    }
    return "no column " + header;
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

// Of the what-if pane.
inline QSlider* slider(MainWindow& window, const char* name) {
    return window.what_if().findChild<QSlider*>(name);
}

inline const analysis::LayerReport& layer(MainWindow& window, const std::string& name) {
    for (const analysis::LayerReport& candidate : window.reports().at(0).layers) {
        if (candidate.layer.name == name) {
            return candidate;
        }
    }
    qFatal("no such layer");
}

inline void select(MainWindow& window, const std::string& name) {
    for (const report::ScenePoint& point : window.plot().scene().points) {
        if (point.name == name) {
            window.plot().set_selection({point.id});
        }
    }
}

// The same work with everything in time, nothing spread.
inline model::Mapping serial(model::Mapping mapping) {
    auto& outer = mapping.levels.front().temporal;
    for (model::LevelMapping& level : mapping.levels) {
        for (const model::SpatialLoop& loop : level.spatial) {
            outer.insert(outer.begin(), {loop.dim, loop.bound});
        }
        level.spatial.clear();
    }
    return mapping;
}

} // namespace eyeroof::gui::testing
