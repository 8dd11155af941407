// The desktop program. The only place of it that reads the environment and its own place on disk.
#include "gui/jobs/export.hpp"
#include "gui/window/first_size.hpp"
#include "gui/window/main_window.hpp"
#include "gui/window/themes.hpp"

#include <QApplication>
#include <QCommandLineParser>
#include <QDir>
#include <QScreen>
#include <QSettings>
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
        if (QDir(root + "/metrics").exists()) {
            folders.metrics.emplace_back((root + "/metrics").toStdString());
        }
        if (QDir(root + "/networks").exists()) {
            folders.networks.emplace_back((root + "/networks").toStdString());
        }
    }
    return folders;
}

// Pictures and help need no screen: they are made without one, also where there is none.
void do_without_screen(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
        const QByteArray option(argv[i]);
        const bool without =
            option.startsWith("--screenshot") || option.startsWith("--help") || option == "-h";
        if (without && qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) {
            qputenv("QT_QPA_PLATFORM", "offscreen");
        }
    }
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

// When everything is on screen, sensitivities and all: the picture, and the program ends.
void take_screenshot(eyeroof::gui::MainWindow& window, const QString& target, bool something,
                     bool upgrade) {
    const auto shoot = [&window, target] {
        QTimer::singleShot(300, &window, [&window, target] {
            QApplication::exit(window.grab().save(target) ? 0 : 3);
        });
    };
    if (!something) {
        shoot();
    } else if (upgrade) {
        QObject::connect(&window.upgrade(), &eyeroof::gui::UpgradePane::judged, &window,
                         [&window, shoot] {
                             if (!window.upgrade().upgrades().empty()) {
                                 shoot();
                             }
                         });
    } else {
        QObject::connect(&window, &eyeroof::gui::MainWindow::analysed, &window, shoot);
        QTimer::singleShot(20000, &window, shoot); // nothing to analyse, or a very large network
    }
    QTimer::singleShot(60000, &window, [] {
        std::fputs("error: nothing to show after a minute\n", stderr);
        QApplication::exit(3);
    });
}

} // namespace

int main(int argc, char** argv) {
    rename_session(argc, argv);
    do_without_screen(argc, argv);
    QApplication application(argc, argv);
    QApplication::setApplicationName("eyeroof-gui");
    QCommandLineParser parser;
    parser.setApplicationDescription(
        "Predict how fast a network runs on a machine, and what bounds it");
    parser.addHelpOption();
    parser.addPositionalArgument(
        "NAME|FILE",
        "Networks and machines, by name (resnet50 v100-sxm2-16gb a100-sxm-40gb) or from files; "
        "sessions, measurements",
        "[NAME|FILE…]");
    const QCommandLineOption session(QStringList{"session", "open-session"}, "Open a session.",
                                     "FILE");
    const QCommandLineOption screenshot(QString("screenshot"), "Write a picture and leave.",
                                        "FILE");
    const QCommandLineOption size(QString("size"), "Size of the window.", "WxH");
    const QCommandLineOption dark(QString("dark"), "Dark, whatever the desktop says.");
    const QCommandLineOption hwdb(QString("hwdb"), "Folder of machine files to search first.",
                                  "DIR");
    const QCommandLineOption show(
        QString("show"),
        "Bring to the front: roofline, upgrade, what-if, mapping, details, measurements, "
        "baseline, traffic, parameters, advice, errors, timeline, memory, scaling, sparsity, "
        "fusion, "
        "tuning, or network (the steps of the whole network).",
        "PANE");
    const QCommandLineOption upgrade(
        QString("upgrade"), "Ask whether NETWORK pays on TO instead of FROM.", "NETWORK,FROM,TO…");
    parser.addOptions({session, screenshot, size, dark, hwdb, show, upgrade});
    parser.process(application);
    if (parser.isSet(dark)) {
        eyeroof::gui::use_theme("dark");
    }
    eyeroof::gui::MainWindow window(folders_to_search(parser.values(hwdb)));
    const QString target = parser.value(screenshot);
    if (target.isEmpty() && window.screen() != nullptr) {
        window.resize(eyeroof::gui::first_size(window.screen()->availableSize()));
    }
    QSettings settings("eyeroof", "eyeroof-gui");
    if (target.isEmpty()) {
        window.remember_in(settings);
    } else {
        const bool something = parser.isSet(upgrade) || parser.isSet(session) ||
                               !parser.positionalArguments().isEmpty();
        take_screenshot(window, target, something, parser.isSet(upgrade));
    }
    const QStringList sides = parser.value(size).split('x');
    if (sides.size() == 2 && sides[0].toInt() >= 320 && sides[1].toInt() >= 240) {
        window.setWindowState(Qt::WindowNoState); // whatever it was when it was closed
        window.resize(sides[0].toInt(), sides[1].toInt());
    }
    window.show();
    QStringList files = parser.positionalArguments();
    if (parser.isSet(session)) {
        files.prepend(parser.value(session));
    }
    if (!files.empty()) {
        window.open(files);
    }
    for (const QString& pane : parser.values(show)) {
        window.show_page(pane);
    }
    const QStringList names = parser.value(upgrade).split(',', Qt::SkipEmptyParts);
    if (names.size() >= 3) {
        window.show_page("upgrade");
        window.upgrade().ask({names[0]}, names[1], names.mid(2));
    }
    return QApplication::exec();
}
