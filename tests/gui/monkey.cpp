// A monkey at the explorer: random keys, mouse, wheel, resizes, drops and choices.
//
//     monkey [MINUTES [SEED]]           ten minutes and seed 1 unless told
//     monkey --actions NUMBER [SEED]    so many actions, however long they take
//
// For minutes it fails when the window stays deaf for longer than it may, or when memory keeps
// growing. In both ways it fails when the window answers no more in the end; a crash fails by
// itself. The seed repeats the run.
#include "gui/panes/upgrade_form.hpp"
#include "gui/window/main_window.hpp"
#include "tests/paths.hpp"

#include <unistd.h>

#include <QApplication>
#include <QComboBox>
#include <QDialog>
#include <QDir>
#include <QDropEvent>
#include <QElapsedTimer>
#include <QFile>
#include <QMenu>
#include <QMessageBox>
#include <QMimeData>
#include <QMouseEvent>
#include <QPointer>
#include <QSlider>
#include <QSpinBox>
#include <QTemporaryDir>
#include <QTimer>
#include <QToolButton>
#include <QWheelEvent>
#include <cstdio>
#include <fstream>
#include <random>
#include <string_view>

namespace {

using namespace eyeroof;

constexpr double kDeaf_ms = 5000.0; // on a loaded machine
constexpr double kMinute_ms = 60e3;
constexpr qint64 kPatience_ms = 60000;
constexpr double kGrowth_MB = 150.0; // from the end of the first quarter to the end

gui::Folders folders() {
    const std::filesystem::path root = tests::source_dir();
    return {{root / "hwdb"}, {root / "examples/networks"}, {root / "profiles/metrics"}};
}

double resident_MB() {
    std::ifstream statm("/proc/self/statm");
    double size = 0.0;
    double resident = 0.0;
    statm >> size >> resident;
    return resident * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1e6;
}

class Monkey {
  public:
    Monkey(gui::MainWindow& window, unsigned seed) : window_(window), rng_(seed) {
        const auto put = [&](const char* name, const QByteArray& text) {
            QFile file(folder_.filePath(name));
            if (file.open(QIODevice::WriteOnly)) {
                file.write(text);
            }
            files_ << file.fileName();
        };
        put("good.eyeroof.yaml", "eyeroof: session/1\nnetwork: alexnet\nmachines: [l4, t4]\n");
        put("other.eyeroof.yaml",
            "eyeroof: session/1\nnetwork: mlp-2layer\nmachines: [eyeriss-v1]\nbatch: 3\n");
        put("broken.yaml", "eyeroof: session/1\nnetwrk: [\n");
        put("layers.csv", "name,op,n,c,h,w,k,r,s,stride,pad\na,conv2d,1,3,32,32,8,3,3,1,1\n");
        put("noise.bin", QByteArray(4000, '\x7f'));
        put("half.jsonl", "{\"schema\":\"eyeroof/trial/1\",\"template\":");
        for (const char* name : {"tests/fuzz/corpus/trials/one.jsonl", "hwdb/gpus/t4.yaml",
                                 "hwdb/accelerators/nvdla-small.yaml",
                                 "examples/networks/alexnet.yaml", "README.md"}) {
            files_ << QString::fromStdString(tests::source_dir() + "/" + name);
        }
    }

    // Message boxes and menus would swallow everything that comes after.
    void close_dialogs() {
        for (QWidget* widget : QApplication::topLevelWidgets()) {
            if (qobject_cast<QDialog*>(widget) != nullptr ||
                qobject_cast<QMenu*>(widget) != nullptr) {
                widget->close();
            }
        }
    }

    void act() {
        close_dialogs();
        switch (die(12)) {
        case 0:
        case 1:
            return key();
        case 2:
        case 3:
        case 4:
            return mouse();
        case 5:
            return wheel();
        case 6:
            return drag();
        case 7:
            return slide();
        case 8:
            return choose();
        case 9:
            window_.resize(320 + die(1800), 240 + die(1200));
            return;
        case 10:
            return die(4) == 0 ? drop() : undo();
        default:
            return page();
        }
    }

    // Takes away the GPUs and networks that were added in the upgrade view: what it holds then is
    // what the program keeps, not what it was asked to show.
    void tidy() {
        for (QToolButton* button : window_.upgrade().form().findChildren<QToolButton*>()) {
            if (button->objectName().startsWith("remove ")) {
                button->click();
            }
        }
        QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
    }

  private:
    int die(int sides) { return std::uniform_int_distribution<int>(0, sides - 1)(rng_); }

    QWidget* somewhere(QPoint& at) {
        const QPoint place(die(std::max(1, window_.width())), die(std::max(1, window_.height())));
        QWidget* widget = window_.childAt(place);
        // file dialogs run loops of their own; the menu bar and its menus lead there
        if (widget == nullptr || widget->inherits("QMenuBar")) {
            return nullptr;
        }
        if (widget->inherits("QPushButton") && widget->property("text").toString().contains("…")) {
            return nullptr;
        }
        at = widget->mapFrom(&window_, place);
        return widget;
    }

    void send(QWidget& widget, QEvent::Type type, QPoint at, Qt::MouseButton button,
              Qt::MouseButtons buttons, Qt::KeyboardModifiers keys) {
        QMouseEvent event(type, at, widget.mapToGlobal(at), button, buttons, keys);
        QCoreApplication::sendEvent(&widget, &event);
    }

    Qt::KeyboardModifiers modifiers() {
        const Qt::KeyboardModifiers all[] = {Qt::NoModifier, Qt::ShiftModifier,
                                             Qt::ControlModifier};
        return all[die(3)];
    }

    void mouse() {
        QPoint at;
        if (QWidget* widget = somewhere(at)) {
            const QPointer<QWidget> kept = widget;
            const Qt::MouseButton button = die(6) == 0 ? Qt::MiddleButton : Qt::LeftButton;
            const auto keys = modifiers();
            send(*widget, QEvent::MouseMove, at, Qt::NoButton, Qt::NoButton, keys);
            send(*widget, QEvent::MouseButtonPress, at, button, button, keys);
            if (kept) {
                send(*kept, QEvent::MouseButtonRelease, at, button, Qt::NoButton, keys);
            }
        }
    }

    void drag() {
        gui::RooflineView& plot = window_.plot();
        const auto place = [&] { return QPoint(die(plot.width() + 1), die(plot.height() + 1)); };
        const Qt::MouseButton button = die(3) == 0 ? Qt::MiddleButton : Qt::LeftButton;
        const auto keys = modifiers();
        send(plot, QEvent::MouseButtonPress, place(), button, button, keys);
        for (int i = 0; i < 5; ++i) {
            send(plot, QEvent::MouseMove, place(), Qt::NoButton, button, keys);
        }
        send(plot, QEvent::MouseButtonRelease, place(), button, Qt::NoButton, keys);
    }

    void wheel() {
        QPoint at;
        if (QWidget* widget = somewhere(at)) {
            QWheelEvent event(at, widget->mapToGlobal(at), {}, {0, 120 * (die(9) - 4)},
                              Qt::NoButton, modifiers(), Qt::NoScrollPhase, false);
            QCoreApplication::sendEvent(widget, &event);
        }
    }

    void key() {
        const int keys[] = {Qt::Key_Left,   Qt::Key_Right,  Qt::Key_Up,       Qt::Key_Down,
                            Qt::Key_Plus,   Qt::Key_Minus,  Qt::Key_0,        Qt::Key_Backspace,
                            Qt::Key_Tab,    Qt::Key_Space,  Qt::Key_Home,     Qt::Key_End,
                            Qt::Key_1,      Qt::Key_6,      Qt::Key_A,        Qt::Key_BracketLeft,
                            Qt::Key_Return, Qt::Key_Escape, Qt::Key_PageDown, Qt::Key_Delete};
        const int key = keys[die(static_cast<int>(std::size(keys)))];
        QWidget* target = QApplication::focusWidget();
        const QString text = key < 128 ? QString(QChar(key)).toLower() : QString();
        for (const QEvent::Type type : {QEvent::KeyPress, QEvent::KeyRelease}) {
            QKeyEvent event(type, key, Qt::NoModifier, text);
            QCoreApplication::sendEvent(target != nullptr ? target : &window_.plot(), &event);
        }
    }

    void slide() {
        const auto sliders = window_.what_if().findChildren<QSlider*>();
        if (!sliders.isEmpty()) {
            QSlider* slider = sliders[die(static_cast<int>(sliders.size()))];
            for (int i = 0; i < 6; ++i) {
                slider->setValue(die(121) - 60);
                QCoreApplication::processEvents();
            }
        }
    }

    void choose() {
        const auto boxes = window_.findChildren<QComboBox*>();
        QComboBox* box = boxes[die(static_cast<int>(boxes.size()))];
        // the best mapping of a large network takes minutes; it is cancelled elsewhere
        if (box->count() > 0 && box->isVisible() && box->objectName() != "mapping") {
            box->setCurrentIndex(die(box->count()));
            emit box->activated(box->currentIndex());
        }
    }

    void drop() {
        QMimeData data;
        data.setUrls({QUrl::fromLocalFile(files_[die(static_cast<int>(files_.size()))])});
        QDropEvent event({50, 50}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QCoreApplication::sendEvent(&window_, &event);
    }

    void undo() { die(2) == 0 ? window_.undo() : window_.redo(); }

    void page() {
        const char* pages[] = {"roofline", "roofline", "upgrade", "what-if",    "mapping",
                               "details",  "errors",   "layers",  "timeline",   "memory",
                               "scaling",  "sparsity", "fusion",  "parameters", "advice",
                               "baseline", "tuning"};
        window_.show_page(pages[die(static_cast<int>(std::size(pages)))]);
        if (die(4) == 0) {
            window_.searcher().cancel();
        }
    }

    gui::MainWindow& window_;
    std::mt19937 rng_;
    QTemporaryDir folder_;
    QStringList files_;
};

// What the monkey did, and what became of the window.
struct Play {
    std::int64_t actions = 0;
    double longest_ms = 0.0;
    double settled_MB = 0.0; // after the first quarter

    void one(Monkey& monkey) {
        QElapsedTimer time;
        time.start();
        monkey.act();
        QCoreApplication::processEvents();
        longest_ms = std::max(longest_ms, static_cast<double>(time.nsecsElapsed()) / 1e6);
        ++actions;
    }
};

Play play_minutes(Monkey& monkey, double minutes) {
    Play play;
    QElapsedTimer whole;
    whole.start();
    const double end_ms = minutes * kMinute_ms;
    double minute = 1.0;
    while (static_cast<double>(whole.elapsed()) < end_ms) {
        play.one(monkey);
        const auto now_ms = static_cast<double>(whole.elapsed());
        if (play.settled_MB == 0.0 && now_ms > end_ms / 4.0) {
            monkey.tidy();
            play.settled_MB = resident_MB();
        }
        if (now_ms > kMinute_ms * minute) { // does it level off, or grow all the time?
            monkey.tidy();
            std::printf("minute %.0f: %.0f MB, %zu widgets\n", minute++, resident_MB(),
                        static_cast<std::size_t>(QApplication::allWidgets().size()));
            std::fflush(stdout);
        }
    }
    return play;
}

Play play_actions(Monkey& monkey, std::int64_t actions) {
    Play play;
    while (play.actions < actions) {
        play.one(monkey);
    }
    return play;
}

// Whatever was done to it: the window opens a session and shows its answer.
bool still_answers(gui::MainWindow& window) {
    report::Session session;
    session.scenario.network = "alexnet";
    session.machines = {"l4"};
    window.open_session(session);
    const auto there = [&] { // what was asked before may still be on its way
        return window.reports().size() == 1 && !window.reports().front().layers.empty() &&
               window.session().machines == session.machines;
    };
    QElapsedTimer patience;
    patience.start();
    while (!there() && patience.elapsed() < kPatience_ms) {
        QCoreApplication::processEvents(QEventLoop::AllEvents, 100);
    }
    if (!there()) {
        std::printf("asked: %zu reports\n", window.reports().size());
        for (int i = 0; i < window.errors().topLevelItemCount(); ++i) {
            std::printf("%s\n", qPrintable(window.errors().topLevelItem(i)->toolTip(0)));
        }
    }
    return there();
}

} // namespace

int main(int argc, char** argv) {
    if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) {
        qputenv("QT_QPA_PLATFORM", "offscreen");
    }
    QApplication application(argc, argv);
    const bool counted = argc > 2 && std::string_view(argv[1]) == "--actions";
    const int at_seed = counted ? 3 : 2;
    const double minutes = argc > 1 && !counted ? std::atof(argv[1]) : 10.0;
    const auto seed = static_cast<unsigned>(argc > at_seed ? std::atoi(argv[at_seed]) : 1);
    gui::MainWindow window(folders());
    window.show();
    Monkey monkey(window, seed);
    QTimer closing; // of dialogs that run a loop of their own, as the one that opens files
    QObject::connect(&closing, &QTimer::timeout, &window, [&monkey] { monkey.close_dialogs(); });
    closing.start(200);
    const Play play =
        counted ? play_actions(monkey, std::atoll(argv[2])) : play_minutes(monkey, minutes);
    monkey.tidy();
    std::printf("%lld actions with seed %u; longest %.0f ms; %.0f MB",
                static_cast<long long>(play.actions), seed, play.longest_ms, resident_MB());
    const double grown_MB = counted ? 0.0 : resident_MB() - play.settled_MB;
    std::printf(counted ? "\n" : ", %+.1f MB since the first quarter\n", grown_MB);
    if (!still_answers(window)) {
        std::printf("the window answers no more\n");
        return 1;
    }
    return !counted && (play.longest_ms > kDeaf_ms || grown_MB > kGrowth_MB) ? 1 : 0;
}
