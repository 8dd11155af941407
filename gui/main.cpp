// The desktop program. The only place of it that reads the environment and its own place on disk.
#include "gui/export.hpp"
#include "gui/main_window.hpp"

#include <QApplication>
#include <QCommandLineParser>
#include <QDir>
#include <QPalette>
#include <QStandardPaths>
#include <QTimer>
#include <cstdio>
#include <cstring>

namespace {

eyeroof::gui::Folders folders_to_search(const QStringList& first) {
    QStringList roots = {QStandardPaths::writableLocation(QStandardPaths::GenericDataLocation) +
                             "/eyeroof",
                         QCoreApplication::applicationDirPath() + "/../share/eyeroof"};
    eyeroof::gui::Folders folders;
    for (const QString& folder : first) {
        folders.machines.emplace_back(folder.toStdString());
    }
    for (const QString& root : roots) {
        if (QDir(root + "/hwdb").exists()) {
            folders.machines.emplace_back((root + "/hwdb").toStdString());
        }
        if (QDir(root + "/networks").exists()) {
            folders.networks.emplace_back((root + "/networks").toStdString());
        }
    }
    return folders;
}

QPalette dark_palette() {
    QPalette palette(QColor(45, 48, 56), QColor(30, 33, 39));
    palette.setColor(QPalette::Base, QColor(28, 31, 38));
    palette.setColor(QPalette::AlternateBase, QColor(36, 39, 47));
    palette.setColor(QPalette::Highlight, QColor(0, 114, 178));
    palette.setColor(QPalette::ToolTipBase, QColor(40, 44, 53));
    palette.setColor(QPalette::ToolTipText, QColor(232, 234, 238));
    return palette;
}

// Qt takes --session for the desktop's session management and removes it from the arguments; ours
// goes by another name while Qt looks.
void rename_session(int argc, char** argv) {
    static char renamed[] = "--open-session";
    for (int i = 1; i < argc; ++i) {
        if (std::strcmp(argv[i], "--session") == 0) {
            argv[i] = renamed;
        }
    }
}

} // namespace

int main(int argc, char** argv) {
    rename_session(argc, argv);
    QApplication application(argc, argv);
    QApplication::setApplicationName("eyeroof-gui");
    QCommandLineParser parser;
    parser.setApplicationDescription("How fast can this network run on this machine, and why?");
    parser.addHelpOption();
    parser.addPositionalArgument("FILE", "Sessions, machines, networks, measurements", "[FILE…]");
    const QCommandLineOption session(QStringList{"session", "open-session"}, "Open a session.",
                                     "FILE");
    const QCommandLineOption screenshot(QString("screenshot"), "Write a picture and leave.",
                                        "FILE");
    const QCommandLineOption size(QString("size"), "Size of the window.", "WxH", "1280x800");
    const QCommandLineOption dark(QString("dark"), "Dark, whatever the desktop says.");
    const QCommandLineOption hwdb(QString("hwdb"), "Folder of machine files to search first.",
                                  "DIR");
    parser.addOptions({session, screenshot, size, dark, hwdb});
    parser.process(application);
    if (parser.isSet(dark)) {
        QApplication::setStyle("Fusion");
        QApplication::setPalette(dark_palette());
    }
    eyeroof::gui::MainWindow window(folders_to_search(parser.values(hwdb)));
    const QStringList sides = parser.value(size).split('x');
    if (sides.size() == 2 && sides[0].toInt() >= 320 && sides[1].toInt() >= 240) {
        window.resize(sides[0].toInt(), sides[1].toInt());
    }
    const QString target = parser.value(screenshot);
    if (!target.isEmpty()) {
        QObject::connect(&window, &eyeroof::gui::MainWindow::shown, &application, [&] {
            QTimer::singleShot(200, &application,
                               [&] { QApplication::exit(window.grab().save(target) ? 0 : 3); });
        });
        QTimer::singleShot(60000, &application, [] {
            std::fputs("error: nothing to show after a minute\n", stderr);
            QApplication::exit(3);
        });
    }
    window.show();
    QStringList files = parser.positionalArguments();
    if (parser.isSet(session)) {
        files.prepend(parser.value(session));
    }
    for (const QString& file : files) {
        window.open(file);
    }
    return QApplication::exec();
}
